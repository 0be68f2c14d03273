"""RSQ: every packet goes up through an uplink drawn at random (seed section 3.1).

Rule: index below(number of valid uplinks) of the valid ones in rising order, from the stream of
the switch.
"""

from __future__ import annotations

from typing import Any

from models.fabric.engine_choice import one_of
from models.fabric.kernel import Kernel
from models.fabric.schemes.base import Packet, SwitchScheme


class AtSwitch(SwitchScheme):
    """Randomized Switch Queueing."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one."""
        return self.switch.one_of(valid)


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
    return one_of(s, switch, valid)


KERNEL = Kernel(pick)
