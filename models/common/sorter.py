"""Sorting networks as data, and what sorts and proves with them.

A network is a tuple of ranks; a rank is a tuple of lane pairs `(low, high)` with low < high, no
lane twice; each pair is one compare-and-swap that leaves the smaller item on `low`. The comparators
of a rank work side by side, so ranks are depth. The same data becomes hardware in
`rtl.common.sorter`, software in `sort_items` and a theorem in `zero_one_outputs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any

from models.common.check import choice, integer

Rank = tuple[tuple[int, int], ...]
Network = tuple[Rank, ...]

NETWORKS = ("bitonic", "odd-even-merge", "best")

_BEST: dict[int, str] = {
    # Best known by size; bertdobbelaere.github.io/sorting_networks.html. One line a rank.
    8: """
        0-2 1-3 4-6 5-7
        0-4 1-5 2-6 3-7
        0-1 2-3 4-5 6-7
        2-4 3-5
        1-4 3-6
        1-2 3-4 5-6""",
    16: """
        0-13 1-12 2-15 3-14 4-8 5-6 7-11 9-10
        0-5 1-7 2-9 3-4 6-13 8-14 10-15 11-12
        0-1 2-3 4-5 6-8 7-9 10-11 12-13 14-15
        0-2 1-3 4-10 5-11 6-7 8-9 12-14 13-15
        1-2 3-12 4-6 5-7 8-10 9-11 13-14
        1-4 2-6 5-8 7-10 9-13 11-14
        2-4 3-6 9-12 11-13
        3-5 6-8 7-9 10-12
        3-4 5-6 7-8 9-10 11-12
        6-7 8-9""",
    32: """
        0-1 2-3 4-5 6-7 8-9 10-11 12-13 14-15 16-17 18-19 20-21 22-23 24-25 26-27 28-29 30-31
        0-2 1-3 4-6 5-7 8-10 9-11 12-14 13-15 16-18 17-19 20-22 21-23 24-26 25-27 28-30 29-31
        0-4 1-5 2-6 3-7 8-12 9-13 10-14 11-15 16-20 17-21 18-22 19-23 24-28 25-29 26-30 27-31
        0-8 1-9 2-10 3-11 4-12 5-13 6-14 7-15 16-24 17-25 18-26 19-27 20-28 21-29 22-30 23-31
        0-16 1-8 2-4 3-12 5-10 6-9 7-14 11-13 15-31 17-24 18-20 19-28 21-26 22-25 23-30 27-29
        1-2 3-5 4-8 6-22 7-11 9-25 10-12 13-14 17-18 19-21 20-24 23-27 26-28 29-30
        1-17 2-18 3-19 4-20 5-10 7-23 8-24 11-27 12-28 13-29 14-30 21-26
        3-17 4-16 5-21 6-18 7-9 8-20 10-26 11-23 13-25 14-28 15-27 22-24
        1-4 3-8 5-16 7-17 9-21 10-22 11-19 12-20 14-24 15-26 23-28 27-30
        2-5 7-8 9-18 11-17 12-16 13-22 14-20 15-19 23-24 26-29
        2-4 6-12 9-16 10-11 13-17 14-18 15-22 19-25 20-21 27-29
        5-6 8-12 9-10 11-13 14-16 15-17 18-20 19-23 21-22 25-26
        3-5 6-7 8-9 10-12 11-14 13-16 15-18 17-20 19-21 22-23 24-25 26-28
        3-4 5-6 7-8 9-10 11-12 13-14 15-16 17-18 19-20 21-22 23-24 25-26 27-28""",
}


@cache
def sorting_network(name: str, lanes: int) -> Network:
    """Return the network `name` for `lanes` lanes, 1 to 64 (no rank at all for one lane).

    `bitonic` and `odd-even-merge` (Batcher) exist for every lane count: the network of the next
    power of two loses the comparators that touch a missing lane, which would hold +∞ and never
    swap. `best` is the smallest network known and exists for 8, 16 and 32 lanes.

    Raises `ValueError` naming the parameter and its value.
    """
    choice("network", name, NETWORKS)
    integer("lanes", lanes, 1, 64)
    if name == "best":
        if lanes not in _BEST:
            known = ", ".join(str(size) for size in _BEST)
            raise ValueError(f"network best is known for {known} lanes, not {lanes}")
        return tuple(_parse_rank(line) for line in _BEST[lanes].strip().splitlines())
    size = 1 << (lanes - 1).bit_length()
    ranks = _bitonic(size) if name == "bitonic" else _odd_even_merge(size)
    pruned = (tuple(pair for pair in rank if pair[1] < lanes) for rank in ranks)
    return tuple(rank for rank in pruned if rank)


def _parse_rank(line: str) -> Rank:
    pairs = (pair.split("-") for pair in line.split())
    return tuple((int(low), int(high)) for low, high in pairs)


def _bitonic(size: int) -> Iterable[Rank]:
    """Bitonic sorter whose comparators all point one way: each merge opens with a mirrored rank."""
    block = 2
    while block <= size:
        starts = range(0, size, block)
        yield tuple((s + i, s + block - 1 - i) for s in starts for i in range(block // 2))
        stride = block // 4
        while stride:
            yield tuple((i, i + stride) for i in range(size) if not i & stride)
            stride //= 2
        block *= 2


def _odd_even_merge(size: int) -> Iterable[Rank]:
    """Batcher's odd-even merge sorter: runs of `run` lanes merge into runs of twice as many."""
    run = 1
    while run < size:
        stride = run
        while stride:
            first = stride % run
            yield tuple(
                (low + i, low + i + stride)
                for low in range(first, size - stride, 2 * stride)
                for i in range(stride)
                if (low + i) // (2 * run) == (low + i + stride) // (2 * run)
            )
            stride //= 2
        run *= 2


