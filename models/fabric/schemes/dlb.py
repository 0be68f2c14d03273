"""DLB: dynamic load balancing by the load and the queue of each own uplink (seed section 3.1).

Vendors say this much of DLB: a switch gives each port a quality band from the bytes that it sent
lately and from its queue, by default with equal weight, and takes the best port. The paper applies
it to packets and knows it from SGLB's, "the two local types of information". Exactly, here:

Rule: the badness of an uplink is the level of its rate estimator (`estimator.RateEstimator`) plus
that of its queue, ⌊levels·length / buffer⌋ but at most levels - 1, in the options' length and the
option `buffer_bytes` (with lengths in packets divided by T of a data packet, rounded down, at least
1). Of the valid uplinks of least badness one is drawn: index below(their number) in rising order.
Then the packet counts in that uplink's estimator.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, Switch, SwitchScheme
from models.fabric.schemes.estimator import RateEstimator, queue_level


class AtSwitch(SwitchScheme):
    """DLB, packet by packet."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        config = switch.config
        self.estimators = [RateEstimator(config) for _ in switch.uplinks]
        self.buffer = switch.in_unit(config.options.buffer_bytes)

    def badness(self, uplink: int, packet: Packet, now: int) -> int:
        """Level of the load plus level of the queue."""
        length = self.switch.uplinks[uplink].length(now)
        queue = queue_level(self.switch.config, length, self.buffer)
        return self.estimators[uplink].level(now) + queue

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one of the best."""
        uplink = self.switch.lowest([(self.badness(u, packet, now), u) for u in valid])
        self.estimators[uplink].add(now, packet.time)
        return uplink
