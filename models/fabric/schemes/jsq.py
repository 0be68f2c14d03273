"""JSQ: every packet joins the shortest uplink queue of its switch (seed section 3.1).

Rule: of the valid uplinks those of the smallest length (as the options `queue_unit`,
`queue_in_service` and `queue_age_ns` have it); of several, the one with index below(their number)
in rising order.
"""

from __future__ import annotations

from typing import Any

from models.fabric.engine_choice import least_length, one_shorter
from models.fabric.kernel import Kernel
from models.fabric.schemes.base import Packet, SwitchScheme


class AtSwitch(SwitchScheme):
    """Join the Shortest Queue."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one of the shortest."""
        return self.switch.lowest([(self.switch.uplinks[u].length(now), u) for u in valid])


def pick(
    s: Any,
    own: Any,
    own_bytes: Any,
    switch: int,
    first: int,
    to: int,
    payload: int,
    rank: int,
    time: int,
    valid: int,
) -> int:
    """The same for the fast engine."""
    limit = least_length(s, first, time, valid) + 1
    return one_shorter(s, switch, first, time, valid, limit)


KERNEL = Kernel(pick)
