"""What a bench of `matched-banked` must have seen, read from the model of its schedule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from models.ofan.config import OfanConfig
from models.ofan.matched import Matched
from tb.ofan.bank_coverage import Uses, uses_rows


def rows(c: OfanConfig) -> Iterator[tuple[str, str, bool]]:
    """Yield (bin, meaning, whether it can be reached) for the test `traffic`."""
    lanes = c.lanes_per_pipe
    conflict = c.keys > c.engine.banks and lanes > 1
    apart = c.pipes > 1 and c.engine.depth > 1 and conflict
    yield from uses_rows(lanes)
    yield "prefix ends in a conflict", "packets wait for a bank that serves another key", conflict
    wait = "packets wait behind a conflict, their own banks being free"
    yield "wait behind a conflict", wait, conflict and lanes > 2
    yield "queue full", "a batch waits since as many are in the queue as have room", conflict
    yield "batch leaves in several beats", "its packets are served apart", conflict
    yield "beat of several batches", "a beat of m_axis answers packets of two", apart


class WatchedMatched(Matched):
    """One pipe; `seen` has the names of what the last step was a case of."""

    def __init__(self, config: OfanConfig) -> None:
        super().__init__(config)
        self.seen: set[str] = set()
        self._uses = Uses(config.engine.banks)

    @property
    def refusal(self) -> str:
        """Why no batch is taken."""
        return "" if self.takes else "queue full"

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        first = self.waiting[0] if self.waiting else None
        if first is None and batch is not None:
            first = {lane: key for lane, key in enumerate(batch) if key is not None}
        there = dict(first or {})
        served = super().step(batch)
        self.seen = self._uses.seen(served)
        left = {lane: key for lane, key in there.items() if lane not in served}
        if left:
            self.seen.add("prefix ends in a conflict")
            busy = {self._uses.bank(key) for key in served.values()}
            if any(self._uses.bank(key) not in busy for key in left.values()):
                self.seen.add("wait behind a conflict")
        return served
