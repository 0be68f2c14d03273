"""RSQ: every packet goes up through an uplink drawn at random (seed section 3.1).

Rule: index below(number of valid uplinks) of the valid ones in rising order, from the stream of
the switch.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, SwitchScheme


class AtSwitch(SwitchScheme):
    """Randomized Switch Queueing."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one."""
        return self.switch.one_of(valid)