def comparators(network: Network) -> int:
    """Number of compare-and-swap cells of a network (240 for 32 bitonic lanes)."""
    return sum(len(rank) for rank in network)


def sort_items(network: Network, items: Sequence[Any]) -> list[Any]:
    """Return `items`, one a lane and comparable, as they leave the network."""
    out = list(items)
    for rank in network:
        for low, high in rank:
            if out[high] < out[low]:
                out[low], out[high] = out[high], out[low]
    return out


def zero_one_outputs(network: Network, lanes: int) -> set[int]:
    """Return every vector of zeros and ones that can leave the network, lane i as bit i.

    By the 0-1 principle the network sorts everything if each of these has its ones on the highest
    lanes. All 2**lanes inputs are covered, also for 64 lanes: lanes that no comparator has joined
    yet are independent, so reachable vectors are kept a group of joined lanes at a time, and a
    comparator between two groups joins them as the product of their sets. Sorting networks make
    groups small before they join them.
    """
    groups: list[tuple[int, set[int]]] = [(1 << lane, {0, 1 << lane}) for lane in range(lanes)]
    for rank in network:
        for low, high in rank:
            pair = (1 << low) | (1 << high)
            touched = [group for group in groups if group[0] & pair]
            groups = [group for group in groups if not group[0] & pair]
            members = sum(group[0] for group in touched)
            vectors = {sum(parts) for parts in product(*(group[1] for group in touched))}
            groups.append((members, {_compare(vector, low, high) for vector in vectors}))
    return {sum(parts) for parts in product(*(group[1] for group in groups))}


def _compare(vector: int, low: int, high: int) -> int:
    if vector >> low & 1 and not vector >> high & 1:
        return vector ^ (1 << low | 1 << high)
    return vector


def sorts(network: Network, lanes: int) -> bool:
    """Prove by the 0-1 principle, over all inputs, that the network sorts `lanes` lanes."""
    full = (1 << lanes) - 1
    sorted_vectors = {full >> ones << ones for ones in range(lanes + 1)}
    return zero_one_outputs(network, lanes) == sorted_vectors
