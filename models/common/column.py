"""What a column of whole numbers, or of named choices, in an input file must be like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Columns = dict[str, np.ndarray]


@dataclass(frozen=True)
class Column:
    """A column of an input file: its name, its range (both ends included), and what else holds."""

    name: str
    low: int
    high: int
    blank: int | None = None
    """What an empty field stands for; None: a field must not be empty."""
    optional: bool = False
    """The whole column may be missing; what is read then lacks it too."""
    hint: str = ""
    """What the reader is told beside the range, such as the option that sets it."""
    words: tuple[str, ...] = ()
    """Words of small letters that stand in the file in place of 0, 1, ...; then no number may."""

    @classmethod
    def of_words(cls, name: str, words: tuple[str, ...]) -> Column:
        """Return a column of words, which are read as their numbers."""
        return cls(name, 0, len(words) - 1, words=words)

    def reason(self) -> str:
        """What is said of a value that does not fit."""
        empty = "" if self.blank is None else "empty or "
        hint = f" ({self.hint})" if self.hint else ""
        if self.words:
            return f"must be {empty}{' or '.join(self.words)}{hint}"
        return f"must be {empty}an integer from {self.low} to {self.high}{hint}"
