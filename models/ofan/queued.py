"""The queued-banked engine, cycle by cycle: which packets are served when.

The lanes of a pipe share Q queues: lane l is of queue l mod Q. The lanes of a batch with the same
⌊l / Q⌋ are a wave, and waves stand in order: those of one batch by their lanes, batches as they
came. Each cycle serves packets of two waves, the two oldest that have packets, and at most one of
each queue, its oldest:

- A bank serves one key a cycle, for packets of one wave, the older one first. Of this wave it takes
  the packet of the lowest lane and all that follow with the same key, up to the first with another.
- A packet of the younger wave waits while one of its wave is hidden behind another packet, in a
  queue of its own group of four or of a lower group. So packets of one key never pass each other.

There is room for `depth` batches; a batch whose packets are all gone makes room when it is the
oldest. Packets of a batch may be served in the cycle in which it comes. All packets that a bank
serves in one cycle get consecutive positions of its pointer.

Bound: the packet of the lowest lane of the oldest wave is always served, so the n packets that are
in the engine leave it in n cycles, whatever comes after them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import chain

from models.ofan.banks import place
from models.ofan.config import OfanConfig

GROUP = 4
"""Queues that are looked at together for hidden packets: a wider group would wait more often, a
narrower one makes a longer chain of gates."""

Wave = dict[int, int]
"""The packets of a wave that still wait: {lane: key}."""


class Queued:
    """The queues of one pipe. `step` is one clock cycle in which nothing stalls behind."""

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        self.queues = config.engine.queues_of(config.lanes_per_pipe)
        self.batches: deque[list[Wave]] = deque()

    @property
    def takes(self) -> bool:
        """Whether there is room for a batch in this cycle."""
        return len(self.batches) < self.config.engine.depth

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        """Take `batch` (the key of each lane, None where idle), if one is given, and serve.

        Returns {lane: key} of the packets served. Raises `ValueError` if there is no room.
        """
        if batch is not None:
            if not self.takes:
                raise ValueError("there is no room for a batch")
            self.batches.append(self._waves(batch))
        served: Wave = {}
        for wave, lanes in self._served():
            served |= {lane: wave.pop(lane) for lane in lanes}
        while self.batches and not any(self.batches[0]):
            self.batches.popleft()
        return served

    def _waves(self, batch: Sequence[int | None]) -> list[Wave]:
        return [
            {
                lane: key
                for lane in range(first, first + self.queues)
                if (key := batch[lane]) is not None
            }
            for first in range(0, len(batch), self.queues)
        ]

    def _served(self) -> list[tuple[Wave, list[int]]]:
        """Return the two waves, with the lanes whose packets are served now."""
        waves = [wave for wave in chain.from_iterable(self.batches) if wave][:2]
        held = self.queues
        """The first queue of the lowest group in which a packet of the younger wave is hidden."""
        if len(waves) == 2:
            queues = [{lane % self.queues for lane in wave} for wave in waves]
            held = min((q // GROUP * GROUP for q in queues[0] & queues[1]), default=held)
        busy: dict[int, tuple[Wave, int | None]] = {}
        """Of each bank: the wave it serves, and the key; no key once another one was met."""
        result = []
        for wave in waves:
            lanes = []
            for lane, key in sorted(wave.items()):
                if wave is not waves[0] and lane % self.queues >= held:
                    break
                bank, _ = place(key, self.config.engine.banks)
                at, served = busy.setdefault(bank, (wave, key))
                if at is wave and served == key:
                    lanes.append(lane)
                elif at is wave:
                    busy[bank] = (wave, None)
            result.append((wave, lanes))
        return result
