"""What is asked of a pointer engine, what each point reaches, and which point comes nearest.

The six targets are those of the running example: two of area, two of timing, two of waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache

from models.ofan.study import BACKLOG, CYCLES, IN_FRONT
from rtl.export import latencies
from synth.pointer_price import engine_of
from synth.pointer_study import PIPES, SHAPES, SHOWN, engines
from synth.pointer_tables import (
    DRIFT,
    FULLY_SHOWN,
    MOST_BACKLOG,
    MOST_CYCLES,
    PERMUTATION,
    SATURATED,
    SLACK,
    Study,
    cell,
)
from synth.table import Table, shown

Point = tuple[str, str]
"""A switch and the name of an engine that has a price there."""

SMALL = "queued-banked, 16 banks, 16 queues, depth 2"
"""The engine of the preset `edge-k64-queued`."""
NEAR = FULLY_SHOWN
"""The one that comes nearest to the targets."""
NAMED: tuple[Point, ...] = (
    (SHOWN, SMALL),
    (SHOWN, "queued-banked, 16 banks, 16 queues, depth 3"),
    (SHOWN, "queued-banked, 16 banks, 16 queues, depth 5"),
    (SHOWN, "queued-banked, 32 banks, 16 queues, depth 2"),
    (SHOWN, NEAR),
    (SHOWN, "queued-banked, 64 banks, 16 queues, depth 3"),
    (SHOWN, "queued-banked, 64 banks, 16 queues, depth 4"),
    (SHOWN, "queued-banked, 32 banks, 32 queues, depth 2"),
    (PIPES, "queued-banked, 8 banks, 2 queues, depth 2"),
)
"""Points that are held to the targets one by one; the last is pOfan."""


@cache
def latency(shape: str, engine: str) -> int:
    """Return the cycles from a batch to its answers where nothing waits, without failure logic."""
    config = replace(SHAPES[shape], engine=engines(shape)[engine], masks=0, order="plain")
    return latencies(config)["switch"]


def _gates(study: Study, at: Point) -> float:
    return study.prices[at].gates()


def _all_in(study: Study, at: Point) -> float:
    found = [study.prices[at].all_in(storage) for storage in ("sram", "latches", "flops")]
    return min(value for value in found if value is not None)


def _latency(study: Study, at: Point) -> float:
    return latency(at[0], engine_of(at[1]))


def _depth(study: Study, at: Point) -> float:
    return study.prices[at].depth


def _backlog(study: Study, at: Point) -> float:
    return study.backlog(at[1], at[0])


def _still(study: Study, at: Point) -> float:
    return study.numbers(at[1], PERMUTATION, at[0])[BACKLOG]


def _random(study: Study, at: Point) -> float:
    return study.numbers(at[1], SATURATED, at[0])[CYCLES]


@dataclass(frozen=True)
class Target:
    """A bound on one number of a point."""

    what: str
    paper: str
    most: float
    value: Callable[[Study, Point], float]


TARGETS = (
    Target("GE without storage", "45,000, access left out", 30_000, _gates),
    Target("GE all in, static memory or latches", "127,000, flip-flops", 127_000, _all_in),
    Target("latency, cycles", "4 stages", 3, _latency),
    Target("deepest stage, gates", "-", 24, _depth),
    Target("worst backlog at line rate, batches", "-", MOST_BACKLOG, _backlog),
    Target("random keys, cycles a batch", "1", MOST_CYCLES, _random),
)


STILL = tuple(
    replace(target, value=_still) if target.value is _backlog else target for target in TARGETS
)
"""The same, the backlog without drift."""


def missed(study: Study, at: Point, targets: Sequence[Target] = TARGETS) -> dict[str, float]:
    """Return the targets that a point misses, by name, and how many times the target it is."""
    ratios = {target.what: target.value(study, at) / target.most for target in targets}
    return {what: ratio for what, ratio in ratios.items() if ratio > 1 + SLACK}


def nearest(study: Study, points: Iterable[str], targets: Sequence[Target] = TARGETS) -> str | None:
    """Return the point of the running example that misses the fewest targets; of those that miss as
    many, the one whose worst miss is least. None if there are no points."""

    def misses(point: str) -> tuple[int, float]:
        found = missed(study, (SHOWN, point), targets)
        return len(found), max(found.values(), default=1)

    return min(points, key=misses, default=None)


def least_miss(study: Study) -> str | None:
    """Return the point whose worst miss is least, however many there are."""

    def worst(point: str) -> float:
        return max(missed(study, (SHOWN, point)).values(), default=1)

    return min(study.points(), key=worst, default=None)


def waits_inside(study: Study, kinds: Sequence[str]) -> list[str]:
    """Return the points in front of which no batch waits, so that their prices have all of the
    queue."""
    return [
        point
        for point in study.points()
        if all(study.numbers(point, kind)[IN_FRONT] == 0 for kind in kinds)
    ]


def verdict(study: Study) -> list[str]:
    """Return what the study says, in sentences."""
    names = [engine for engine in study.engines() if engine != "sorted"]
    steady = [name for name in names if study.backlog(name) <= MOST_BACKLOG]
    both = [name for name in names if study.waits_as_asked(name)]
    lines = [
        f"{len(steady)} of {len(names)} engines with banks are never more than {MOST_BACKLOG} "
        f"batches behind at line rate, with drift or without; {len(both)} of these take random "
        f"keys in at most {MOST_CYCLES} cycles a batch, too, give or take {SLACK * 100:g} %."
    ]
    inside = waits_inside(study, (PERMUTATION,))
    all_inside = waits_inside(study, (PERMUTATION, DRIFT))
    for how, point, targets in (
        ("Nearest to the six targets", nearest(study, study.points()), TARGETS),
        ("Nearest if drift did not count", nearest(study, study.points(), STILL), STILL),
        ("Nearest by the worst miss alone, however many there are", least_miss(study), TARGETS),
        ("Nearest with the queue of permutations inside", nearest(study, inside), TARGETS),
        ("Nearest with the queue of drift inside, too", nearest(study, all_inside), TARGETS),
    ):
        if point is not None:
            lines.append(f"{how}: **{point}**. {misses_text(study, point, targets)}")
    return lines


def misses_text(study: Study, point: str, targets: Sequence[Target] = TARGETS) -> str:
    """Return in words which targets a point of the running example misses, and by how much."""
    at = (SHOWN, point)
    found = missed(study, at, targets)
    if not found:
        return "It misses none."
    texts = [
        f"{target.what} {shown(target.value(study, at))} for {shown(target.most)} "
        f"(× {found[target.what]:.3g})"
        for target in targets
        if target.what in found
    ]
    return f"It misses {len(found)} of {len(targets)}: {'; '.join(texts)}."


def targets_table(study: Study) -> Table:
    """Return what the named points reach of each target; × RATIO marks what is missed."""
    points = [at for at in NAMED if at in study.prices and (at[0], engine_of(at[1])) in _run(study)]
    gates, all_in, *others = TARGETS
    rows = [
        _weighed_row(study, points, gates, None, gates.what, gates.paper),
        _weighed_row(study, points, all_in, "sram", "GE all in, static memory (≈)", all_in.paper),
        _weighed_row(study, points, all_in, "latches", "GE all in, latches (≈)", all_in.paper),
        _weighed_row(study, points, None, "flops", "GE all in, flip-flops", all_in.paper),
    ]
    for target in others:
        values = {at: target.value(study, at) for at in points}
        cells = [_judged(value, target.most) for value in values.values()]
        rows.append([target.what, target.paper, f"at most {shown(target.most)}", *cells])
    for kind in (PERMUTATION, DRIFT):
        front = [shown(study.numbers(point, kind, shape)[IN_FRONT]) for shape, point in points]
        rows.append([f"batches in front, {kind}", "-", "-", *front])
    rows.append(["targets missed, of 6", "-", "-", *(str(len(missed(study, p))) for p in points)])
    headers = ["", "the paper", "target", *(_short(at) for at in points)]
    return Table(title="", headers=headers, rows=rows, numbers=frozenset(headers[1:]))


def _run(study: Study) -> set[Point]:
    return {(shape, engine) for shape, engine, _ in study.found}


def _weighed_row(
    study: Study,
    points: Sequence[Point],
    target: Target | None,
    storage: str | None,
    what: str,
    paper: str,
) -> list[str]:
    """Return a row of GE at both weights of a flip-flop; the target is one at 4 GE."""
    cells = []
    for at in points:
        price = study.prices[at]
        values = [
            price.gates(weight) if storage is None else price.all_in(storage, weight)
            for weight in ("paper", "Nangate45")
        ]
        light, heavy = (cell(price, value) for value in values)
        if target is not None and values[0] is not None:
            light = _judged(values[0], target.most)
        cells.append(f"{light}; {heavy}")
    most = "best possible" if target is None else f"at most {shown(target.most)}"
    return [f"{what}, a flip-flop at 4; 5.67 GE", paper, most, *cells]


def _judged(value: float, most: float) -> str:
    """Return a value, and × RATIO where it is over its target."""
    text = f"{value:.4g}" if value < 100 else shown(value)
    ratio = value / most
    return text if ratio <= 1 else f"{text} (× {ratio:.{3 if ratio >= 1.01 else 4}g})"


def _short(at: Point) -> str:
    """Return a point's name for the head of a column."""
    shape, point = at
    engine = engines(shape)[engine_of(point)]
    name = f"{engine.banks} banks, {engine.queues} queues, depth {engine.depth}"
    return f"pOfan, 8 pipes of {name}" if shape == PIPES else name
