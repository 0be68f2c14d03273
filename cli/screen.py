"""What the user sees beside the output, all of it on stderr."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

LONG_WORK = 200_000
"""Batches or packets from which on a progress bar is shown."""


@contextmanager
def progress_bar(what: str, count: int, long: int = LONG_WORK) -> Iterator[Callable[[int], None]]:
    """Give a function that takes how many are done; a screen shows it where the work is long: from
    a count of `long` on."""
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    hidden = count < long or not console.is_terminal
    with Progress(console=console, transient=True, disable=hidden) as progress:
        task = progress.add_task(what, total=count)
        yield lambda done: progress.update(task, completed=done)


def say(text: str) -> None:
    """Tell the user something in one line."""
    line = text.replace("\n", "\\n")
    typer.echo(f"netweave: {line}", err=True)
