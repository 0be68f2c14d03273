"""A memory with one read and one write port, cycle by cycle."""

from __future__ import annotations


class Store:
    """A row that is written and read in the same cycle reads as it was before."""

    def __init__(self, depth: int) -> None:
        self.words = [0] * depth
        self.data = 0
        """What was read in the cycle before."""

    def cycle(self, read: int | None, write: tuple[int, int] | None) -> None:
        """Spend a cycle: read a row, write (row, word), or neither."""
        if read is not None:
            self.data = self.words[read]
        if write is not None:
            row, word = write
            self.words[row] = word
