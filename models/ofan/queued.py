"""The queued-banked engine, cycle by cycle: which packets are served when.

The lanes of a pipe share Q short queues: lane l uses queue l mod Q. The lanes with the same ⌊l / Q⌋
are a wave; the waves of a batch that have a packet are numbered on in order of arrival. Each cycle
the engine looks at the head of every queue, and only at the two oldest waves that still have
packets:

- A bank serves one key a cycle, for packets of one wave, the older one first. Of this wave it takes
  the packet of the lowest lane and all that follow with the same key, up to the first with another.
- A packet of the younger wave waits while one of a lower lane of its wave is hidden behind another
  packet in its queue. So packets of one key never pass each other.

A batch is taken if every queue has room for its packets, and its packets may be served in the same
cycle. All packets that a bank serves in one cycle get consecutive positions of its pointer.

Bound: the packet of the lowest lane of the oldest wave is always served, so a batch of n packets
leaves at most n cycles after the one before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from models.ofan.banks import place
from models.ofan.config import OfanConfig

WAVES = 8
"""Waves that may be under way at once; numbers of waves are kept modulo this."""


@dataclass(frozen=True)
class Waiting:
    """A packet in a queue."""

    lane: int
    key: int
    wave: int


class Queued:
    """The queues of one pipe. `step` is one clock cycle in which nothing stalls behind."""

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        lanes = config.lanes_per_pipe
        self.count = config.engine.queues_of(lanes)
        self.fold = lanes // self.count
        self.queues: list[deque[Waiting]] = [deque() for _ in range(self.count)]
        self.oldest = self.next = 0

    @property
    def empty(self) -> bool:
        """Whether no packet waits."""
        return self.oldest == self.next

    def takes(self, batch: Sequence[int | None]) -> bool:
        """Whether a batch (the key of each lane, None where idle) is taken in this cycle."""
        if self.next - self.oldest > WAVES - self.fold:
            return False
        for number, queue in enumerate(self.queues):
            arriving = sum(key is not None for key in batch[number :: self.count])
            if len(queue) + arriving > self.config.engine.depth:
                return False
        return True

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        """Take `batch`, if one is given, and serve; return {lane: key} of the packets served.

        Raises `ValueError` if the batch is not to be taken.
        """
        if batch is not None:
            if not self.takes(batch):
                raise ValueError("the queues have no room for this batch")
            self._take(batch)
        served = self._served()
        for waiting in served:
            self.queues[waiting.lane % self.count].popleft()
        left = {waiting.wave for queue in self.queues for waiting in queue}
        for _ in range(2):
            if self.oldest < self.next and self.oldest not in left:
                self.oldest += 1
        return {waiting.lane: waiting.key for waiting in served}

    def _take(self, batch: Sequence[int | None]) -> None:
        for first in range(0, len(batch), self.count):
            wave = batch[first : first + self.count]
            if any(key is not None for key in wave):
                for number, key in enumerate(wave):
                    if key is not None:
                        self.queues[number].append(Waiting(first + number, key, self.next))
                self.next += 1

    def _served(self) -> list[Waiting]:
        heads = [queue[0] if queue else None for queue in self.queues]
        served: list[Waiting] = []
        busy: dict[int, tuple[int, int | None]] = {}
        """Of each bank: the wave it serves, and the key; no key once another one was met."""
        hidden = False
        for wave in (self.oldest, self.oldest + 1):
            for queue, head in zip(self.queues, heads, strict=True):
                if head is None or head.wave != wave:
                    hidden |= any(waiting.wave == wave for waiting in queue)
                elif not hidden:
                    bank, _ = place(head.key, self.config.engine.banks)
                    at, key = busy.setdefault(bank, (wave, head.key))
                    if at == wave and key == head.key:
                        served.append(head)
                    elif at == wave:
                        busy[bank] = (wave, None)
        return served
