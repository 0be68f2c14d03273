"""A host as the reference engine has it: what it sends next, and when."""

from __future__ import annotations

import heapq
from collections import deque
from fractions import Fraction

from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.reference_queue import Queue
from models.fabric.schemes.base import HostScheme, Packet


class Host:
    """One host: its flows in a ring, the ACKs it owes and the link to its edge switch."""

    def __init__(
        self,
        config: FabricConfig,
        flows: Flows,
        rate: Fraction,
        link: Queue,
        scheme: HostScheme | None,
    ) -> None:
        self.config = config
        self.flows = flows
        self.rate = rate
        self.link = link
        self.scheme = scheme
        self.free = 0
        """When the link has sent what the host sent last."""
        self.owed: deque[Packet] = deque()
        """Data packets that have arrived and are not acknowledged yet."""
        self.coming: list[tuple[int, int]] = []
        """Heap of (time from which it may begin, flow) of flows that have not joined the ring."""
        self.ring: deque[int] = deque()
        """Flows that send; the first one is next."""
        self.sent: dict[int, int] = {}
        """Data packets sent of each flow in the ring."""
        self.count = 0
        """Data packets sent in all."""
        self.data_from = 0
        """Earliest start of the next data packet."""
        self.data_was_last = False

    def allow(self, flow: int, time: int) -> None:
        """Let a flow begin at `time`."""
        heapq.heappush(self.coming, (time, flow))

    def choose(self, now: int) -> Packet | None:
        """Return the packet whose transmission starts now, if the link is free and there is one."""
        if now < self.free:
            return None
        while self.coming and self.coming[0][0] <= now:
            flow = heapq.heappop(self.coming)[1]
            self.ring.append(flow)
            self.sent[flow] = 0
        data = bool(self.ring) and now >= self.data_from
        if data and self.owed:
            order = self.config.host_order
            data = order == "data-first" or (order == "alternate" and not self.data_was_last)
        if not data and not self.owed:
            return None
        packet = self._next_data(now) if data else self._next_ack()
        self.data_was_last = data
        self.free = now + packet.time
        if self.scheme:
            self.scheme.tag(packet, now)
        return packet

    def wakes(self) -> int | None:
        """Return when the host may have something to send next if nothing arrives, or None."""
        times = [self.coming[0][0]] if self.coming else []
        if self.ring:
            times.append(self.data_from)
        if self.owed:
            times.append(self.free)
        return max(self.free, min(times)) if times else None

    def _next_data(self, now: int) -> Packet:
        flow, flows = self.ring.popleft(), self.flows
        packet = Packet(
            flow=flow,
            number=self.sent[flow],
            ack=False,
            source=int(flows.source[flow]),
            destination=int(flows.destination[flow]),
            time=self.config.data_time,
        )
        self.sent[flow] += 1
        if self.sent[flow] < flows.packets[flow]:
            self.ring.append(flow)
        self.count += 1
        spacing = self.config.data_time / self.rate
        self.data_from = now + int(self.count * spacing) - int((self.count - 1) * spacing)
        return packet

    def _next_ack(self) -> Packet:
        data = self.owed.popleft()
        return Packet(
            flow=data.flow,
            number=data.number,
            ack=True,
            source=data.destination,
            destination=data.source,
            time=self.config.ack_time,
            answers=data,
        )
