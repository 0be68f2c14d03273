"""Carry-save addition as data: how many rows become two, three at a time, and no carry runs.

Three numbers become two of the same sum by one full adder a bit: its sums and its carries. A rank
joins as many threes as there are; the rows left over wait. What the two last rows add up to is the
sum of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from models.common.check import integer


@cache
def reduction(rows: int) -> tuple[int, ...]:
    """Return how many threes each rank joins, from `rows` rows (1 to 64) down to at most two; they
    are the first rows, and their sums and carries stand before those left over."""
    integer("rows", rows, 1, 64)
    ranks = []
    while rows > 2:
        ranks.append(rows // 3)
        rows -= rows // 3
    return tuple(ranks)


def carry_save(rows: Sequence[int], width: int) -> list[int]:
    """Return at most two numbers with the sum of `rows` modulo 2**width."""
    left, mask = list(rows), (1 << width) - 1
    for threes in reduction(len(left)):
        joined = []
        for n in range(threes):
            a, b, c = left[3 * n : 3 * n + 3]
            joined += [a ^ b ^ c, (a & b | b & c | a & c) << 1 & mask]
        left = joined + left[3 * threes :]
    return left


def product_rows(left: int, right: int, right_bits: int) -> list[int]:
    """Return the rows of a product: `left`, shifted, for each bit of `right` that is set."""
    return [left << bit if right >> bit & 1 else 0 for bit in range(right_bits)]
