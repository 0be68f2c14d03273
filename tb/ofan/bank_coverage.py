"""What a bench of an engine with banks must have seen of its pointers' uses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from models.ofan.place import place

APART = 3
"""Cycles between two uses of a pointer up to which they are counted: read, advance and write."""


def uses_rows(most: int) -> Iterator[tuple[str, str, bool]]:
    """Yield (bin, meaning, whether it can be reached) where a bank serves at most so many packets
    a cycle."""
    for size in range(1, most + 1):
        yield f"bank serves {size}", "so many packets of a pointer in one cycle", True
    apart = "a pointer is used again so many cycles after its last use, stalls not counted"
    for cycles in range(1, APART + 1):
        yield f"same key served {cycles} cycles later", apart, True


class Uses:
    """The pointers of one pipe and when they were used; a call of `seen` is a cycle."""

    def __init__(self, banks: int) -> None:
        self.banks = banks
        self._cycle = 0
        self._last: dict[int, int] = {}

    def seen(self, served: Mapping[int, int]) -> set[str]:
        """Return the bins that the packets {lane: key} served in this cycle hit."""
        self._cycle += 1
        found = set[str]()
        for key, count in Counter(served.values()).items():
            found.add(f"bank serves {count}")
            apart = self._cycle - self._last.get(key, -APART)
            if apart <= APART:
                found.add(f"same key served {apart} cycles later")
            self._last[key] = self._cycle
        return found

    def bank(self, key: int) -> int:
        """The bank that a pointer is in."""
        return place(key, self.banks)[0]
