"""What a bench of `queued-banked` must have seen, read from the model of its schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from models.ofan.config import OfanConfig
from models.ofan.place import place
from models.ofan.queued import Queued
from models.ofan.slots import GROUP, Wave

APART = 3
"""Cycles between two uses of a pointer up to which they are counted: read, advance and write."""


def rows(c: OfanConfig) -> Iterator[tuple[str, str, bool]]:
    """Yield (bin, meaning, whether it can be reached) for the test `traffic`."""
    engine, lanes = c.engine, c.lanes_per_pipe
    count = engine.queues_of(lanes)
    fold = lanes // count
    conflict = c.keys > engine.banks and count > 1
    waits = fold > 1 or conflict
    two = fold > 1 or (conflict and engine.depth > 1)
    several = min(engine.banks, c.keys) > 1 and count > 1
    for size in range(1, count + 1):
        yield f"bank serves {size}", "so many packets of a pointer in one cycle", True
    apart = "a pointer is used again so many cycles after its last use, stalls not counted"
    for cycles in range(1, APART + 1):
        yield f"same key served {cycles} cycles later", apart, True
    yield "bank conflict", "two packets of a wave want two pointers of one bank", conflict
    yield "same key in two waves", "and so the younger wave's packets wait", two and count > 1
    yield "younger wave served", "packets of two waves are served in one cycle", two and several
    hidden = "packets of the younger wave wait for one that is not seen yet, their banks being free"
    yield "hidden packet", hidden, two and several
    yield "two waves end", "in one cycle", two and several
    yield "all slots taken", "a batch waits since as many are inside as have room", waits
    turn = "a batch goes to the first set of slots while another one is inside"
    yield "turn of slots wraps", turn, two and engine.depth > 1
    yield "batch leaves in several beats", "its packets are served apart", waits
    apart = c.pipes > 1 or (several and engine.depth > 1)
    yield "beat of several batches", "a beat of m_axis answers packets of two", two and apart


class WatchedQueued(Queued):
    """The queues of one pipe; `seen` has the names of what the last step was a case of."""

    def __init__(self, config: OfanConfig) -> None:
        super().__init__(config)
        self.depth = config.engine.depth
        self.seen: set[str] = set()
        self._steps = self._taken = 0
        self._last: dict[int, int] = {}

    @property
    def refusal(self) -> str:
        """Why no batch is taken."""
        return "" if self.takes else "all slots taken"

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        self.seen = set()
        self._steps += 1
        if batch is not None:
            if self._taken % self.depth == 0 and not self.slots.empty:
                self.seen.add("turn of slots wraps")
            self._taken += 1
        served = super().step(batch)
        for key in set(served.values()):
            count = sum(other == key for other in served.values())
            self.seen.add(f"bank serves {count}")
            apart = self._steps - self._last.get(key, -APART)
            if apart <= APART:
                self.seen.add(f"same key served {apart} cycles later")
            self._last[key] = self._steps
        return served

    def _served(self) -> list[Wave]:
        waves, served = self.slots.waves, super()._served()
        for wave, mine in zip(waves, served, strict=True):
            for lane, key in wave.items():
                if lane not in mine and any(
                    self._bank(key) == self._bank(other) and key != other for other in mine.values()
                ):
                    self.seen.add("bank conflict")
        if len(waves) > 1:
            self._look(waves, served)
        return served

    def _look(self, waves: list[Wave], gone: list[Wave]) -> None:
        """Look at two waves at once, and at what is served of them."""
        old, young = waves
        if set(gone[0].values()) & set(young.values()):
            self.seen.add("same key in two waves")
        if gone[1]:
            self.seen.add("younger wave served")
        if len(gone[0]) == len(old) and len(gone[1]) == len(young):
            self.seen.add("two waves end")
        queues = [{lane % self.slots.queues for lane in wave} for wave in (old, young)]
        behind = queues[0] & queues[1]
        busy = {self._bank(key) for key in (*old.values(), *gone[1].values())}
        for lane, key in young.items():
            queue = lane % self.slots.queues
            waits = behind and queue // GROUP >= min(behind) // GROUP
            if waits and queue not in behind and self._bank(key) not in busy:
                self.seen.add("hidden packet")

    def _bank(self, key: int) -> int:
        return place(key, self.banks)[0]
