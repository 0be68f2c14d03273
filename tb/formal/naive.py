"""Counting as one would by hand: what cleverer hardware is proved against."""

from __future__ import annotations

from collections.abc import Iterable

from amaranth.hdl import Const, Value


def total(bits: Iterable[Value]) -> Value:
    """Return how many of `bits` are set, added one by one."""
    bits = list(bits)
    count: Value = Const(0)
    for bit in bits:
        count = (count + bit)[: len(bits).bit_length()]
    return count


def below(mask: Value, position: Value) -> Value:
    """Return how many bits of `mask` are set below `position`, one by one."""
    return total([mask[bit] & (position > bit) for bit in range(len(mask))])
