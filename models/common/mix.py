"""A fixed, well-mixed function of 64 bits, for state that starts at random from a seed."""

from __future__ import annotations

from typing import Any

MASK64 = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
"""2**64 divided by the golden ratio, odd: the step between the states of SplitMix64."""


def mix64(value: Any) -> Any:
    """SplitMix64's output function of a 64-bit state, an integer or an array (uint64) of them; a
    bijection."""
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & MASK64
    value = (value ^ value >> 27) * 0x94D049BB133111EB & MASK64
    return value ^ value >> 31
