"""AR: adaptive routing by coarse queue lengths, JSQ with a few levels (seed section 3.1, Table 1).

Rule: an uplink's level is how many of the thresholds ⌊percent·buffer_bytes / 100⌋ (option
`quanta_percent`; 5, 10 and 20 %) its length has reached; with lengths in packets a threshold is
divided by T of a data packet, rounded down, at least 1. Of the valid uplinks of the lowest level
one is drawn: index below(their number) in rising order.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, Switch, SwitchScheme


class AtSwitch(SwitchScheme):
    """Adaptive routing."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        options = switch.config.options
        self.thresholds = [
            switch.in_unit(percent * options.buffer_bytes // 100)
            for percent in options.quanta_percent
        ]

    def level(self, length: int) -> int:
        """Number of thresholds that a length has reached."""
        return sum(threshold <= length for threshold in self.thresholds)

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one of the lowest level."""
        lengths = [(self.switch.uplinks[u].length(now), u) for u in valid]
        return self.switch.lowest([(self.level(length), u) for length, u in lengths])
