"""The study of `log` arithmetic: how far off the probability is, and what it costs, by table size.

Errors are worked out (`models.symphony.accuracy`), gates are mapped. Beside the grid stands `exact`
arithmetic, which needs no table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from models.common.files import replacing
from models.common.log2 import log2_rests
from models.symphony.accuracy import accuracy, exact_errors
from models.symphony.coin import random_rests
from models.symphony.config import SymphonyConfig
from rtl.toolchain import yosys_engine
from rtl.verilog import BUILD
from synth.ge import Cost
from synth.records import Record, versions, write_records
from synth.symphony import decision
from synth.table import Table, shown

MANTISSA_BITS = range(4, 9)
FRACTION_BITS = range(4, 9)
NAME = "symphony-accuracy"
"""Of the study's files, the records' and the plot's."""
EXACT = "exact"
BLOCK = "decision"
"""Name of the records' block; their preset is `MANTISSA/FRACTION` or `exact`."""

SWEET_SPOT = (0.001, 0.01)
"""Between these k makes no difference (seed section 4.6)."""

LOGIC, DEPTH = "logic", "depth"
LARGEST, MEAN, TABLES = "largest error", "mean error", "tables"
UNITS = {LARGEST: "%", MEAN: "%", TABLES: "bits", LOGIC: "GE", DEPTH: "gates"}


def table_bits(config: SymphonyConfig) -> int:
    """Return the bits of the three tables: for a PSN, for α, and for the random number."""
    c = config
    m, f = c.mantissa_bits, c.fraction_bits
    tables = (
        log2_rests(m, f, c.psn_bits),
        log2_rests(m, f, c.alpha_bits),
        random_rests(c.random_mantissa_bits, f),
    )
    return sum(len(table) * max(table).bit_length() for table in tables)


def study(progress: Callable[[str], None] = lambda what: None) -> list[Record]:
    """Work out and map every size of the grid, and `exact`; return the records, also left in
    build/records."""
    found: list[Record] = []

    def add(name: str, config: SymphonyConfig, largest: float, mean: float | None) -> None:
        progress(name)
        cost = sum(decision(config).values(), Cost())
        bits = table_bits(config) if config.arithmetic == "log" else 0
        numbers = {LARGEST: 100 * largest, TABLES: bits, LOGIC: cost.logic, DEPTH: cost.depth}
        if mean is not None:
            numbers[MEAN] = 100 * mean
        for metric, value in numbers.items():
            record = Record(
                block=BLOCK,
                preset=name,
                metric=metric,
                value=float(f"{value:.4g}") if UNITS[metric] == "%" else value,
                unit=UNITS[metric],
                engine=yosys_engine(),
                versions=versions(),
            )
            found.append(record)

    for m in MANTISSA_BITS:
        for f in FRACTION_BITS:
            config = SymphonyConfig(mantissa_bits=m, fraction_bits=f)
            errors = accuracy(config)
            add(f"{m}/{f}", config, errors.largest, errors.mean)
    exact = SymphonyConfig(arithmetic="exact")
    add(EXACT, exact, max(exact_errors(exact)), None)
    write_records(BUILD / "records" / f"{NAME}.json", found)
    return found


