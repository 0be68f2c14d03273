"""The parts of docs/fabric/figures.md that are made from the records of figures."""

from __future__ import annotations

from typing import Any

from models.fabric.figures.base import NAMES
from models.fabric.figures.details import VARIANTS
from models.fabric.figures.record import kept
from synth.table import Table

_HOLDS = {True: "yes", False: "**no**", None: "–"}


def figure_summary() -> str:
    """How many verdicts hold, figure by figure."""
    rows = []
    for name, found in kept().items():
        verdicts = [v for v in found["verdicts"] if v["holds"] is not None]
        if verdicts:
            hold = sum(v["holds"] for v in verdicts)
            rows.append((name, found["title"], str(found["seeds"]), f"{hold} of {len(verdicts)}"))
    headers = ("figure", "what", "seeds", "hold")
    return Table(
        title="", headers=headers, rows=rows, numbers=frozenset(("seeds", "hold"))
    ).markdown()


def figure_verdicts() -> str:
    """All verdicts, a table a figure."""
    parts = []
    for name, found in kept().items():
        if name == "details":
            continue
        rows = [
            (
                str(NAMES.get(v["curve"], v["curve"])),
                v["kind"],
                v["says"],
                v["found"],
                _HOLDS[v["holds"]] + (f": {v['reason']}" if v["reason"] else ""),
            )
            for v in found["verdicts"]
        ]
        table = Table(title="", headers=("curve", "", "the paper says", "here", "holds"), rows=rows)
        title = found["title"][0].upper() + found["title"][1:]
        note = f"{found['note']}\n\n" if found["note"] else ""
        parts.append(f"### Figure {name}\n\n{title}.\n\n{note}")
        parts.append(table.markdown() + "\n")
    return "".join(parts)


def figure_details() -> str:
    """The effect of what the paper leaves open, a column a scheme."""
    found = kept().get("details")
    if found is None:
        return ""
    curves: dict[str, dict[str, Any]] = {curve["series"]: curve for curve in found["curves"]}
    rows = []
    for variant in VARIANTS:
        cells = [variant]
        for curve in curves.values():
            if variant in curve["x"]:
                at = curve["x"].index(variant)
                sem = curve["sem"][at]
                cells.append(f"{curve['mean'][at]:.2f}" + (f" ± {sem:.2f}" if sem else ""))
            else:
                cells.append("")
        rows.append(tuple(cells))
    headers = ("", *(NAMES[name] for name in curves))
    return Table(title="", headers=headers, rows=rows, numbers=frozenset(headers[1:])).markdown()
