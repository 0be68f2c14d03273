"""From what is measured to the code that a tag carries, and back.

Compact tags have 5 bits: up to 32 ranges, each with a code. Wide tags have 20: a base and a step
that is a power of two. Values are exact rational numbers here, in the unit of the signal.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from models.common.check import integer

RANGES = 32
WIDE_BITS = 20
MOST_SHIFT = 48

Interval = tuple[Fraction | None, Fraction | None]
"""From the first up to, not including, the second; None is open."""


@dataclass(frozen=True)
class Compact:
    """Code `codes[i]` for bounds[i-1] <= x < bounds[i], compared exactly.

    Raises `ValueError` for bounds that do not rise (ranges would overlap), for codes that fall (the
    comparison of two codes would mean nothing), for more than 32 ranges and for the wrong number of
    codes.
    """

    bounds: tuple[Fraction, ...]
    codes: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.codes) != len(self.bounds) + 1 or len(self.codes) > RANGES:
            raise ValueError(
                f"codes must be one more than bounds ({len(self.bounds)}), at most {RANGES}, "
                f"not {len(self.codes)}"
            )
        for left, right in pairwise(self.bounds):
            if left >= right:
                raise ValueError(f"bounds must rise, not go from {left} to {right}")
        for code in self.codes:
            integer("codes", code, 0, 31)
        for left, right in pairwise(self.codes):
            if left > right:
                raise ValueError(f"codes must not fall, not go from {left} to {right}")

    def code(self, value: Fraction | int) -> int:
        """Return the code of a value."""
        return self.codes[bisect_right(self.bounds, value)]

    def interval(self, code: int) -> Interval | None:
        """Return which values have a code, None if none has."""
        places = [i for i, found in enumerate(self.codes) if found == code]
        if not places:
            return None
        first, last = places[0], places[-1]
        low = self.bounds[first - 1] if first else None
        return low, self.bounds[last] if last < len(self.bounds) else None


@dataclass(frozen=True)
class Wide:
    """Code ⌊(x - base) / 2**shift⌋, no less than 0 and no more than 2**20 - 1."""

    base: Fraction
    shift: int

    def __post_init__(self) -> None:
        integer("shift", self.shift, 0, MOST_SHIFT)

    def code(self, value: Fraction | int) -> int:
        """Return the code of a value."""
        return min(max(0, (value - self.base) // (1 << self.shift)), (1 << WIDE_BITS) - 1)

    def interval(self, code: int) -> Interval:
        """Return which values have a code, in the models and in hardware: theirs are the same."""
        low = self.base + (code << self.shift)
        ends = code == 0, code == (1 << WIDE_BITS) - 1
        return None if ends[0] else low, None if ends[1] else low + (1 << self.shift)


def error_bound(interval: Interval) -> Fraction | None:
    """Return how far the middle of an interval is from any value in it at most, None where it is
    open."""
    low, high = interval
    return None if low is None or high is None else (high - low) / 2


def nearest(interval: Interval) -> Fraction:
    """Return the value that a receiver takes a code for: the middle, or the end that there is."""
    low, high = interval
    ends = [end for end in (low, high) if end is not None]
    return sum(ends, Fraction(0)) / max(1, len(ends))


def even(low: int, high: int, ranges: int = RANGES) -> Compact:
    """Return `ranges` ranges of one width between two values, coded from 0 up."""
    inner: Sequence[Fraction] = [
        low + Fraction(high - low, ranges) * number for number in range(1, ranges)
    ]
    return Compact(tuple(inner), tuple(range(ranges)))
