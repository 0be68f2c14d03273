"""Parallel-prefix networks as data: which partial results a scan joins, rank by rank.

A network is a tuple of ranks; a rank is a tuple of pairs `(left, right)` with left < right: lane
`right` takes up what lane `left` knows, while `left` keeps its own. After the last rank lane j
knows of all lanes from 0 to j. The combining tree of the seed's appendix I is such a scan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TypeVar

from models.common.check import integer

Value = TypeVar("Value")


@cache
def prefix_network(lanes: int) -> tuple[tuple[tuple[int, int], ...], ...]:
    """Return Sklansky's network for `lanes` lanes, 1 to 64: ⌈log2 lanes⌉ ranks.

    It has the least depth, and n/2·log2 n nodes for a power of two: 80 for 32 lanes, the paper's
    "≈ 80 small adder nodes".
    """
    integer("lanes", lanes, 1, 64)
    ranks = []
    span = 1
    while span < lanes:
        ranks.append(
            tuple((right // span * span - 1, right) for right in range(lanes) if right & span)
        )
        span *= 2
    return tuple(ranks)


def scan(values: Sequence[Value], join: Callable[[Value, Value], Value]) -> list[Value]:
    """Return the inclusive prefix results of `join(left, right)`, computed along the network."""
    out = list(values)
    for rank in prefix_network(len(out)):
        for left, right in rank:
            out[right] = join(out[left], out[right])
    return out