def numbers_of(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Return the numbers of a study by name of the size and metric."""
    found: dict[str, dict[str, float]] = {}
    for record in records:
        found.setdefault(record.preset, {})[record.metric] = record.value
    return found


def default_name() -> str:
    """Return the name of the default size."""
    c = SymphonyConfig()
    return f"{c.mantissa_bits}/{c.fraction_bits}"


def study_table(records: Sequence[Record]) -> Table:
    """Return the study as a table, the default marked."""
    rows = []
    for name, numbers in numbers_of(records).items():
        errors = [f"{numbers[m]:.2f}" if m in numbers else "-" for m in (LARGEST, MEAN)]
        cells = [shown(numbers[m]) for m in (TABLES, LOGIC, DEPTH)]
        mark = " (default)" if name == default_name() else ""
        rows.append([f"{name}{mark}", *errors, *cells])
    headers = ["mantissa/fraction bits", "largest error, %", "mean error, %", "table bits"]
    headers += ["decision, GE", "depth, gates"]
    return Table(
        title="Symphony's probability: error of logarithms by table size",
        headers=headers,
        rows=rows,
        numbers=frozenset(headers[1:]),
    )


def verdict(records: Sequence[Record]) -> list[str]:
    """Return what the study says about the default, in sentences."""
    numbers = numbers_of(records)
    mine, exact = numbers[default_name()], numbers[EXACT]
    span = 100 * (SWEET_SPOT[1] / SWEET_SPOT[0] - 1)
    return [
        f"The default, {default_name()}, is at most {mine[LARGEST]:.2g} % off, on average "
        f"{mine[MEAN]:.2g} %: as if k were so much larger or smaller.",
        f"From k = {SWEET_SPOT[0]:g} to {SWEET_SPOT[1]:g}, between which the paper sees no "
        f"difference, the probability grows by {span:.0f} %: {span / mine[LARGEST]:.0f} times as "
        "much.",
        f"It takes {mine[LOGIC]:,.0f} GE; exact arithmetic, at most {exact[LARGEST]:.2g} % off, "
        f"takes {exact[LOGIC]:,.0f} GE, {exact[LOGIC] / mine[LOGIC]:.1f} times as many.",
    ]


def write_study(folder: Path, records: Sequence[Record]) -> list[Path]:
    """Write the records and the plot into a folder; return their paths."""
    figure = plot(records)
    paths = [folder / f"{NAME}.json", folder / f"{NAME}.svg"]
    write_records(paths[0], records)
    with replacing(paths[1]) as beside:
        save_svg(figure, beside)
    return paths


def figure_class() -> Any:
    """Return Matplotlib's class of figures; raises `ValueError` in one line if there is none."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError(
            "out needs Matplotlib for the plot, which is not installed: pip install netweave[study]"
        ) from None
    return Figure


def plot(records: Sequence[Record]) -> Any:
    """Return the study as a figure of Matplotlib: largest error over gates."""
    numbers = numbers_of(records)
    figure = figure_class()(figsize=(8, 5), layout="constrained")
    axes = figure.add_subplot()
    for m, marker in zip(MANTISSA_BITS, "ovsD^", strict=False):
        sizes = [numbers[f"{m}/{f}"] for f in FRACTION_BITS]
        x, y = [n[LOGIC] for n in sizes], [n[LARGEST] for n in sizes]
        axes.plot(x, y, marker=marker, linewidth=0.8, label=f"{m} mantissa bits")
        for f, gates, error in zip(FRACTION_BITS, x, y, strict=True):
            axes.annotate(str(f), (gates, error), (4, 4), textcoords="offset points", fontsize=7)
    mine, exact = numbers[default_name()], numbers[EXACT]
    ring = {"s": 160, "facecolors": "none", "edgecolors": "black"}
    axes.scatter([mine[LOGIC]], [mine[LARGEST]], label=f"default, {default_name()}", **ring)
    axes.scatter([exact[LOGIC]], [exact[LARGEST]], marker="*", s=120, c="black", label=EXACT)
    axes.axhline(5, color="grey", linewidth=0.8, linestyle="--")
    axes.axvline(1000, color="grey", linewidth=0.8, linestyle="--")
    axes.set_xscale("log")
    axes.set_yscale("log")
    ticks_x, ticks_y = (500, 700, 1000, 1500, 2000, 3000, 5000), (0.3, 0.5, 1, 2, 5, 10, 20)
    axes.set_xticks(ticks_x, [f"{tick:,}" for tick in ticks_x])
    axes.set_yticks(ticks_y, [f"{tick:g}" for tick in ticks_y])
    axes.minorticks_off()
    axes.set_xlabel("logic of the decision, GE (numbers at points: fraction bits)")
    axes.set_ylabel("largest error of the probability, %")
    axes.set_title("Symphony: error of logarithms, exhaustive; dashed: 5 %, 1 kGE")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return figure


def save_svg(figure: Any, path: Path) -> None:
    """Write a figure as SVG, the same bytes each time: text as text, no date, fixed names."""
    import matplotlib

    with matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "netweave"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
