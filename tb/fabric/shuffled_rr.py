"""Shuffled RR, the worked example of `docs/fabric/schemes.md`; it is not in the paper.

Simple RR keeps flows of one pace on one uplink for good, because their packets come in the same
order in every round. Here each switch shuffles its uplinks anew for every round: an uplink still
gets one packet in w, and no flow finds the same uplink for long.

Rule: a switch has a list of uplinks, empty at first. A packet takes the first one of the list that
is valid for it, and that one leaves the list. If there is none, the list first becomes
shuffled(w) of the switch's stream.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, Switch, SwitchScheme


class AtSwitch(SwitchScheme):
    """Round-robin in a new order every round."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.left: list[int] = []
        """Uplinks that this round has not used yet."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Take the next one of the round that is valid."""
        if not set(self.left) & set(valid):
            self.left = self.switch.stream.shuffled(self.switch.tree.half)
        uplink = next(u for u in self.left if u in valid)
        self.left.remove(uplink)
        return uplink
