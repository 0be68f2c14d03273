"""The FIFO queue before one link, as the reference engine has it.

A queue that is served in order knows a packet's departure when the packet comes, so there is no
event for it. Packets stay listed for as long as some scheme may ask about the past.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from models.fabric.config import FabricConfig


@dataclass(frozen=True, slots=True)
class Queued:
    """A packet that was put into a queue; times in byte times."""

    arrival: int
    start: int
    """When its transmission starts."""
    time: int
    """T, what it takes of the link, gap included."""


class Queue:
    """One link and the queue before it, at the sending end.

    Lengths are in bytes of link time unless the options of the schemes say otherwise.
    """

    def __init__(self, config: FabricConfig, link: int, stage: int) -> None:
        self.config = config
        self.link = link
        """Number of the link, as `models.fabric.network` counts them."""
        self.stage = stage
        self.end = 0
        """Node at the other end, as the engine numbers nodes."""
        self.port = 0
        """Input port there."""
        self.free = 0
        """When the link has sent all that was put in so far."""
        self.packets = self.data = self.lost = self.largest = self.area = 0
        self._listed: deque[Queued] = deque()
        options, gbps = config.options, config.link_gbps
        self._age = 0
        if options.queue_age_ns:
            self._age = max(1, options.queue_age_ns * gbps // 8)
        self._memory = max(self._age, config.latency + telemetry_period(config))

    def put(self, now: int, time: int, ack: bool) -> int | None:
        """Put in a packet that takes `time` of the link; return when its transmission starts, or
        None if there is no room and it is lost."""
        waits = self.backlog(now)
        limit = self.config.buffer_bytes
        if limit is not None and self.stage and waits + time > limit:
            self.lost += 1
            return None
        start = now + waits
        self.free = start + time
        self.packets += 1
        self.data += not ack
        self.largest = max(self.largest, waits + time)
        self.area += 2 * time * waits + time * time
        while self._listed and self._listed[0].start + self._listed[0].time <= now - self._memory:
            self._listed.popleft()
        self._listed.append(Queued(now, start, time))
        return start

    def backlog(self, now: int) -> int:
        """Bytes of link time still to be sent, with what is left of the packet in service."""
        return max(0, self.free - now)

    def backlog_before(self, time: int) -> int:
        """The backlog at a past time, of the packets that had been put in before it."""
        ends = [p.start + p.time for p in self._listed if p.arrival < time]
        return max(0, *(end - time for end in ends)) if ends else 0

    def length(self, now: int) -> int:
        """The length a scheme sees: options `queue_unit`, `queue_in_service`, `queue_age_ns`."""
        options = self.config.options
        time, packets = now, [*self._listed]
        if self._age:
            time = now // self._age * self._age
            packets = [p for p in packets if p.arrival < time]
        packets = [p for p in packets if p.start + p.time > time]
        if not options.queue_in_service:
            packets = [p for p in packets if p.start > time]
        if options.queue_unit == "packets":
            return len(packets)
        return sum(p.time - max(0, time - p.start) for p in packets)


def telemetry_period(config: FabricConfig) -> int:
    """P, how often a switch tells its neighbours of its queues, byte times (option
    `telemetry_ns`, at least one link latency)."""
    return max(config.options.telemetry_ns * config.link_gbps // 8, config.latency)
