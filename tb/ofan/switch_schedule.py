"""When the lanes of a banked switch leave, to the cycle, from the models of its schedule.

```
s_axis ──► [lookup] ──► model of the engine: who is served ──► as many cycles as it takes ──► m_axis
```

A pipe has all of that of its own. While an answer waits at m_axis everything but a lookup and the
queue of `matched-banked` stands still. `sorted-banked` has what stands between its queue and its
banks to be modelled too: `tb.ofan.sorted_schedule`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from models.ofan.config import OfanConfig
from models.ofan.switch import Packet
from tb.ofan.matched_coverage import WatchedMatched
from tb.ofan.queued_coverage import WatchedQueued
from tb.ofan.sorted_schedule import SortedPipe
from tb.ofan.switch_cycle import Held, Keys


class AnyPipe(Protocol):
    """One pipe of a switch."""

    wrote: bool
    """The pipe has taken the write that is offered."""

    @property
    def leaving(self) -> Iterable[int]:
        """The lanes that have an answer now."""
        ...

    @property
    def seen(self) -> set[str]:
        """Names of what the last cycle was a case of, for the coverage."""
        ...

    @property
    def refusal(self) -> str:
        """Why no batch is taken, for the coverage."""
        ...

    def takes(self, held: Held) -> bool:
        """Whether a batch is taken."""
        ...

    def tick(self, batch: Keys | None, held: Held) -> None:
        """A cycle ends in which `batch` was taken."""
        ...


class Schedule:
    """All pipes of a switch with a banked engine."""

    def __init__(self, config: OfanConfig, latency: int) -> None:
        self.config = config
        kind = SortedPipe if config.engine.kind == "sorted-banked" else Pipe
        self.pipes: list[AnyPipe] = [kind(config, latency) for _ in range(config.pipes)]

    @property
    def leaving(self) -> int:
        """The lanes that m_axis has an answer of now, bit l for lane l."""
        lanes = self.config.lanes_per_pipe
        return sum(
            1 << pipe * lanes + lane
            for pipe, there in enumerate(self.pipes)
            for lane in there.leaving
        )

    def takes(self, held: Held) -> bool:
        """Whether a batch is taken now."""
        return all(pipe.takes(held) for pipe in self.pipes)

    def tick(self, packets: Sequence[Packet] | None, held: Held) -> None:
        """A cycle ends in which a batch was taken, or None."""
        for number, pipe in enumerate(self.pipes):
            pipe.tick(None if packets is None else self._keys(packets, number), held)
        if all(pipe.wrote for pipe in self.pipes):
            for pipe in self.pipes:
                pipe.wrote = False

    def _keys(self, packets: Sequence[Packet], pipe: int) -> Keys:
        c = self.config
        keys: list[int | None] = [None] * c.lanes_per_pipe
        for packet in packets:
            number, lane = divmod(packet.lane, c.lanes_per_pipe)
            if number == pipe:
                keys[lane] = c.key(packet.destination, packet.size_class)
        return keys


class Pipe:
    """What waits in the lookup of a pipe, its engine, and what is on its way out."""

    def __init__(self, config: OfanConfig, latency: int) -> None:
        self.queues = config.engine.kind == "matched-banked"
        """Whether batches are taken while all else stands still."""
        self.engine: Any = (WatchedMatched if self.queues else WatchedQueued)(config)
        self.lookup = config.lookup != "none"
        self.front: Keys | None = None
        """The batch in the lookup."""
        depth = latency - self.lookup
        self.behind: deque[dict[int, int]] = deque([{}] * depth, depth)
        """Packets that have been served, {lane: key}, a set for each cycle; the last leaves."""
        self.wrote = False

    @property
    def leaving(self) -> Iterable[int]:
        return self.behind[-1]

    @property
    def seen(self) -> set[str]:
        return self.engine.seen

    @property
    def refusal(self) -> str:
        return self.engine.refusal

    def takes(self, held: Held) -> bool:
        if held.writing and not held.written:
            return False
        return (self.lookup and self.front is None) or self._enters(held)

    def tick(self, batch: Keys | None, held: Held) -> None:
        enters = batch
        if self.lookup:
            waits = self.front is not None and not self._enters(held)
            enters = None if waits else self.front
            self.front = self.front if waits else batch
        if not held.stalled:
            self.behind.appendleft(self.engine.step(enters))
        elif enters is not None:
            self.engine.take(enters)

    def _enters(self, held: Held) -> bool:
        if held.sweeping or (held.stalled and not self.queues):
            return False
        return self.engine.takes
