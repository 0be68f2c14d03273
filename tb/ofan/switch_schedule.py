"""When the lanes of a banked switch leave, to the cycle, from the models of its schedule.

```
s_axis ──► [lookup] ──► model of the engine: who is served ──► as many cycles as it takes ──► m_axis
```

A pipe has all of that of its own. While an answer waits at m_axis everything but a lookup stands
still.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

from models.ofan.config import OfanConfig
from models.ofan.switch import Packet
from tb.ofan.queued_coverage import WatchedQueued

SCHEDULES = {"queued-banked": WatchedQueued}
"""The models, by engine."""

Keys = Sequence[int | None]


class Schedule:
    """All pipes of a switch whose engine has a model in `SCHEDULES`."""

    def __init__(self, config: OfanConfig, latency: int) -> None:
        self.config = config
        self.pipes = [Pipe(config, latency) for _ in range(config.pipes)]

    @property
    def leaving(self) -> int:
        """The lanes that m_axis has an answer of now, bit l for lane l."""
        lanes = self.config.lanes_per_pipe
        return sum(
            1 << pipe * lanes + lane
            for pipe, there in enumerate(self.pipes)
            for lane in there.behind[-1]
        )

    def takes(self, still: bool) -> bool:
        """Whether a batch is taken now; `still` says that the engines stand still."""
        return all(pipe.takes(still) for pipe in self.pipes)

    def tick(self, packets: Sequence[Packet] | None, still: bool) -> None:
        """A cycle ends in which a batch was taken, or None."""
        for number, pipe in enumerate(self.pipes):
            pipe.tick(None if packets is None else self._keys(packets, number), still)

    def _keys(self, packets: Sequence[Packet], pipe: int) -> Keys:
        c = self.config
        keys: list[int | None] = [None] * c.lanes_per_pipe
        for packet in packets:
            number, lane = divmod(packet.lane, c.lanes_per_pipe)
            if number == pipe:
                keys[lane] = c.key(packet.destination, packet.size_class)
        return keys


class Pipe:
    """One pipe: what waits in its lookup, its engine, and what is on its way out."""

    def __init__(self, config: OfanConfig, latency: int) -> None:
        self.engine: Any = SCHEDULES[config.engine.kind](config)
        self.lookup = config.lookup != "none"
        self.front: Keys | None = None
        """The batch in the lookup."""
        depth = latency - self.lookup
        self.behind: deque[dict[int, int]] = deque([{}] * depth, depth)
        """Packets that have been served, {lane: key}, a set for each cycle; the last leaves."""

    def takes(self, still: bool) -> bool:
        """Whether a batch is taken."""
        return (self.lookup and self.front is None) or self._enters(still)

    def tick(self, batch: Keys | None, still: bool) -> None:
        """A cycle ends in which `batch` was taken."""
        enters = batch
        if self.lookup:
            waits = self.front is not None and not self._enters(still)
            enters = None if waits else self.front
            self.front = self.front if waits else batch
        if not still:
            self.behind.appendleft(self.engine.step(enters))

    def _enters(self, still: bool) -> bool:
        return not still and self.engine.takes
