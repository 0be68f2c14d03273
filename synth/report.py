"""What the commands `netweave synth`, `study` and `claims` print."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from models.csig.config import CsigConfig
from models.ofan.config import OfanConfig
from models.symphony.config import SymphonyConfig
from synth import csig, ofan, symphony
from synth.claim import claims_page, claims_table, notes
from synth.claims import claims
from synth.equal import prove_priced
from synth.measured import OFAN, measure
from synth.parts import cost_table, fits
from synth.records import Record
from synth.symphony_study import figure_class, study, study_table, verdict, write_study
from synth.table import Table

WIDE = 130
"""Columns that wide tables need; a narrower terminal wraps their lines."""


@contextmanager
def spinner(title: str) -> Iterator[Callable[[str], None]]:
    """Give a function that is told what is being mapped; a terminal on stderr shows it."""
    console = Console(stderr=True)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(
        *columns, console=console, transient=True, disable=not console.is_terminal
    ) as progress:
        task = progress.add_task(title)
        yield lambda part: progress.update(task, description=f"{title}: {part}")


def synth_ofan(preset_name: str, config: OfanConfig, *, as_json: bool) -> None:
    """Price a preset of Ofan; print its table of parts, or its records as JSON."""
    with spinner(preset_name) as progress:
        records = ofan.price_preset(preset_name, config, progress)
    _print_costs(f"Ofan {preset_name}", records, as_json)


def synth_symphony(preset_name: str, config: SymphonyConfig, *, as_json: bool) -> None:
    """Price a preset of Symphony; print its table of parts, or its records as JSON."""
    with spinner(preset_name) as progress:
        records = symphony.price_preset(preset_name, config, progress)
    _print_costs(f"Symphony {preset_name}", records, as_json)


def synth_csig(preset_name: str, config: CsigConfig, *, as_json: bool) -> None:
    """Price a preset of CSIG; print its table of parts, or its records as JSON."""
    with spinner(preset_name) as progress:
        records = csig.price_preset(preset_name, config, progress)
    _print_costs(f"CSIG {preset_name}", records, as_json)


def prove_ofan(preset_name: str, config: OfanConfig) -> bool:
    """Prove every netlist that a preset's price is made of; print a line each, and return whether
    all are equal to their RTL."""
    rows = []
    with spinner(preset_name) as progress:
        for part, proof in prove_priced(lambda told: ofan.price_switch(config, told), progress):
            verdict = "equal" if proof.equal else f"no: {', '.join(proof.differs[:3])}"
            rows.append((part, f"{proof.registers:,}", f"{proof.compared:,}", verdict))
    table = Table(
        title=f"Ofan {preset_name}: netlists against their RTL",
        headers=("part", "flip-flops", "compared", "proof"),
        rows=rows,
        numbers=frozenset(("flip-flops", "compared")),
    )
    Console().print(table.rich())
    return all(row[-1] == "equal" for row in rows)


def _print_costs(title: str, records: Sequence[Record], as_json: bool) -> None:
    if as_json:
        _print_json(records)
        return
    console = Console()
    console.width = max(console.width, WIDE)
    console.print(cost_table(title, records).rich())
    for line in fits(records):
        console.print(line)


def _print_json(records: Sequence[Record]) -> None:
    print(json.dumps([asdict(record) for record in records], indent=1, ensure_ascii=False))


def study_symphony_log(out: Path | None, *, as_json: bool) -> None:
    """Run the study of `log` arithmetic; print its table or its records, and write records and plot
    into `out`, if given.

    Raises `ValueError` before anything is done if the plot cannot be drawn.
    """
    if out is not None:
        figure_class()
    with spinner("symphony-log") as progress:
        records = study(progress)
    paths = [] if out is None else write_study(out, records)
    if as_json:
        _print_json(records)
        return
    console = Console()
    console.width = max(console.width, WIDE)
    console.print(study_table(records).rich())
    for line in [*verdict(records), *(f"wrote {path}" for path in paths)]:
        console.print(line, highlight=False)


def report_claims(*, quick: bool, as_json: bool, as_markdown: bool) -> None:
    """Print the claims report, as tables, as JSON or as Markdown."""
    with spinner("claims") as progress:
        numbers, origin = measure(quick, progress)
    reports = claims(numbers)
    if as_json:
        rows = [
            {"mechanism": name} | asdict(claim) | {"holds": claim.verdict, "note": claim.note}
            for name, found in reports.items()
            for claim in found
        ]
        print(json.dumps({"origin": origin, "claims": rows}, indent=1, ensure_ascii=False))
    elif as_markdown:
        pages = [f"## {name}\n\n{claims_page(found)}\n" for name, found in reports.items()]
        print("".join(pages) + origin)
    else:
        console = Console()
        for name, found in reports.items():
            console.print(claims_table(name, found).rich())
            for line in notes(found):
                console.print(f"• {line}", highlight=False)
        for line in [*numbers.fits(OFAN), origin]:
            console.print(f"• {line}", highlight=False)
