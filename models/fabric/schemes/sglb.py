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

from typing import Any

from models.fabric.engine_choice import members, one_below
from models.fabric.engine_queues import queue_length, time_of, told_backlog
from models.fabric.engine_state import (
    AGG_LINKS,
    EDGE_BITS,
    EDGES_A_POD,
    END,
    FAILING,
    FULL,
    HALF,
    HOSTS,
    LATENCY,
    LEVELS,
    PERIOD,
    POD_BITS,
    PODS,
    TOP_LINKS,
    int64,
)
from models.fabric.kernel import Kernel
from models.fabric.reference_queue import telemetry_period
from models.fabric.schemes import dlb, estimator
from models.fabric.schemes.base import Packet, Top
from models.fabric.schemes.estimator import (
    BUFFER,
    BUFFER_BYTES,
    ESTIMATOR_FIELDS,
    FIRST_ESTIMATOR,
    count_packet,
    level_of,
    load_level,
    queue_level,
)


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
    estimators = FIRST_ESTIMATOR + ESTIMATOR_FIELDS * s.parameter[HALF] * switch
    least = int64(END)
    for uplink in range(s.parameter[HALF]):
        bad = int64(END)
        if valid >> uplink & 1:
            bad = load_level(own, estimators + ESTIMATOR_FIELDS * uplink, time)
            bad += level_of(own, queue_length(s, first + uplink, time), own[BUFFER])
            bad += level_of(own, told_behind(s, switch, uplink, to, time), own[BUFFER_BYTES])
        s.judged[uplink] = bad
        least = min(least, bad)
    uplink = one_below(s, switch, least + 1)
    takes = time_of(s, payload)
    count_packet(own, estimators + ESTIMATOR_FIELDS * uplink, time, takes)
    return uplink


def told_behind(s: Any, switch: int, uplink: int, to: int, time: int) -> int:
    """B, for the fast engine; `to` is the code of the destination edge switch or pod."""
    p, w, k = s.parameter, s.parameter[HALF], 2 * s.parameter[HALF]
    period = (time - p[LATENCY]) // p[PERIOD]
    if period < 0:
        return int64(0)
    edges = p[PODS] * p[EDGES_A_POD]
    if p[LEVELS] == 2:
        return told_backlog(s, p[TOP_LINKS] + uplink * k + to, period)
    if switch >= edges:
        top = (switch - edges) % w * w + uplink
        return told_backlog(s, p[TOP_LINKS] + top * k + to, period)
    agg = switch // w * w + uplink
    pod = to >> p[EDGE_BITS]
    if pod == switch // w:
        place = to & (int64(1) << p[EDGE_BITS]) - 1
        return told_backlog(s, p[AGG_LINKS] + agg * w + place, period)
    valid = p[FULL]
    if p[FAILING]:
        valid = s.agg_valid[(agg << p[POD_BITS]) + pod]
    backlogs = int64(0)
    for v in range(w):
        if valid >> v & 1:
            backlogs += told_backlog(s, 2 * p[HOSTS] + agg * w + v, period)
    return backlogs // members(valid)


KERNEL = Kernel(pick, estimator.prepare, helpers=(*estimator.HELPERS, told_behind), published=True)
