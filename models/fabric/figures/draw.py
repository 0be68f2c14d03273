"""A figure as CSV, SVG and JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from models.common.files import replacing
from models.fabric.figures.base import NAMES, Data, Figure, Panel, Verdict
from models.fabric.run_picture import matplotlib_figure, save_svg

MARKERS = "osD^v<>Pp*XhH8d"


def write_csv(path: Path, figure: Figure, data: Data) -> None:
    """Write a row a point of each panel: panel, y, series, x, mean, sem, runs."""
    with replacing(path) as beside, beside.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["panel", "y", "series", "x", "mean", "sem", "runs"])
        for panel in figure.panels:
            for series in data.series(panel.of):
                for x in data.xs(series, panel.of):
                    mean, sem = data.at(series, x, panel.measure, panel.of)
                    runs = max(map(len, data.runs))
                    shown = "" if sem is None else f"{sem:.6g}"
                    writer.writerow([panel.name, panel.y, series, x, f"{mean:.8g}", shown, runs])


def write_svg(path: Path, figure: Figure, data: Data) -> None:
    """Draw the panels side by side."""
    count = len(figure.panels)
    columns = min(3, count)
    rows = -(-count // columns)
    size = (5.2 * columns, 3.8 * rows)
    drawing = matplotlib_figure()(figsize=size, layout="constrained")
    grid = drawing.subplots(rows, columns, squeeze=False).ravel()
    for axes in grid[count:]:
        axes.set_axis_off()
    for axes, panel in zip(grid, figure.panels, strict=False):
        _draw(axes, panel, data)
    drawing.suptitle(f"Figure {figure.name}: {figure.title}", fontsize=10)
    with replacing(path) as beside:
        save_svg(drawing, beside)


def _draw(axes: Any, panel: Panel, data: Data) -> None:
    words = any(
        isinstance(x, str) for name in data.series(panel.of) for x in data.xs(name, panel.of)
    )
    places: list[Any] = []
    for name in data.series(panel.of):
        places += [x for x in data.xs(name, panel.of) if x not in places]
    for marker, name in zip(MARKERS * 3, data.series(panel.of), strict=False):
        xs = data.xs(name, panel.of)
        found = [data.at(name, x, panel.measure, panel.of) for x in xs]
        at = [places.index(x) for x in xs] if words else xs
        axes.errorbar(
            at,
            [mean for mean, _ in found],
            [sem or 0 for _, sem in found],
            marker=marker,
            markersize=4,
            linewidth=0.8,
            label=NAMES.get(name, name),
        )
    if words:
        axes.set_xticks(range(len(places)), places, rotation=30, ha="right", fontsize=7)
    for label, formula in panel.lines.items():
        at = range(len(places)) if words else places
        axes.plot(at, [formula(x) for x in places], "--", linewidth=0.8, label=label)
    for label, x, y in panel.marks:
        axes.plot([x], [y], "r*", markersize=10, label=label)
    if panel.log_x:
        axes.set_xscale("log", base=2)
    if panel.log_y:
        axes.set_yscale("log")
    axes.set_xlabel(panel.x)
    axes.set_ylabel(panel.y)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=6)
    if panel.name:
        axes.set_title(f"({panel.name})", fontsize=9)


def record(
    figure: Figure, verdicts: Sequence[Verdict], data: Data, *, quick: bool, seeds: int
) -> dict[str, Any]:
    """Return what is kept of a figure: its verdicts, and the means of its curves."""
    curves = []
    for panel in figure.panels:
        for series in data.series(panel.of):
            found = [data.at(series, x, panel.measure, panel.of) for x in data.xs(series, panel.of)]
            curves.append(
                {
                    "panel": panel.name,
                    "y": panel.y,
                    "series": series,
                    "x": data.xs(series, panel.of),
                    "mean": [float(f"{mean:.5g}") for mean, _ in found],
                    "sem": [None if sem is None else float(f"{sem:.3g}") for _, sem in found],
                }
            )
    return {
        "figure": figure.name,
        "title": figure.title,
        "note": figure.note,
        "quick": quick,
        "seeds": seeds,
        "verdicts": [asdict(verdict) for verdict in verdicts],
        "curves": curves,
    }


def write_json(path: Path, found: dict[str, Any]) -> None:
    """Write a record; NaN is null."""
    with replacing(path) as beside:
        text = json.dumps(found, indent=1, ensure_ascii=False).replace("NaN", "null")
        beside.write_text(text + "\n")
