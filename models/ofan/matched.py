"""The matched-banked engine, cycle by cycle: which packets are served when.

Batches wait in a queue of `engine.depth`, and only the one at the head is looked at; a batch that
finds the queue empty is at the head in the cycle in which it arrives. A bank serves one key a
cycle. Each cycle the engine serves, of the packets that the head has left, the longest prefix in
lane order that asks no bank for two keys, and the next batch comes to the head when none is left.

All packets that a bank serves in one cycle get consecutive positions of its pointer. Packets leave
in order of arrival, so those of one key do too.

Bound: the first packet left is always served, and a batch of n packets with d different keys in its
fullest bank is gone after at most n cycles, and no earlier than after d. So a batch waits at most
as many cycles as there are packets in front of it.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.ofan.prefix import prefix
from models.ofan.waiting import Waiting


class Matched(Waiting):
    """One pipe. `step` is a clock cycle in which nothing stalls behind."""

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        """Take `batch`, if one is given, and serve; return {lane: key} of the packets served.

        Raises `ValueError` if the batch is not to be taken.
        """
        if batch is not None:
            self.take(batch)
        if not self.waiting:
            return {}
        head = self.waiting[0]
        served = prefix(head, self.config.engine.banks)
        for lane in served:
            del head[lane]
        if not head:
            self.waiting.popleft()
        return served
