"""What a bench of `queued-banked` must have seen, read from the model of its schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from models.ofan.config import OfanConfig
from models.ofan.queued import Queued
from models.ofan.slots import GROUP, Wave
from tb.ofan.bank_coverage import Uses, uses_rows


def rows(c: OfanConfig) -> Iterator[tuple[str, str, bool]]:
    """Yield (bin, meaning, whether it can be reached) for the test `traffic`."""
    engine, lanes = c.engine, c.lanes_per_pipe
    count = engine.queues_of(lanes)
    fold = lanes // count
    conflict = c.keys > engine.banks and count > 1
    waits = fold > 1 or conflict
    two = fold > 1 or (conflict and engine.depth > 1)
    several = min(engine.banks, c.keys) > 1 and count > 1
    yield from uses_rows(count)
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
        self._uses = Uses(config.engine.banks)
        self._taken = 0

    @property
    def refusal(self) -> str:
        """Why no batch is taken."""
        return "" if self.takes else "all slots taken"

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        self.seen = set()
        if batch is not None:
            if self._taken % self.depth == 0 and not self.slots.empty:
                self.seen.add("turn of slots wraps")
            self._taken += 1
        served = super().step(batch)
        self.seen |= self._uses.seen(served)
        return served

    def _served(self) -> list[Wave]:
        waves, served = self.slots.waves, super()._served()
        bank = self._uses.bank
        for wave, mine in zip(waves, served, strict=True):
            for lane, key in wave.items():
                others = [other for other in mine.values() if other != key]
                if lane not in mine and any(bank(key) == bank(other) for other in others):
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
        busy = {self._uses.bank(key) for key in (*old.values(), *gone[1].values())}
        for lane, key in young.items():
            queue = lane % self.slots.queues
            waits = behind and queue // GROUP >= min(behind) // GROUP
            if waits and queue not in behind and self._uses.bank(key) not in busy:
                self.seen.add("hidden packet")
