"""Tables of the study of pointer engines, joined with what the engines cost; and its verdict."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from models.ofan.engine import STORAGES
from models.ofan.study import BACKLOG, CYCLES, IN_FRONT, LARGEST, MEAN, P99, P9999, Numbers
from models.ofan.study_traffic import LOADS, TRAFFIC
from synth.ge import FLOP_GE
from synth.pointer_price import GROUPS, Price, Prices, engine_of
from synth.pointer_study import PIPES, SHAPES, SHOWN, SPLIT, engines, numbers_of
from synth.records import Record
from synth.table import Table, shown

PERMUTATION, DRIFT, REGULAR = "permutation", "drift", ("all-to-all", "ring")
RANDOM = tuple(f"random-{load}" for load in LOADS)
SATURATED = RANDOM[-1]
MOST_BACKLOG, MOST_CYCLES = 4, 3
"""What is asked for: batches behind at line rate, and cycles a batch of random keys."""
SLACK = 0.005
"""A target counts as missed from so much over it on: cycles a batch of random keys are 0.4 % more
or less where the keys are drawn anew."""
CHOSEN = (
    "queued-banked, 16 banks, 32 queues, depth 2",
    "queued-banked, 32 banks, 32 queues, depth 2",
    "queued-banked, 16 banks, 16 queues, depth 2",
    "queued-banked, 32 banks, 16 queues, depth 2",
    "matched-banked, 16 banks, depth 4",
    "matched-banked, 32 banks, depth 4",
    "sorted-banked, 16 banks, depth 4",
    "sorted-banked, 32 banks, depth 4",
    "queued-banked, 64 banks, 16 queues, depth 2",
)
"""Engines of the running example that are drawn by load."""
FULLY_SHOWN = CHOSEN[-1]
"""The one that the docs show under all traffic: the one that they recommend."""
LAGS = 1.01
"""Where more cycles than this go by for each that brings a batch, the engine does not keep up, and
waiting grows for as long as the traffic goes on."""


class Study:
    """The numbers of a study, with the prices of its engines."""

    def __init__(self, records: Sequence[Record], prices: Prices) -> None:
        self.found = numbers_of(list(records))
        self.prices = prices

    def engines(self, shape: str = SHOWN, *, split: bool = False) -> list[str]:
        """Return the names of a switch's engines, in the order of the study."""
        names = dict.fromkeys(engine for at, engine, _ in self.found if at == shape)
        return [name for name in names if name.endswith(SPLIT) == split]

    def numbers(self, point: str, traffic: str, shape: str = SHOWN) -> Numbers:
        """Return the numbers of a run of an engine, or of one of its points."""
        return self.found[shape, engine_of(point), traffic]

    def points(self, shape: str = SHOWN) -> list[str]:
        """Return the names of a switch's engines that have a price, in the order of the study, one
        for each number of lanes in a group."""
        return [
            point
            for engine in self.engines(shape)
            for at, point in self.prices
            if at == shape and engine_of(point) == engine
        ]

    def backlog(self, point: str, shape: str = SHOWN) -> float:
        """Return the most batches behind at line rate, under permutations and with drift."""
        return max(self.numbers(point, kind, shape)[BACKLOG] for kind in (PERMUTATION, DRIFT))

    def waits_as_asked(self, point: str, shape: str = SHOWN) -> bool:
        """Whether packets wait no longer than is asked for, whatever the price."""
        cycles = self.numbers(point, SATURATED, shape)[CYCLES]
        return self.backlog(point, shape) <= MOST_BACKLOG and cycles <= MOST_CYCLES * (1 + SLACK)


def waits(numbers: Numbers, what: str) -> str:
    """Return how long packets wait, or ∞ where the engine does not keep up."""
    return "∞" if numbers[CYCLES] > LAGS else shown(numbers[what])


POINT = ("engine", "banks", "queues", "depth")


