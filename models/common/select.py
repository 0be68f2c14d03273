"""Rank and select in a bit mask: the arithmetic of skipping (bit i set: position i is taken)."""

from __future__ import annotations


def rank(mask: int, position: int) -> int:
    """Return how many bits of `mask` are set below `position`."""
    return sum(mask >> i & 1 for i in range(position))


def select(mask: int, index: int) -> int:
    """Return the position of set bit number `index`, the lowest being 0.

    Raises `ValueError` if the mask has no such bit.
    """
    seen = -1
    for position in range(mask.bit_length()):
        seen += mask >> position & 1
        if seen == index:
            return position
    raise ValueError(f"index must be below the {seen + 1} set bits of the mask, not {index}")
