"""SGLB: DLB that also knows the queues of the next switches (seed sections 3.1 and 7).

SGLB and GLB judge a path by the local port and by what the next switches tell of theirs. Exactly,
here: every switch tells all its backlogs at the multiples of P = max(option `telemetry_ns`, link
latency), and its neighbours know them one link latency L later: a decision at time t uses those of
time n·P, n = ⌊(t - L)/P⌋, of the packets that had been put in before n·P; zeros while n < 0.

Rule: the badness of an uplink is DLB's plus the level of the way behind it, ⌊levels·B /
buffer_bytes⌋ but at most levels - 1 (B in bytes whatever the unit of lengths). B is what the next
switch tells of its downlink towards the destination, if the way leads down there; else the mean,
rounded down, of its uplinks that are valid for the destination. The choice is then DLB's.
Switches further on are out of sight, and B depends on the destination, although Table 1 counts
SGLB among the schemes that do not look at it.
"""

from __future__ import annotations

from models.fabric.reference_queue import telemetry_period
from models.fabric.schemes import dlb
from models.fabric.schemes.base import Packet, Top
from models.fabric.schemes.estimator import queue_level


class AtSwitch(dlb.AtSwitch):
    """SGLB, packet by packet."""

    def badness(self, uplink: int, packet: Packet, now: int) -> int:
        """DLB's, plus what the next switch has told."""
        config = self.switch.config
        told = self.told(uplink, packet.destination, now)
        return super().badness(uplink, packet, now) + queue_level(
            config, told, config.options.buffer_bytes
        )

    def told(self, uplink: int, host: int, now: int) -> int:
        """B, the backlog behind an uplink on the way to a host, bytes."""
        config, above = self.switch.config, self.switch.above[uplink]
        period = telemetry_period(config)
        number = (now - config.latency) // period
        if number < 0:
            return 0
        if isinstance(above, Top) or above.is_above(host):
            return above.downlink_to(host).backlog_before(number * period)
        valid = above.valid_to(host)
        backlogs = [above.uplinks[v].backlog_before(number * period) for v in valid]
        return sum(backlogs) // len(valid)
