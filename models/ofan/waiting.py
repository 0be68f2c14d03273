"""Batches that wait in front of a banked engine, the oldest one at the head."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from models.ofan.config import OfanConfig


class Waiting:
    """The queue of one pipe: `engine.depth` batches. A batch that finds it empty is at its head in
    the cycle in which it arrives."""

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        self.waiting: deque[dict[int, int]] = deque()
        """Key of each lane that a batch has left, the oldest batch first."""

    @property
    def empty(self) -> bool:
        """Whether no packet waits."""
        return not self.waiting

    @property
    def takes(self) -> bool:
        """Whether a batch is taken in this cycle."""
        return len(self.waiting) < self.config.engine.depth

    def take(self, batch: Sequence[int | None]) -> None:
        """Take a batch (the key of each lane, None where idle); one without packets takes no place.

        Raises `ValueError` if the queue is full.
        """
        if not self.takes:
            raise ValueError("the queue has no room for a batch")
        packets = {lane: key for lane, key in enumerate(batch) if key is not None}
        if packets:
            self.waiting.append(packets)
