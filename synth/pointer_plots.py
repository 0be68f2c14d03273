"""Plots of the study of pointer engines."""

from __future__ import annotations

from typing import Any

from models.ofan.study import BACKLOG, CYCLES
from models.ofan.study_traffic import LOADS
from synth.pointer_study import PIPES, SHOWN
from synth.pointer_tables import (
    CHOSEN,
    DRIFT,
    MOST_BACKLOG,
    MOST_CYCLES,
    SATURATED,
    Study,
)
from synth.symphony_study import figure_class

MARKERS = {"sorted": "*", "sorted-banked": "s", "matched-banked": "^", "queued-banked": "o"}
"""By kind of engine."""
MOST_KILO_GATES = 30
KILO_TICKS = (10, 20, 30, 50, 100, 200, 500, 1000, 2000, 5000)
TICKS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)


def load_plot(study: Study) -> Any:
    """Return a figure of how many cycles go by for each that brings a batch, at each load of random
    keys."""
    figure = figure_class()(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for engine in CHOSEN:
        runs = {load: study.found.get((SHOWN, engine, f"random-{load}")) for load in LOADS}
        x = [load for load, numbers in runs.items() if numbers]
        y = [numbers[CYCLES] for numbers in runs.values() if numbers]
        kind = engine.partition(",")[0]
        axes.plot(x, y, marker=MARKERS[kind], linewidth=0.8, label=engine)
    axes.set_ylim(bottom=0)
    axes.set_xlabel("cycles in which a lane has a packet, %")
    axes.set_ylabel("cycles that go by for each that brings a batch")
    axes.set_title("32 lanes, random keys: an engine keeps up where this is 1")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def pareto_plot(study: Study) -> Any:
    """Return a figure of what engines cost against how they do, each priced engine a point, and the
    frontier of exact ones as a line. Raises `ValueError` if no engine has a price."""
    points = [(SHOWN, point) for point in study.points()]
    if not points:
        raise ValueError("prices must be known for the plot of engines against their price")
    points += [(PIPES, point) for point in study.points(PIPES)]
    kilo = {at: study.prices[at].gates() / 1000 for at in points}
    figure = figure_class()(figsize=(11, 6), layout="constrained")
    sides = [
        (SATURATED, CYCLES, "cycles a batch, random keys on all lanes", MOST_CYCLES),
        (DRIFT, BACKLOG, "worst backlog of line-rate permutations, batches", MOST_BACKLOG),
    ]
    for axes, (traffic, what, label, most) in zip(figure.subplots(1, 2), sides, strict=True):
        values = {at: study.numbers(at[1], traffic, at[0])[what] for at in points}
        for shape, kind in dict.fromkeys((at[0], at[1].partition(",")[0]) for at in points):
            mine = [at for at in points if (at[0], at[1].partition(",")[0]) == (shape, kind)]
            x, y = [kilo[at] for at in mine], [values[at] for at in mine]
            named = f"pOfan, {kind}" if shape == PIPES else kind
            marker = "x" if shape == PIPES else MARKERS[kind]
            axes.scatter(x, y, marker=marker, s=20, label=named)
        frontier: list[tuple[str, str]] = []
        for at in sorted(points, key=lambda at: (kilo[at], values[at])):
            if at[0] == SHOWN and (not frontier or values[at] < values[frontier[-1]]):
                frontier.append(at)
        x, y = [kilo[at] for at in frontier], [values[at] for at in frontier]
        axes.step(x, y, where="post", linewidth=0.8, color="grey")
        for at in frontier:
            name = at[1].partition(", ")[2] or at[1]
            where = (kilo[at], values[at])
            axes.annotate(name, where, (4, 4), textcoords="offset points", fontsize=6)
        axes.axhline(most, color="grey", linewidth=0.8, linestyle="--")
        axes.axvline(MOST_KILO_GATES, color="grey", linewidth=0.8, linestyle="--")
        axes.set_xlabel("kGE without storage bits")
        axes.set_xscale("log")
        axes.set_xlim(right=max(kilo.values()) * 2)  # room for the name of the last one
        kilos = [tick for tick in KILO_TICKS if min(kilo.values()) / 2 < tick]
        axes.set_xticks(kilos, [f"{tick:,}" for tick in kilos])
        axes.set_ylabel(label)
        axes.set_yscale("log")
        axes.set_yticks(TICKS, [str(tick) for tick in TICKS])
        axes.minorticks_off()
        axes.set_ylim(0.9, max(values.values()) * 1.1)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.suptitle("Pointer engines of 32 lanes and 4,096 pointers; dashed: what is asked for")
    return figure
