"""Options that several commands have, and how numbers are read."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import typer


def whole(text: str) -> int:
    """Read an integer option, so that what is no integer is named with its value."""
    from models.common.check import parse_integer
    from models.common.errors import quoted

    digits = str(text).removeprefix("-")  # a default comes as the integer it is
    value = parse_integer(digits)
    if value is None:
        raise typer.BadParameter(f"must be an integer, not {quoted(text)}")
    return value if digits == str(text) else -value


def decimal(text: str) -> float:
    """Read an option that is a number, so that what is none is named with its value."""
    from models.common.check import parse_real
    from models.common.errors import quoted

    value = parse_real(str(text))
    if value is None:
        raise typer.BadParameter(f"must be a number, not {quoted(text)}")
    return value


number = partial(typer.Option, parser=whole, metavar="INTEGER")
real = partial(typer.Option, parser=decimal, metavar="NUMBER")

Out = Annotated[Path, typer.Option(help="File to write, .csv or .parquet; an old one is replaced.")]
Preset = Annotated[str, typer.Option(help="Named configuration; `netweave presets` lists them.")]
Engine = Annotated[
    Literal["rtl", "model"], typer.Option(help="The compiled hardware, or its bit-exact model.")
]
Folder = Annotated[Path, typer.Option("--out", "-o", help="Folder to write into.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the records.")]


def given(**options: Any) -> dict[str, Any]:
    """Return the options that were given: those that are not None."""
    return {name: value for name, value in options.items() if value is not None}
