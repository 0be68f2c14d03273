"""The sorted-banked engine, cycle by cycle: which packets are at the banks when.

Batches stand in a queue of `engine.depth`; the one at its head stays there for its rounds
(models/ofan/rounds.py), and one that finds the queue empty is at the head in the cycle in which it
arrives. All answers of a batch leave together, with its last round.

The hardware sorts between the queue and the banks, in stages that move together. It holds more
batches than the queue; but a gap between two of them stays while they stand, where this model
closes it.

Bound: a batch of n packets leaves at most max(n, 1) cycles after the one before it; in hardware, if
it was taken g cycles after that one, at most max(n, 1) + g - 1 after it, or as soon as its rounds
are done.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.ofan.config import OfanConfig
from models.ofan.rounds import rounds
from models.ofan.waiting import Waiting


class SortedBanked(Waiting):
    """One pipe. `step` is a clock cycle in which nothing stalls behind."""

    def __init__(self, config: OfanConfig) -> None:
        super().__init__(config)
        self.done = 0
        """Rounds that the batch at the head has had."""

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        """Take `batch`, if one is given, and do a round; return {lane: key} of the batch whose
        last round it was.

        Raises `ValueError` if the batch is not to be taken.
        """
        if batch is not None:
            self.take(batch)
        if not self.waiting:
            return {}
        self.done += 1
        if self.done < len(rounds(list(self.waiting[0].values()), self.config.engine.banks)):
            return {}
        self.done = 0
        return self.waiting.popleft()
