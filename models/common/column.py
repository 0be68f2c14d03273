"""What a column of whole numbers in an input file must be like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Column:
    """A column that must be there: its name, its range (both ends included), and the value that an
    empty field stands for (None: a field must not be empty)."""

    name: str
    low: int
    high: int
    blank: int | None = None

    def reason(self) -> str:
        """What is said of a value that does not fit."""
        empty = "" if self.blank is None else "empty or "
        return f"must be {empty}an integer from {self.low} to {self.high}"
