"""What every host of the tree sends, slot by slot: line rate, no queueing in the network.

A slot is the time of one data packet. In each slot a host sends one packet, data or ACK:

- data: its running flows in round-robin (section 2.2). A flow that begins joins at the end of the
  round, flows of one slot in the order of the matrix. It begins at its start time, or when its
  trigger starts it: `send_done_trigger` in the slot after a flow's last packet is sent,
  `recv_done_trigger` in the slot in which the last one's ACK may leave; a barrier in the last slot
  of all these; multishot starts one flow in each, in the order of the matrix.
- ACKs: one a data packet received, in the order of arrival (in one slot: by the sender's number).
  Data sent in slot s has arrived by the end of slot s + delay, so its ACK leaves in the slot after
  that at the earliest.
- both there are to send: data and ACKs in turn. So a host of a permutation goes through the three
  modes of appendix A: only data, data and ACKs interleaved, only ACKs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush

import numpy as np

from models.fabric.connections import Connections

SLOT_PS = 41_780
"""Time of a data packet of 4,096 + 62 B and a gap of 20 B at 800 Gb/s (section 6), picoseconds."""
PAYLOAD = 4096
"""Bytes of a message in one data packet (section 6)."""
DELAY = 77
"""Slots until a data packet has arrived: i1 - 1 of appendix A at the default settings."""

MAX_PACKETS = 2**28
"""Most data packets of all flows together: 1 GiB of due ACKs."""


class Hosts:
    """The hosts of a connection matrix. Iterate to get (slot, packets) of each slot in which there
    is anything to send, in rising order of slots.

    `packets` is int64 [nodes], 2·destination + (0 for data, 1 for an ACK), or -1 for a host that
    sends nothing. Each flow has `packets` data packets, or ⌈size / 4096⌉ if that is None. Raises
    `ValueError` if all flows together have more than `MAX_PACKETS`.
    """

    def __init__(self, connections: Connections, packets: int | None, delay: int) -> None:
        flows = connections.flows
        self.delay = delay
        self.source = np.array([flow.source for flow in flows], np.int64)
        self.destination = np.array([flow.destination for flow in flows], np.int64)
        each = [packets or -(-flow.size // PAYLOAD) for flow in flows]
        if (total := sum(each)) > MAX_PACKETS:
            raise ValueError(f"packets must be at most {MAX_PACKETS} in all flows, not {total}")
        self.left = np.array(each, np.int64)
        self.flows = flows
        self.waiting: dict[int, deque[int]] = {}
        self.needs = {number: trigger.needs for number, trigger in connections.triggers.items()}
        self.activated: dict[int, list[int]] = {}  # trigger -> slots
        timed = []
        for number, flow in enumerate(flows):
            if flow.trigger is not None:
                self.waiting.setdefault(flow.trigger, deque()).append(number)
            else:
                timed.append((-(-(flow.start or 0) // SLOT_PS), number))
        self.starts = sorted(timed)  # a heap of (slot, flow)
        # The running flows of a host are a ring; `turn` is the one to send next, -1 for none.
        self.after = np.zeros(len(flows), np.int64)
        self.before = np.zeros(len(flows), np.int64)
        self.turn = np.full(connections.nodes, -1)
        # Due ACKs: one queue a host, as long as it can ever get, in one array of flow numbers.
        due = np.bincount(self.destination, self.left, connections.nodes).astype(np.int64)
        self.head = due.cumsum() - due
        self.tail = self.head.copy()
        self.due = np.zeros(due.sum(), np.int32)
        self.single = bool((np.bincount(self.destination) <= 1).all())
        self.sent_data = np.zeros(connections.nodes, bool)

    def __iter__(self) -> Iterator[tuple[int, np.ndarray]]:
        flying: deque[tuple[int, np.ndarray]] = deque()  # (slot when its ACK may leave, flows)
        slot = 0
        while True:
            while self.starts and self.starts[0][0] <= slot:
                self._begin(heappop(self.starts)[1])
            while flying and flying[0][0] <= slot:
                self._arrive(flying.popleft()[1])
            data = self.turn >= 0
            ack = (self.head < self.tail) & (~data | self.sent_data)
            data &= ~ack
            packets = np.full(len(data), -1)
            host = np.flatnonzero(ack)
            if len(host):
                packets[host] = 2 * self.source[self.due[self.head[host]]] + 1
                self.head[host] += 1
                self.sent_data[host] = False
            acks = len(host)
            host = np.flatnonzero(data)
            if len(host):
                flow = self.turn[host]
                packets[host] = 2 * self.destination[flow]
                self.sent_data[host] = True
                self._advance(host, flow, slot)
                flying.append((slot + self.delay + 1, flow))
            if acks or len(host):
                yield slot, packets
                slot += 1
                continue
            coming = [queue[0][0] for queue in (self.starts, flying) if queue]
            if not coming:
                return
            slot = min(coming)

    def _begin(self, flow: int) -> None:
        """Put a flow at the end of its host's round."""
        host = self.source[flow]
        first = self.turn[host]
        if first < 0:
            self.turn[host] = self.after[flow] = self.before[flow] = flow
            return
        last = self.before[first]
        self.after[last] = self.before[first] = flow
        self.before[flow], self.after[flow] = last, first

    def _advance(self, host: np.ndarray, flow: np.ndarray, slot: int) -> None:
        """One packet of `flow` has left each `host`: turn the rings, take out what is through."""
        self.left[flow] -= 1
        self.turn[host] = self.after[flow]
        through = self.left[flow] == 0
        if not through.any():
            return
        host, flow = host[through], flow[through]
        after, before = self.after[flow], self.before[flow]
        self.after[before] = after
        self.before[after] = before
        self.turn[host] = np.where(after == flow, -1, after)
        for number in flow.tolist():
            for name, trigger in self.flows[number].activations():
                sent = name == "send_done_trigger"
                self._activate(trigger, slot + 1 if sent else slot + self.delay + 1)

    def _activate(self, trigger: int, slot: int) -> None:
        """A trigger is activated in `slot`."""
        waiting, slots = self.waiting.get(trigger), self.activated.setdefault(trigger, [])
        slots.append(slot)
        needs = self.needs.get(trigger, 1)
        if needs == 0 and waiting:  # multishot
            heappush(self.starts, (slot, waiting.popleft()))
        elif waiting and len(slots) == needs:
            for flow in self.waiting.pop(trigger):
                heappush(self.starts, (max(slots), flow))

    def _arrive(self, flow: np.ndarray) -> None:
        """One packet of each `flow` has arrived: its ACK is due."""
        host = self.destination[flow]
        if self.single:
            self.due[self.tail[host]] = flow
            self.tail[host] += 1
            return
        order = np.argsort(host, kind="stable")
        host = host[order]
        counts = np.bincount(host, minlength=len(self.tail))
        first = counts.cumsum() - counts
        self.due[self.tail[host] + np.arange(len(host)) - first[host]] = flow[order]
        self.tail += counts
