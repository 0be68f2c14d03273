"""A table of text cells that prints itself on a terminal and in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import rich.table


@dataclass(frozen=True, kw_only=True)
class Table:
    """Rows of text under headers; `numbers` are the columns that stand right."""

    title: str
    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: frozenset[str] = frozenset()

    def markdown(self) -> str:
        """Return the table as Markdown, without its title."""
        rule = ["---:" if header in self.numbers else "---" for header in self.headers]
        lines = [self.headers, rule, *self.rows]
        return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)

    def rich(self) -> rich.table.Table:
        """Return the table for `rich.console.Console.print`."""
        table = rich.table.Table(title=self.title)
        for header in self.headers:
            right = header in self.numbers
            table.add_column(header, justify="right" if right else "left")
        for cells in self.rows:
            table.add_row(*cells)
        return table


def shown(value: float | None) -> str:
    """Return a number with commas, below 100 with three digits; a dash where there is none."""
    if value is None:
        return "-"
    return f"{value:.3g}" if value < 100 else f"{value:,.0f}"
