"""JSQ: every packet joins the shortest uplink queue of its switch (seed section 3.1).

Rule: of the valid uplinks those of the smallest length (as the options `queue_unit`,
`queue_in_service` and `queue_age_ns` have it); of several, the one with index below(their number)
in rising order.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, SwitchScheme


class AtSwitch(SwitchScheme):
    """Join the Shortest Queue."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one of the shortest."""
        return self.switch.lowest([(self.switch.uplinks[u].length(now), u) for u in valid])
