"""What the command `netweave study pointers` prints and writes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from models.common.files import replacing
from models.ofan.engine import KINDS
from rtl.verilog import write_whole
from synth.pointer_parts import exactness_table, parts_table, price_records, prices_csv
from synth.pointer_plots import load_plot, pareto_plot
from synth.pointer_price import committed_prices
from synth.pointer_study import NAME, SHOWN, study
from synth.pointer_tables import Study, engines_table, for_docs, runs_csv, sizes_table
from synth.pointer_targets import targets_table, verdict
from synth.records import COMMITTED, Record, write_records
from synth.symphony_study import figure_class, save_svg

WIDE = 300
"""Columns that the table needs."""
IMAGES = Path(__file__).resolve().parents[1] / "docs" / "img"


NOTHING = "--quick: so little traffic shows that all works; nothing follows from its numbers"
"""What is said in place of a verdict."""


@contextmanager
def bar(title: str) -> Iterator[Callable[[int, int], None]]:
    """Give a function that is told how many runs of how many are done; a terminal shows it."""
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, count: progress.update(task, completed=done, total=count)


def study_pointers(out: Path | None, *, quick: bool, jobs: int | None, as_json: bool) -> None:
    """Run the study of pointer engines; print its table or its records, and write records, tables
    and plots into `out`, if given. Prices are those of the release: none is mapped again.

    Raises `ValueError` before anything is done if a plot cannot be drawn.
    """
    if out is not None:
        figure_class()
    with bar(NAME) as progress:
        records = study(quick=quick, jobs=jobs, progress=progress)
    found = Study(records, committed_prices())
    prices = price_records({shape for shape, _, _ in found.found})
    paths = [] if out is None else write_study(out, records, prices, found)
    if as_json:
        print(
            json.dumps(
                [asdict(record) for record in [*records, *prices]], indent=1, ensure_ascii=False
            )
        )
        return
    console = Console()
    console.width = max(console.width, WIDE)
    shown = [engines_table(found)] if quick else [engines_table(found), targets_table(found)]
    for made in shown:
        if made.rows:
            console.print(made.rich())
    for line in [*([NOTHING] if quick else verdict(found)), *(f"wrote {path}" for path in paths)]:
        console.print(line.replace("**", ""), highlight=False)


def release(progress: Callable[[int, int], None]) -> None:
    """Run the study, and make it that of the docs: its records and plots."""
    records = for_docs(study(progress=progress))
    write_records(COMMITTED / f"{NAME}.json", records)
    save_plots(IMAGES, Study(records, committed_prices()))


def save_plots(folder: Path, found: Study) -> list[Path]:
    """Draw the plots into a folder, the one by price if there are prices; return their paths."""
    plots = {folder / f"{NAME}-load.svg": load_plot(found)}
    if any((SHOWN, engine) in found.prices for engine in found.engines()):
        plots[folder / f"{NAME}-pareto.svg"] = pareto_plot(found)
    for path, figure in plots.items():
        with replacing(path) as beside:
            save_svg(figure, beside)
    return list(plots)


def write_study(
    folder: Path, records: Sequence[Record], prices: Sequence[Record], found: Study
) -> list[Path]:
    """Write records, tables and plots into a folder; return their paths."""
    tables = [targets_table(found), engines_table(found), sizes_table(found)]
    tables += [parts_table(found, kind) for kind in KINDS]
    tables.append(exactness_table(found))
    texts = {
        f"{NAME}.csv": runs_csv(found),
        f"{NAME}-prices.csv": prices_csv(prices),
        f"{NAME}.md": "\n".join(made.markdown() for made in tables if made.rows),
    }
    write_records(folder / f"{NAME}.json", [*records, *prices])
    for name, text in texts.items():
        write_whole(folder / name, text)
    written = [folder / name for name in (f"{NAME}.json", *texts)]
    return written + save_plots(folder, found)
