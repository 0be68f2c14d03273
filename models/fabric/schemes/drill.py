"""DRILL(d, m): like CHOICE, but the best uplinks of the last decision are looked at again
(seed section 3.1, Table 1).

Rule: d = option `choices` draws as CHOICE makes them. Looked at are the uplinks remembered, if they
are valid for this packet, then those drawn, each uplink once, at its first place. The packet takes
the shortest, of equal ones the first. The m = option `memory` shortest of those looked at, with the
lengths before this packet, are what the switch remembers for its next packet (of equal ones the
first). At the start nothing is remembered.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, Switch, SwitchScheme


class AtSwitch(SwitchScheme):
    """DRILL, with one memory a switch."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.memory: list[int] = []

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw d, look at them and at the memory, and take the shortest."""
        switch, options = self.switch, self.switch.config.options
        drawn = [switch.one_of(valid) for _ in range(options.choices)]
        looked_at = dict.fromkeys([u for u in self.memory if u in valid] + drawn)
        best = sorted(looked_at, key=lambda u: switch.uplinks[u].length(now))  # stable
        self.memory = best[: options.memory]
        return best[0]
