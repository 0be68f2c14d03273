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

from typing import Any

from models.fabric.engine_choice import one_below
from models.fabric.engine_queues import queue_length, time_of
from models.fabric.engine_state import END, HALF, int64
from models.fabric.kernel import Kernel
from models.fabric.schemes import estimator
from models.fabric.schemes.base import Packet, Switch, SwitchScheme
from models.fabric.schemes.estimator import (
    BUFFER,
    ESTIMATOR_FIELDS,
    FIRST_ESTIMATOR,
    RateEstimator,
    count_packet,
    level_of,
    load_level,
    queue_level,
)


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
        s.judged[uplink] = bad
        least = min(least, bad)
    uplink = one_below(s, switch, least + 1)
    takes = time_of(s, payload)
    count_packet(own, estimators + ESTIMATOR_FIELDS * uplink, time, takes)
    return uplink


KERNEL = Kernel(pick, estimator.prepare, helpers=estimator.HELPERS)
