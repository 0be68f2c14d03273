"""Step (2) of Ofan's pipeline: count the packets that share a key (seed appendix I)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby


@dataclass(frozen=True, slots=True)
class Member:
    """A packet of a group: its `position` in it, from 0, and the group's match `count`."""

    position: int
    count: int

    @property
    def master(self) -> bool:
        """Whether this is the group's last packet, which asks for the pointer."""
        return self.position == self.count - 1


def combine(keys: Sequence[int | None]) -> list[Member | None]:
    """Return what each packet of a sorted batch learns about its group; None for an idle lane.

    `keys` are the keys in sorted order, None for an idle lane.
    """
    members: list[Member | None] = []
    for key, group in groupby(keys):
        count = len(list(group))
        members += [None if key is None else Member(j, count) for j in range(count)]
    return members