def point_cells(shape: str, point: str) -> list[str]:
    """Return the cells of the columns `POINT`."""
    engine = engines(shape)[engine_of(point)]
    if not engine.banked:
        return [engine.kind, "-", "-", "-"]
    kind = engine.kind + "".join(point.partition(GROUPS)[1:])
    queues = "-" if engine.queues is None else str(engine.queues)
    return [kind, str(engine.banks), queues, str(engine.depth)]


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table of numbers, but for the names."""
    numbers = frozenset(headers) - {"switch", "engine", "traffic", "waits as asked"}
    return Table(title="", headers=headers, rows=rows, numbers=numbers)


def engines_table(study: Study) -> Table:
    """Return all engines of the running example, and which of them wait no longer than is asked
    for; then pOfan's that have a price."""
    headers = [*POINT, "permutation: backlog", "p99.99 wait", "longest wait", "in front"]
    headers += ["drift: backlog", "drift: in front", "random: cycles a batch", "waits as asked"]
    headers += price_headers(study)
    rows = []
    points = [(SHOWN, point) for engine in study.engines() for point in _named(study, engine)]
    points += [(PIPES, point) for point in study.points(PIPES)]
    for shape, point in points:
        still, drift = (study.numbers(point, kind, shape) for kind in (PERMUTATION, DRIFT))
        cells = [shown(still[what]) for what in (BACKLOG, P9999, LARGEST, IN_FRONT)]
        cells += [shown(drift[what]) for what in (BACKLOG, IN_FRONT)]
        cells.append(f"{study.numbers(point, SATURATED, shape)[CYCLES]:.2f}")
        cells.append("yes" if study.waits_as_asked(point, shape) else "-")
        kind, *rest = point_cells(shape, point)
        kind = f"pOfan, 8 pipes: {kind}" if shape == PIPES else kind
        rows.append([kind, *rest, *cells, *price_cells(study, shape, point)])
    return table(headers, rows)


def _named(study: Study, engine: str) -> list[str]:
    """Return an engine's points, or its name where it has no price."""
    return [point for point in study.points() if engine_of(point) == engine] or [engine]


def traffic_table(study: Study, engine: str) -> Table:
    """Return one engine of the running example under all traffic."""
    headers = ["traffic", "mean wait", "p99", "p99.99", "longest", "backlog", "in front"]
    headers.append("cycles a batch")
    rows = []
    for kind in TRAFFIC:
        if (SHOWN, engine, kind) not in study.found:
            continue  # a quick study leaves some out
        numbers = study.numbers(engine, kind)
        whats = (MEAN, P99, P9999, LARGEST, BACKLOG, IN_FRONT)
        rows.append([kind, *(waits(numbers, what) for what in whats), f"{numbers[CYCLES]:.2f}"])
    return table(headers, rows)


def split_table(study: Study) -> Table:
    """Return the backlog of traffic with few keys where all banks hold both size classes, and where
    each class has half of them."""
    kinds = (PERMUTATION, DRIFT, *REGULAR)
    headers = [*POINT, *(f"{kind}: {how}" for kind in kinds for how in ("shared", "split"))]
    headers += ["storm, cycles a batch: shared", "split"]
    rows = []
    for split in study.engines(split=True):
        engine = split.removesuffix(SPLIT)
        pairs = [(study.numbers(engine, kind), study.numbers(split, kind)) for kind in kinds]
        cells = [waits(numbers, BACKLOG) for pair in pairs for numbers in pair]
        cells += [f"{study.numbers(name, 'storm')[CYCLES]:.2f}" for name in (engine, split)]
        rows.append([*point_cells(SHOWN, engine), *cells])
    return table(headers, rows)


