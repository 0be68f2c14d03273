"""Step (1) of Ofan's pipeline: sort the batch by pointer key (seed appendix I)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.common.sorter import sort_items, sorting_network


@dataclass(frozen=True, slots=True)
class Item:
    """What a sorted batch holds at one place: the `lane` it came from and the pointer key of its
    packet, None for an idle lane."""

    key: int | None
    lane: int


def sort(keys: Sequence[int | None], network: str = "bitonic") -> list[Item]:
    """Return the batch sorted by key, so packets that share a pointer become adjacent.

    `keys` has the key of each lane's packet, None for an idle lane. Lanes stay in order within a
    key, as the golden model serves them in lane order; no sorting network is stable, so the lane
    takes part in the comparison. Idle lanes come last.
    """
    network_of_lanes = sorting_network(network, len(keys))
    compared = [(key is None, key or 0, lane) for lane, key in enumerate(keys)]
    return [
        Item(None if idle else key, lane)
        for idle, key, lane in sort_items(network_of_lanes, compared)
    ]
