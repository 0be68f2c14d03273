"""Simple RR: each switch rotates all packets that go up over its uplinks (seed section 3.1).

Rule: the pointer starts at below(w) of the switch's stream. A packet takes the uplink pointed at;
the pointer moves on by one modulo w. Invalid uplinks are passed by further increments. With option
`rr_pointers` "split", ACKs have a pointer of their own, drawn second.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, Switch, SwitchScheme


class AtSwitch(SwitchScheme):
    """One pointer, or one for data and one for ACKs."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.half = switch.tree.half
        count = 2 if switch.config.options.rr_pointers == "split" else 1
        self.pointers = [switch.one_of(range(self.half)) for _ in range(count)]

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Take the next in turn."""
        which = packet.ack % len(self.pointers)
        uplink = self.pointers[which]
        while uplink not in valid:
            uplink = (uplink + 1) % self.half
        self.pointers[which] = (uplink + 1) % self.half
        return uplink
