"""The queued-banked engine, cycle by cycle: which packets are served when.

The lanes of a pipe share Q queues: lane l is of queue l mod Q. The lanes with the same ⌊l / Q⌋ are
a wave. A batch that is taken fills one of `depth` sets of slots, a slot a lane, in turn; its waves
line up behind those of the batches before it, without the ones that have no packet. Each cycle
serves packets of the two oldest waves, and at most one of each queue, its oldest:

- A bank serves one key a cycle, for packets of one wave, the older one first. Of this wave it takes
  the packet of the lowest lane and all that follow with the same key, up to the first with another.
- A packet of the younger wave waits while one of a lower lane of its wave is hidden behind another
  packet in its queue. So packets of one key never pass each other.

A batch is taken while the set that is its turn holds no packet, and there is room for its waves.
Its packets may be served in the same cycle. All packets that a bank serves in one cycle get
consecutive positions of its pointer.

Bound: the packet of the lowest lane of the oldest wave is always served, so the n packets that are
in the engine leave it in n cycles, whatever comes after them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from models.ofan.banks import place
from models.ofan.config import OfanConfig


@dataclass
class Wave:
    """The packets of a wave that still wait, {lane: key}, and the set of slots they are in."""

    packets: dict[int, int]
    slots: int


class Queued:
    """The queues of one pipe. `step` is one clock cycle in which nothing stalls behind."""

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        lanes = config.lanes_per_pipe
        self.queues = config.engine.queues_of(lanes)
        self.most = config.engine.waves_of(lanes)
        self.waves: deque[Wave] = deque()
        self.turn = 0
        """The set of slots that the next batch goes to."""

    @property
    def takes(self) -> bool:
        """Whether a batch is taken in this cycle."""
        fold = self.config.lanes_per_pipe // self.queues
        free = all(wave.slots != self.turn for wave in self.waves)
        return free and len(self.waves) + fold <= self.most

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        """Take `batch` (the key of each lane, None where idle), if one is given, and serve.

        Returns {lane: key} of the packets served. Raises `ValueError` if no batch is to be taken.
        """
        if batch is not None:
            if not self.takes:
                raise ValueError("there is no room for a batch")
            self._take(batch)
        served: dict[int, int] = {}
        for wave, lanes in self._served():
            served |= {lane: wave.packets.pop(lane) for lane in lanes}
        for _ in range(2):
            if self.waves and not self.waves[0].packets:
                self.waves.popleft()
        return served

    def _take(self, batch: Sequence[int | None]) -> None:
        for first in range(0, len(batch), self.queues):
            lanes = range(first, first + self.queues)
            packets = {lane: key for lane in lanes if (key := batch[lane]) is not None}
            if packets:
                self.waves.append(Wave(packets, self.turn))
        self.turn = (self.turn + 1) % self.config.engine.depth

    def _served(self) -> list[tuple[Wave, list[int]]]:
        """Return the lanes that each of the two oldest waves may send to their banks now."""
        visible = list(self.waves)[:2]
        taken: set[int] = set()
        """Queues with a packet of the older wave."""
        busy: dict[int, tuple[Wave, int | None]] = {}
        """Of each bank: the wave it serves, and the key; no key once another one was met."""
        result = []
        for wave in visible:
            lanes = []
            for lane, key in sorted(wave.packets.items()):
                if lane % self.queues in taken:
                    break  # hidden, and so are those behind it
                bank, _ = place(key, self.config.engine.banks)
                at, served = busy.setdefault(bank, (wave, key))
                if at is wave and served == key:
                    lanes.append(lane)
                elif at is wave:
                    busy[bank] = (wave, None)
            result.append((wave, lanes))
            taken |= {lane % self.queues for lane in wave.packets}
        return result
