"""A memory whose words are read, changed and written back by one user after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

Word = TypeVar("Word")


class Rewrite(Generic[Word]):
    """`depth` words that start as `init`; each change sees what all changes before it have left."""

    def __init__(self, depth: int, init: Word) -> None:
        self.words = [init] * depth

    def change(self, address: int, to: Callable[[Word], Word]) -> Word:
        """Replace the word at `address` by `to` of it; return the word as it was."""
        before = self.words[address]
        self.words[address] = to(before)
        return before
