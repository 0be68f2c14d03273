"""Random numbers by counter: draw n of a stream is a function of (seed, kind, number, n) alone.

So two engines draw the same whatever order they work in, and no stream is a shifted copy of
another: a stream's start passes through `mix64` once for the kind and once for the number, and its
draws are SplitMix64 from there.

    start = mix64(mix64(mix64(seed + g) + g·(kind + 1)) + g·(number + 1))
    draw n = mix64(start + g·n),  n = 1, 2, …      g = 0x9E3779B97F4A7C15, sums modulo 2**64
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from models.common.mix import GOLDEN, MASK64, mix64


class Kind(IntEnum):
    """What a stream is for; `number` counts within the kind."""

    JITTER = 0
    """Start of each host."""
    TRAFFIC = 1
    """Drawn matrices."""
    EDGE = 2
    """Choices of each edge switch."""
    AGG = 3
    """Choices of each aggregation switch."""
    HOST = 4
    """Choices of each host."""
    MIX = 5
    """Which switches run the second scheme."""
    FAILURE = 6
    """Which links are down."""
    TIES = 7
    """Order of the input ports of each switch, by its number over all layers."""
    POINTERS = 8
    """Seed of the pointers of each edge switch, then of each aggregation switch."""
    FLOW = 9
    """Choices that a host makes once for each flow."""


def stream_start(seed: int, kind: Kind, number: int) -> int:
    """Return the state before the first draw of a stream."""
    state = mix64((seed + GOLDEN) & MASK64)
    state = mix64((state + GOLDEN * (kind + 1)) & MASK64)
    return mix64((state + GOLDEN * (number + 1)) & MASK64)


def stream_starts(seed: int, kind: Kind, count: int) -> np.ndarray:
    """Return the states before the first draw of streams 0 to count - 1, uint64 [count]."""
    state = mix64((mix64((seed + GOLDEN) & MASK64) + GOLDEN * (kind + 1)) & MASK64)
    numbers = np.arange(1, count + 1, dtype=np.uint64)
    return mix64(np.uint64(state) + np.uint64(GOLDEN) * numbers)


def draws(start: int, count: int) -> np.ndarray:
    """Return draws 1 to count of the stream that begins at `start`, uint64 [count]."""
    steps = np.uint64(GOLDEN) * np.arange(1, count + 1, dtype=np.uint64)
    return mix64(np.uint64(start) + steps)


class Stream:
    """One stream of draws."""

    def __init__(self, seed: int, kind: Kind, number: int = 0) -> None:
        self.state = stream_start(seed, kind, number)

    def draw(self) -> int:
        """Return the next 64 random bits."""
        self.state = (self.state + GOLDEN) & MASK64
        return mix64(self.state)

    def below(self, bound: int) -> int:
        """Return a number from 0 to bound - 1 (bound at most 2**32): ⌊high 32 bits·bound/2**32⌋."""
        return (self.draw() >> 32) * bound >> 32

    def shuffled(self, count: int) -> list[int]:
        """Return 0 … count-1 shuffled: for i = count-1 down to 1, swap i with below(i + 1)."""
        items = list(range(count))
        for i in range(count - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
        return items
