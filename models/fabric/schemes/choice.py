"""CHOICE: the shortest of a few uplinks drawn at random (seed section 3.1, Table 1).

Rule: d = option `choices` draws, each the index below(number of valid uplinks) of the valid ones in
rising order; one uplink may be drawn more than once. The packet takes the shortest, of equal ones
the one drawn first. A single valid uplink is taken without draws.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, SwitchScheme


class AtSwitch(SwitchScheme):
    """The best of d choices."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw d and take the shortest."""
        switch = self.switch
        drawn = [switch.one_of(valid) for _ in range(switch.config.options.choices)]
        return min(drawn, key=lambda u: switch.uplinks[u].length(now))
