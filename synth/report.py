"""What the commands `netweave synth ofan` and `netweave claims` print."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from models.ofan.config import OfanConfig
from synth.claim import claims_page, claims_table, notes
from synth.claims import claims
from synth.measured import OFAN, measure
from synth.ofan import cost_table, fits, price_preset

WIDE = 130
"""Columns that the table of parts needs; a narrower terminal wraps its lines."""


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
    """Price a preset; print its table of parts, or its records as JSON."""
    with spinner(preset_name) as progress:
        records = price_preset(preset_name, config, progress)
    if as_json:
        print(json.dumps([asdict(record) for record in records], indent=1, ensure_ascii=False))
        return
    console = Console()
    console.width = max(console.width, WIDE)
    console.print(cost_table(records).rich())
    for line in fits(records):
        console.print(line)


def report_claims(*, quick: bool, as_json: bool, as_markdown: bool) -> None:
    """Print the claims report, as a table, as JSON or as Markdown."""
    with spinner("claims") as progress:
        numbers, origin = measure(quick, progress)
    found = claims(numbers)
    if as_json:
        rows = [asdict(claim) | {"holds": claim.verdict, "note": claim.note} for claim in found]
        print(json.dumps({"origin": origin, "claims": rows}, indent=1, ensure_ascii=False))
    elif as_markdown:
        print(claims_page(found) + "\n" + origin)
    else:
        console = Console()
        console.print(claims_table(found).rich())
        for line in [*notes(found), *numbers.fits(OFAN), origin]:
            console.print(f"• {line}", highlight=False)
