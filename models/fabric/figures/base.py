"""What a figure is made of: points to run, panels to draw, what the paper says of the curves."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from models.fabric.run import case_of
from models.fabric.sweep import Row, mean_and_sem
from models.fabric.sweep_file import Sweep

Measure = str | Callable[[Mapping[str, Any], "Point"], float | None]
"""Name of a measure of a run, or a function of all of them and of the point."""

NAMES = {
    "simple-rr": "Simple RR",
    "jsq": "JSQ",
    "conga": "CONGA",
    "choice": "CHOICE",
    "drill": "DRILL",
    "dlb": "DLB",
    "sglb": "SGLB",
    "rps": "RPS",
    "rsq": "RSQ",
    "reps": "REPS",
    "ar": "AR",
    "drb": "DRB",
    "ethereal": "Ethereal",
    "4ofan": "4Ofan",
    "ofan": "Ofan",
}
"""Curves of the paper and what they are called."""
COMPARED = ("reps", "ar", "4ofan", "ofan")
"""The four that section 6 compares."""


@dataclass(frozen=True, kw_only=True)
class Point:
    """One case of a figure: where it stands, and its settings."""

    series: str
    x: float | str
    settings: Mapping[str, Any]
    panel: str = ""
    """Which panels show it: those whose `of` is this."""


@dataclass(frozen=True, kw_only=True)
class Panel:
    """One drawing: a measure of some points over x."""

    name: str
    """Letter in the paper, or empty."""
    y: str
    """Label with unit."""
    measure: Measure
    x: str
    of: str = ""
    log_x: bool = False
    log_y: bool = False
    lines: Mapping[str, Callable[[Any], float]] = field(default_factory=dict)
    """Curves by formula: label, and y of x."""
    marks: Sequence[tuple[str, float, float]] = ()
    """Labelled points (x, y)."""


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """One thing that the paper says of a curve, and what comes out here."""

    curve: str
    kind: str
    """"shape", "order" or "factor"."""
    says: str
    found: str
    holds: bool | None
    """None where the paper gives nothing that could be held against it."""
    reason: str = ""
    """Likely reason where it does not hold."""


@dataclass(frozen=True, kw_only=True)
class Figure:
    """A figure of the paper."""

    name: str
    title: str
    points: Callable[[bool], list[Point]]
    """All points; with True a smaller set for a quick look."""
    panels: tuple[Panel, ...]
    judge: Callable[[Data], list[Verdict]]
    seeds: int = 10
    """Runs of each point where the user does not say; the paper has at least 10."""
    note: str = ""
    """What the paper leaves open and how it is taken here."""

    def sweep(self, quick: bool, seeds: int) -> Sweep:
        """The runs behind the figure; points with equal settings are run once each all the same."""
        points = self.points(quick)
        labels = tuple(
            {"panel": point.panel, "series": point.series, "x": str(point.x)} for point in points
        )
        cases = tuple(case_of(point.settings) for point in points)
        return Sweep(cases, labels, tuple(range(seeds)))


class Data:
    """The runs of a figure by point; means and standard errors over the seeds."""

    def __init__(self, points: Sequence[Point], rows: Sequence[Row]) -> None:
        self.points = list(points)
        self.runs: list[list[Mapping[str, Any]]] = [[] for _ in points]
        for row in rows:
            self.runs[row.number].append(row.measures)

    def difference(
        self, one: str, other: str, x: float | str, measure: Measure, panel: str = ""
    ) -> tuple[float, float | None]:
        """Mean and standard error of a curve less another at x, seed by seed: both have the same
        traffic and the same failures."""
        values = [self.values(name, x, measure, panel) for name in (one, other)]
        pairs = zip(*values, strict=True)
        gaps = [a - b for a, b in pairs if a is not None and b is not None]
        return mean_and_sem(gaps) if gaps else (math.nan, None)

    def at(
        self, series: str, x: float | str, measure: Measure, panel: str = ""
    ) -> tuple[float, float | None]:
        """Mean and standard error at one point; raises `KeyError` if it is not there."""
        there = [v for v in self.values(series, x, measure, panel) if v is not None]
        return mean_and_sem(there) if there else (math.nan, None)

    def values(
        self, series: str, x: float | str, measure: Measure, panel: str = ""
    ) -> list[float | None]:
        """What the runs of one point gave, seed by seed."""
        for number, point in enumerate(self.points):
            if (point.panel, point.series, point.x) == (panel, series, x):
                return [value_of(run, point, measure) for run in self.runs[number]]
        raise KeyError((panel, series, x))

    def mean(self, series: str, x: float | str, measure: Measure, panel: str = "") -> float:
        """Mean at one point."""
        return self.at(series, x, measure, panel)[0]

    def series(self, panel: str = "") -> list[str]:
        """Names of the curves in the order of the points."""
        return list(dict.fromkeys(point.series for point in self.points if point.panel == panel))

    def xs(self, series: str, panel: str = "") -> list[Any]:
        """Where a curve has points."""
        return [p.x for p in self.points if (p.panel, p.series) == (panel, series)]

    def curve(self, series: str, measure: Measure, panel: str = "") -> list[float]:
        """Means of a curve."""
        return [self.mean(series, x, measure, panel) for x in self.xs(series, panel)]

    def slope(
        self, series: str, measure: Measure, panel: str = "", start: float = -math.inf
    ) -> float:
        """Slope of a curve in log-log by least squares, over x from `start` on."""
        pairs = [
            (math.log(x), math.log(max(y, 1e-9)))
            for x, y in zip(self.xs(series, panel), self.curve(series, measure, panel), strict=True)
            if x >= start
        ]
        n = len(pairs)
        mean_x, mean_y = sum(x for x, _ in pairs) / n, sum(y for _, y in pairs) / n
        spread = sum((x - mean_x) ** 2 for x, _ in pairs)
        return sum((x - mean_x) * (y - mean_y) for x, y in pairs) / spread if spread else math.nan


def value_of(run: Mapping[str, Any], point: Point, measure: Measure) -> float | None:
    """A measure of one run."""
    return run.get(measure) if isinstance(measure, str) else measure(run, point)


def scheme_for(curve: str, radix: int) -> str:
    """Return the scheme behind a curve at k ports.

    4Ofan has pipes of four ports. With at most four downlinks it is Ofan itself; where four does
    not divide k/2, here k = 12, the last pipe is narrower.
    """
    if curve != "4ofan":
        return curve
    return "ofan" if radix // 2 <= 4 else "pofan4"


def ordered(data: Data, names: Sequence[str], x: Any, measure: Measure, panel: str = "") -> bool:
    """Whether the curves stand one below the other at x, the first the highest; a tie within two
    standard errors of the difference counts."""
    for one, other in itertools.pairwise(names):
        mean, sem = data.difference(one, other, x, measure, panel)
        if mean < -2 * (sem or 0):
            return False
    return True


def shown(values: Mapping[str, float]) -> str:
    """Return numbers by name in words."""
    return ", ".join(f"{NAMES.get(name, name)} {value:.3g}" for name, value in values.items())
