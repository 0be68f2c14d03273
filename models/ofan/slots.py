"""Where packets wait in the queued-banked engine, and which may be served in a cycle.

The lanes of a pipe share Q queues: lane l is of queue l mod Q. The lanes of a batch with the same
⌊l / Q⌋ are a wave, and waves stand in order: those of one batch by their lanes, batches as they
came. Packets of the two oldest waves that have packets may be served, and at most one of each
queue, its oldest. A packet of the younger wave waits while one of its wave is hidden behind another
packet, in a queue of its own group of four or of a lower group.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import chain

GROUP = 4
"""Queues that are looked at together for hidden packets: a wider group would wait more often, a
narrower one makes a longer chain of gates."""

Wave = dict[int, int]
"""The packets of a wave that wait, by lane: {lane: key}."""


class Slots:
    """The packets of one pipe that wait: room for `depth` batches of `lanes` packets."""

    def __init__(self, lanes: int, queues: int, depth: int) -> None:
        self.lanes = lanes
        self.queues = queues
        self.depth = depth
        self._batches: deque[list[Wave]] = deque()

    @property
    def takes(self) -> bool:
        """Whether there is room for a batch: a batch whose packets are all gone makes room when it
        is the oldest."""
        return len(self._batches) < self.depth

    def take(self, batch: Sequence[int | None]) -> None:
        """Take a batch: the key of each lane, None where idle. Raises `ValueError` if there is no
        room."""
        if not self.takes:
            raise ValueError("there is no room for a batch")
        waves: list[Wave] = []
        for first in range(0, self.lanes, self.queues):
            lanes = range(first, first + self.queues)
            waves.append({lane: key for lane in lanes if (key := batch[lane]) is not None})
        self._batches.append(waves)

    @property
    def empty(self) -> bool:
        """Whether no packet waits."""
        return not self.waves

    @property
    def waves(self) -> list[Wave]:
        """The two oldest waves that have packets."""
        return [wave for wave in chain.from_iterable(self._batches) if wave][:2]

    def shown(self) -> list[Wave]:
        """Return the packets of the older and of the younger wave that may be served."""
        if len(self.waves) < 2:
            return self.waves
        older, younger = self.waves
        hidden = {lane % self.queues for lane in older} & {lane % self.queues for lane in younger}
        held = min((queue // GROUP * GROUP for queue in hidden), default=self.queues)
        return [older, {lane: key for lane, key in younger.items() if lane % self.queues < held}]

    def drop(self, served: list[Wave]) -> None:
        """Forget packets of the two waves, as `shown` gave them, that were served."""
        for wave, gone in zip(self.waves, served, strict=True):
            for lane in gone:
                del wave[lane]
        while self._batches and not any(self._batches[0]):
            self._batches.popleft()
