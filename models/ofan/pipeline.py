"""Ofan's pipeline: the four steps of the seed's appendix I, a batch at a time, for one pipe.

`models.ofan.switch` says what the answers are, packet by packet; this file says how the steps
arrive at them, and is held against it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.ofan.combine import Member, combine
from models.ofan.config import OfanConfig
from models.ofan.decombine import decombine, share
from models.ofan.order import valid_positions
from models.ofan.sort import Item, sort
from models.ofan.unsort import unsort
from models.ofan.update import PointerFile


@dataclass(frozen=True)
class Steps:
    """What each step made of a batch, in sorted order; None for idle lanes."""

    items: list[Item]
    members: list[Member | None]
    valid: list[list[int] | None]
    """Positions of the packet's pointer whose uplink reaches its destination."""
    fetched: list[int | None]
    """Base of each master; None for the other packets too."""
    uplinks: list[int | None]


class Pipeline:
    """The lanes of one pipe and the pointers they share."""

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        self.config = config
        self.file = PointerFile(config, pipe)
        self.sets = [2**config.uplinks - 1] * config.destinations
        """Valid uplinks of each destination, bit u for uplink u; may change between batches."""

    def serve(self, batch: Sequence[tuple[int, int] | None]) -> list[int | None]:
        """Return the uplink of each lane's packet, or `UNROUTABLE`; None for an idle lane.

        `batch` has (destination, size class) of each lane's packet, None for an idle lane.
        """
        steps = self.steps(batch)
        return unsort([item.lane for item in steps.items], steps.uplinks)

    def steps(self, batch: Sequence[tuple[int, int] | None]) -> Steps:
        """Serve a batch as `serve` does; return what the steps did, before lanes are restored."""
        c = self.config
        items = sort([None if packet is None else c.key(*packet) for packet in batch], c.network)
        members = combine([item.key for item in items])
        valid = [None if item.key is None else self._valid(item.key) for item in items]
        fetched = [
            self.file.update(item.key, member.count, positions)
            if item.key is not None and positions is not None and member and member.master
            else None
            for item, member, positions in zip(items, members, valid, strict=True)
        ]
        uplinks = [
            None
            if item.key is None or member is None or base is None or positions is None
            else decombine(c, item.key, member.position, base, positions)
            for item, member, base, positions in zip(
                items, members, share(members, fetched), valid, strict=True
            )
        ]
        return Steps(items, members, valid, fetched, uplinks)

    def _valid(self, key: int) -> list[int]:
        c = self.config
        assert c.order is not None
        return valid_positions(c.order, c.uplinks, key, self.sets[key % c.destinations])
