"""Step (4a) of Ofan's pipeline: give the fetched value back to the group (seed appendix I)."""

from __future__ import annotations

from collections.abc import Sequence

from models.ofan.combine import Member
from models.ofan.config import OfanConfig
from models.ofan.order import pi
from models.ofan.switch import UNROUTABLE


def share(members: Sequence[Member | None], bases: Sequence[int | None]) -> list[int | None]:
    """Return the base of each packet's master, which alone has one in `bases`.

    The reverse network: a group's master is its last packet, so values move towards lower lanes.
    Idle lanes get None.
    """
    shared: list[int | None] = []
    base = None
    for member, fetched in zip(reversed(members), reversed(bases), strict=True):
        if member is not None and member.master:
            base = fetched
        shared.append(None if member is None else base)
    return shared[::-1]


def decombine(config: OfanConfig, key: int, position: int, base: int, valid: Sequence[int]) -> int:
    """Return the uplink of a packet, or `UNROUTABLE` if no position of its pointer is valid.

    The packet at `position` of its group takes the valid position that many behind the `base`,
    round and round: without failures that is (pointer + position) mod w. π of appendix F.2 turns
    it into an uplink.
    """
    assert config.order is not None
    if not valid:
        return UNROUTABLE
    return pi(config.order, config.uplinks, key, valid[(base + position) % len(valid)])