def sizes_table(study: Study) -> Table:
    """Return all switches, each with the engines that have as many banks as a pipe has lanes."""
    headers = ["switch", "w", "keys", *POINT, "permutation: backlog", "p99.99 wait"]
    headers += ["drift: backlog", "random: cycles a batch", *price_headers(study)]
    rows = []
    for shape, config in SHAPES.items():
        for engine in sized(shape):
            still, drift = (study.numbers(engine, kind, shape) for kind in (PERMUTATION, DRIFT))
            cells = [str(config.uplinks), f"{config.keys:,}", *point_cells(shape, engine)]
            cells += [shown(still[BACKLOG]), shown(still[P9999]), shown(drift[BACKLOG])]
            cells.append(f"{study.numbers(engine, SATURATED, shape)[CYCLES]:.2f}")
            rows.append([shape, *cells, *price_cells(study, shape, engine)])
    return table(headers, rows)


def sized(shape: str) -> list[str]:
    """Return the engines of a switch that have a bank for each lane of a pipe, and room for two
    batches, or for four where they are served one after the other."""
    width = SHAPES[shape].lanes_per_pipe
    return [
        name
        for name, engine in engines(shape).items()
        if engine.banked
        and width <= engine.banks < 2 * width
        and engine.depth == (2 if engine.queues else 4)
    ]


def price_headers(study: Study) -> list[str]:
    """Return the headers of what engines cost, if that is known of any: each at the two weights of
    a flip-flop."""
    if not study.prices:
        return []
    priced = ["GE", *(f"GE with {storage}" for storage in STORAGES)]
    return [*(f"{what}, {weight:g}" for what in priced for weight in FLOP_GE.values()), "gates"]


def price_cells(study: Study, shape: str, point: str) -> list[str]:
    """Return the cells under `price_headers`, a dash for each that is not known; ≈ marks what was
    fitted."""
    price = study.prices.get((shape, point))
    if price is None:
        return ["-" for _ in price_headers(study)]
    return [*(cell(price, value) for value in weighed(price)), shown(price.depth)]


def weighed(price: Price) -> list[float | None]:
    """Return what a point costs without storage and with each, at both weights of a flip-flop."""
    values: list[float | None] = [price.gates(convention) for convention in FLOP_GE]
    return values + [price.all_in(s, convention) for s in STORAGES for convention in FLOP_GE]


def cell(price: Price, value: float | None) -> str:
    """Return a number of a price; ≈ marks what was fitted."""
    return f"{'≈' * (price.fitted and value is not None)}{shown(value)}"


USED = {
    PERMUTATION: {BACKLOG, P9999, LARGEST, IN_FRONT, CYCLES},
    DRIFT: {BACKLOG, IN_FRONT, CYCLES},
    SATURATED: {CYCLES},
    **{traffic: {BACKLOG, CYCLES} for traffic in REGULAR},
    "storm": {CYCLES},
}
"""What tables show of all engines of the running example, by traffic."""


def for_docs(records: Iterable[Record]) -> list[Record]:
    """Return the records that tables and plots of the docs are made from."""
    kept = {shape: set(sized(shape)) for shape in SHAPES}
    kept[PIPES] |= {name for name, engine in engines(PIPES).items() if engine.queues == 2}

    def used(record: Record) -> bool:
        traffic, _, what = record.metric.partition(": ")
        table = what in USED.get(traffic, ())
        if record.preset != SHOWN:
            return table and record.block in kept[record.preset]
        line = record.block in CHOSEN and traffic in RANDOM and what == CYCLES
        return table or line or record.block == FULLY_SHOWN

    return [record for record in records if used(record)]


def runs_csv(study: Study) -> str:
    """Return all runs as CSV: one a row, with the price of the engine where it is known."""
    text = io.StringIO()
    whats = (MEAN, P99, P9999, LARGEST, BACKLOG, IN_FRONT, CYCLES)
    headers = price_headers(study)
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["switch", "engine", "traffic", *whats, *headers])
    for (shape, engine, traffic), numbers in study.found.items():
        price = study.prices.get((shape, engine))
        found = [*weighed(price), price.depth] if price else [None for _ in headers]
        cells = ["" if value is None else f"{value:.10g}" for value in found]
        run = (shape, engine, traffic)
        rows.writerow([*run, *(f"{numbers[what]:g}" for what in whats), *cells])
    return text.getvalue()
