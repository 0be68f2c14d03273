"""Tables of prices: part by part, exact rotation against pOfan, and what the prices leave out."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from models.ofan.config import PRESETS
from models.ofan.study import CYCLES
from synth.ge import FLOP_GE
from synth.parts import TOTAL
from synth.pointer_price import PRICES, STORE, Prices, engine_of, is_formula, sorted_records
from synth.pointer_study import PIPES, SHOWN, engine_name, engines
from synth.pointer_tables import POINT, SATURATED, Study, point_cells
from synth.records import COMMITTED, Record, read_records
from synth.table import Table, shown

WHOLE = ("edge-k64-queued", "pofan4-k64-queued", "edge-k64")
"""Presets that the docs show with their failure logic."""


def parts_table(study: Study, kind: str) -> Table:
    """Return the parts of every priced engine of a kind of the running example: GE at both weights
    of a flip-flop, and gates in a row; storage last, by what holds the pointers."""
    points = [p for p in study.points() if p.partition(",")[0] == kind]
    rows, names = [], []
    for point in points:
        price = study.prices[SHOWN, point]
        cells = {part: _cell(cost) for part, cost in price.logic.items()}
        cells |= {
            f"{part.removeprefix(f'{STORE}: ')} ({storage})": _cell(cost)
            for storage, parts in price.by_storage.items()
            for part, cost in parts.items()
            if part.startswith(STORE)
        }
        names += [name for name in cells if name not in names]
        rows.append((point, cells))
    headers = [*POINT, *names]
    return Table(
        title="",
        headers=headers,
        rows=[
            [*point_cells(SHOWN, point), *(cells.get(name, "-") for name in names)]
            for point, cells in rows
        ],
        numbers=frozenset(headers[1:]),
    )


def _cell(cost: Mapping[str, float]) -> str:
    """GE at both weights, and gates in a row."""
    light, heavy = (shown(cost[f"total, {convention}"]) for convention in FLOP_GE)
    return f"{light}; {heavy}; {shown(cost['depth'])}"


SERVICE, BANKS, RATE = "waits as asked", "as many banks and queues", "cycles a batch"


@dataclass(frozen=True, kw_only=True)
class Exactness:
    """An exact engine beside pOfan."""

    exact: str
    piped: str
    same: str
    """What the two have alike: one of the names below."""
    gates: float
    """How many times the gates of pOfan, without storage."""
    all_in: float
    """The same with storage, in static memory."""


def exactness(study: Study) -> list[Exactness]:
    """Return exact engines beside pOfan's: first of each the one with the fewest gates that waits
    no longer than is asked for, which is the price of exactness; then those with as many banks and
    queues in all, then the one with the fewest gates that takes random keys as fast."""
    exact = [p for p in study.points() if engine_of(p) == p and engines(SHOWN)[p].banked]
    piped = study.points(PIPES)
    served = [point for point in exact if study.waits_as_asked(point)]
    other = [point for point in piped if study.waits_as_asked(point, PIPES)]
    found = []
    if served and other:
        pair = _fewest_gates(study, served, SHOWN), _fewest_gates(study, other, PIPES)
        found.append(_beside(study, *pair, SERVICE))
    found += [_beside(study, _alike(p), p, BANKS) for p in piped if _alike(p) in exact]
    for point in piped:
        rate = study.numbers(point, SATURATED, PIPES)[CYCLES]
        fast = [p for p in exact if study.numbers(p, SATURATED)[CYCLES] <= rate]
        if fast:
            found.append(_beside(study, _fewest_gates(study, fast, SHOWN), point, RATE))
    return found


def _fewest_gates(study: Study, points: Iterable[str], shape: str) -> str:
    return min(points, key=lambda point: study.prices[shape, point].gates())


def _alike(piped: str) -> str:
    """Return the exact engine with as many banks and queues as all pipes of a pOfan have; empty if
    there is none."""
    mine = engines(PIPES)[piped]
    wanted = (8 * mine.banks, 8 * (mine.queues or 0), mine.depth)
    for name, engine in engines(SHOWN).items():
        if (engine.banks, engine.queues, engine.depth) == wanted:
            return name
    return ""


def _beside(study: Study, exact: str, piped: str, same: str) -> Exactness:
    mine, other = study.prices[SHOWN, exact], study.prices[PIPES, piped]
    all_in = mine.all_in("sram"), other.all_in("sram")
    return Exactness(
        exact=exact,
        piped=piped,
        same=same,
        gates=mine.gates() / other.gates(),
        all_in=all_in[0] / all_in[1] if all_in[0] and all_in[1] else float("nan"),
    )


def exactness_table(study: Study) -> Table:
    """Return what exact rotation costs over pOfan, at equal banks and queues and at equal rate."""
    headers = ["pOfan, 8 pipes of 4 lanes", "GE", "cycles a batch", "alike", "exact", "GE, exact"]
    headers += ["cycles a batch, exact", "× GE", "× GE with static memory"]
    rows = []
    for pair in exactness(study):
        rows.append(
            [
                f"8 × ({pair.piped})",
                shown(study.prices[PIPES, pair.piped].gates()),
                f"{study.numbers(pair.piped, SATURATED, PIPES)[CYCLES]:.2f}",
                pair.same,
                pair.exact,
                shown(study.prices[SHOWN, pair.exact].gates()),
                f"{study.numbers(pair.exact, SATURATED)[CYCLES]:.2f}",
                f"{pair.gates:.2f}",
                f"{pair.all_in:.2f}",
            ]
        )
    numbers = frozenset(headers) - {headers[0], "alike", "exact"}
    return Table(title="", headers=headers, rows=rows, numbers=numbers)


def whole_table(prices: Prices) -> Table:
    """Return presets as they are built, with failure logic and π, beside the same engines as the
    study prices them."""
    rows = []
    for preset in WHOLE:
        records = read_records(COMMITTED / f"ofan-{preset}.json")
        total = {r.metric: r for r in records if r.block == TOTAL}
        shape, point = _point_of(preset)
        price = prices[shape, point]
        bare = [price.all_in("flops", convention) for convention in FLOP_GE]
        mark = "≈" * price.fitted
        cells = [*(f"{mark}{shown(value)}" for value in bare), shown(price.depth)]
        for metric in (*(f"total, {convention}" for convention in FLOP_GE), "depth"):
            record = total[metric]
            fitted = bool(record.fitted) and metric != "depth"  # the deepest part was mapped
            cells.append(f"{'≈' * fitted}{shown(record.value)}")
        rows.append([preset, f"{shape}: {point}", *cells])
    headers = ["preset", "engine"]
    for what in ("in the study", "the preset"):
        headers += [f"{what}: GE, {weight:g}" for weight in FLOP_GE.values()]
        headers.append(f"{what}: gates")
    return Table(title="", headers=headers, rows=rows, numbers=frozenset(headers[2:]))


def _point_of(preset: str) -> tuple[str, str]:
    """Return the point of the study that a preset is, its failure logic left out."""
    config = PRESETS[preset]
    if not config.engine.banked:
        return SHOWN, "sorted"
    shape = SHOWN if config.pipes == 1 else PIPES
    queues = config.engine.queues_of(config.lanes_per_pipe)
    return shape, engine_name(replace(config.engine, queues=queues))


def price_records(shapes: Iterable[str]) -> list[Record]:
    """Return the records of all prices of some switches, those of `sorted` with a name as the
    others have."""
    wanted = set(shapes)
    found = sorted_records() if SHOWN in wanted else []
    if PRICES.exists():
        found += [r for r in read_records(PRICES) if r.preset.partition(": ")[0] in wanted]
    return found


def prices_csv(records: Sequence[Record]) -> str:
    """Return prices as CSV: a part of an engine with one storage a row."""
    parts: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        parts.setdefault((record.preset, record.block), {})[record.metric] = record
    metrics = ("logic", "gating", "flops", "storage", "rom", "sram", "depth")
    totals = [f"total, {convention}" for convention in FLOP_GE]
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    headers = ["logic, GE", "clock gates, GE", "flip-flops", "storage bits", "ROM bits"]
    headers += [
        "SRAM bits",
        "depth, gates",
        *(f"GE, {ge:g} a flip-flop" for ge in FLOP_GE.values()),
    ]
    rows.writerow(["switch", "engine", "storage", "part", "how", *headers])
    for (preset, part), found in parts.items():
        how = "formula" if is_formula(preset.rpartition(": ")[2], part) else "mapped"
        how = "fitted" if any(record.fitted for record in found.values()) else how
        numbers = [found[m].value if m in found else 0 for m in (*metrics, *totals)]
        rows.writerow([*preset.split(": "), part, how, *(f"{number:.10g}" for number in numbers)])
    return text.getvalue()
