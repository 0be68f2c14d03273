"""Plots of the study of pointer engines."""

from __future__ import annotations

from typing import Any

from models.ofan.study import BACKLOG, CYCLES
from models.ofan.study_traffic import LOADS
from synth.pointer_study import SHOWN
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
    frontier as a line. Raises `ValueError` if no engine has a price."""
    points = {
        engine: study.prices[SHOWN, engine].gates / 1000
        for engine in study.engines()
        if (SHOWN, engine) in study.prices and engine != "sorted"
    }
    if not points:
        raise ValueError("prices must be known for the plot of engines against their price")
    figure = figure_class()(figsize=(10, 5), layout="constrained")
    sides = [
        (SATURATED, CYCLES, "cycles a batch, random keys on all lanes", MOST_CYCLES),
        (DRIFT, BACKLOG, "worst backlog of line-rate permutations, batches", MOST_BACKLOG),
    ]
    for axes, (traffic, what, label, most) in zip(figure.subplots(1, 2), sides, strict=True):
        values = {engine: study.numbers(engine, traffic)[what] for engine in points}
        for kind, marker in MARKERS.items():
            mine = [engine for engine in points if engine.partition(",")[0] == kind]
            x, y = [points[engine] for engine in mine], [values[engine] for engine in mine]
            if mine:
                axes.scatter(x, y, marker=marker, s=20, label=kind)
        frontier = []
        for engine in sorted(points, key=lambda name: (points[name], values[name])):
            if not frontier or values[engine] < values[frontier[-1]]:
                frontier.append(engine)
        x, y = [points[e] for e in frontier], [values[e] for e in frontier]
        axes.step(x, y, where="post", linewidth=0.8, color="grey")
        for engine in frontier:
            name = engine.partition(", ")[2]
            at = (points[engine], values[engine])
            axes.annotate(name, at, (4, 4), textcoords="offset points", fontsize=6)
        axes.axhline(most, color="grey", linewidth=0.8, linestyle="--")
        axes.axvline(30, color="grey", linewidth=0.8, linestyle="--")
        axes.set_xlabel("kGE without storage bits")
        axes.set_ylabel(label)
        axes.set_yscale("log")
        axes.set_yticks(TICKS, [str(tick) for tick in TICKS])
        axes.minorticks_off()
        axes.set_ylim(0.9, max(values.values()) * 1.1)
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.suptitle("Pointer engines of 32 lanes and 4,096 pointers; dashed: what is asked for")
    return figure
