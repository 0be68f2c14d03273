"""Tables of the study of pointer engines, joined with what the engines cost; and its verdict."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence

from models.ofan.engine import STORAGES
from models.ofan.study import BACKLOG, CYCLES, IN_FRONT, LARGEST, MEAN, P99, P9999, Numbers
from models.ofan.study_traffic import LOADS, TRAFFIC
from synth.pointer_price import Prices
from synth.pointer_study import SHAPES, SHOWN, SPLIT, engines, numbers_of
from synth.records import Record
from synth.table import Table, shown

PERMUTATION, DRIFT, REGULAR = "permutation", "drift", ("all-to-all", "ring")
RANDOM = tuple(f"random-{load}" for load in LOADS)
SATURATED = RANDOM[-1]
MOST_BACKLOG, MOST_CYCLES = 4, 3
"""What is asked for: batches behind under the permutations, and cycles a batch of random keys."""
CHOSEN = (
    "queued-banked, 16 banks, 32 queues, depth 2",
    "queued-banked, 32 banks, 32 queues, depth 2",
    "queued-banked, 16 banks, 16 queues, depth 2",
    "queued-banked, 32 banks, 16 queues, depth 2",
    "matched-banked, 16 banks, depth 4",
    "matched-banked, 32 banks, depth 4",
    "sorted-banked, 16 banks, depth 4",
    "sorted-banked, 32 banks, depth 4",
)
"""Engines of the running example that are drawn by load."""
FULLY_SHOWN = CHOSEN[1]
"""The one that the docs show under all traffic."""
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

    def numbers(self, engine: str, traffic: str, shape: str = SHOWN) -> Numbers:
        """Return the numbers of a run."""
        return self.found[shape, engine, traffic]

    def meets(self, engine: str) -> bool:
        """Whether an engine of the running example waits no longer than is asked for."""
        return (
            self.numbers(engine, PERMUTATION)[BACKLOG] <= MOST_BACKLOG
            and self.numbers(engine, SATURATED)[CYCLES] <= MOST_CYCLES
        )


def waits(numbers: Numbers, what: str) -> str:
    """Return how long packets wait, or ∞ where the engine does not keep up."""
    return "∞" if numbers[CYCLES] > LAGS else shown(numbers[what])


POINT = ("engine", "banks", "queues", "depth")


def point_cells(shape: str, engine: str) -> list[str]:
    """Return the cells of the columns `POINT`."""
    point = engines(shape)[engine]
    if not point.banked:
        return [point.kind, "-", "-", "-"]
    queues = "-" if point.queues is None else str(point.queues)
    return [point.kind, str(point.banks), queues, str(point.depth)]


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table of numbers, but for the names."""
    numbers = frozenset(headers) - {"switch", "engine", "traffic", "meets the aim"}
    return Table(title="", headers=headers, rows=rows, numbers=numbers)


def engines_table(study: Study) -> Table:
    """Return all engines of the running example, and which of them meet what is asked for."""
    headers = [*POINT, "permutation: backlog", "p99.99 wait", "longest wait", "in front"]
    headers += ["drift: backlog", "drift: in front", "random: cycles a batch", "meets the aim"]
    headers += price_headers(study)
    rows = []
    for engine in study.engines():
        still, drift = (study.numbers(engine, kind) for kind in (PERMUTATION, DRIFT))
        cells = [shown(still[what]) for what in (BACKLOG, P9999, LARGEST, IN_FRONT)]
        cells += [shown(drift[what]) for what in (BACKLOG, IN_FRONT)]
        cells.append(f"{study.numbers(engine, SATURATED)[CYCLES]:.2f}")
        cells.append("yes" if study.meets(engine) else "-")
        rows.append([*point_cells(SHOWN, engine), *cells, *price_cells(study, SHOWN, engine)])
    return table(headers, rows)


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


def verdict(study: Study) -> list[str]:
    """Return what the study says, in sentences."""
    names = [engine for engine in study.engines() if engine != "sorted"]
    steady = [n for n in names if study.numbers(n, PERMUTATION)[BACKLOG] <= MOST_BACKLOG]
    both = [n for n in names if study.meets(n)]
    lines = [
        f"{len(steady)} of {len(names)} engines with banks are never more than {MOST_BACKLOG} "
        f"batches behind under the permutations; {len(both)} of these take random keys in at most "
        f"{MOST_CYCLES} cycles a batch, too.",
    ]
    if both:
        first = both[0]
        still, drift, random = (study.numbers(first, t) for t in (PERMUTATION, DRIFT, SATURATED))
        lines.append(
            f"The one of these with the fewest banks and the least room is {first}: at most "
            f"{still[BACKLOG]:.0f} batches behind, {drift[BACKLOG]:.0f} with drift, and "
            f"{random[CYCLES]:.2f} cycles a batch of random keys."
        )
    return lines


def price_headers(study: Study) -> list[str]:
    """Return the headers of what engines cost, if that is known of any."""
    all_in = [f"GE with {storage}" for storage in STORAGES]
    return ["GE", *all_in, "depth, gates"] if study.prices else []


def price_cells(study: Study, shape: str, engine: str) -> list[str]:
    """Return the cells under `price_headers`, a dash for each that is not known."""
    price = study.prices.get((shape, engine))
    if price is None:
        return ["-" for _ in price_headers(study)]
    all_in = (price.all_in.get(storage) for storage in STORAGES)
    return [shown(value) for value in (price.gates, *all_in, price.depth)]


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

    def used(record: Record) -> bool:
        traffic, _, what = record.metric.partition(": ")
        table = what in USED.get(traffic, ())
        if record.preset != SHOWN:
            return table and record.block in sized(record.preset)
        line = record.block in CHOSEN and traffic in RANDOM and what == CYCLES
        return table or line or record.block == FULLY_SHOWN

    return [record for record in records if used(record)]


def runs_csv(study: Study) -> str:
    """Return all runs as CSV: one a row."""
    text = io.StringIO()
    whats = (MEAN, P99, P9999, LARGEST, BACKLOG, IN_FRONT, CYCLES)
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["switch", "engine", "traffic", *whats])
    for run, numbers in study.found.items():
        rows.writerow([*run, *(f"{numbers[what]:g}" for what in whats)])
    return text.getvalue()
