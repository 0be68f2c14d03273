"""When batches leave `sorted-banked`, to the cycle: its blocks, each with what stands in it.

What a block shows follows from the block in front of it, and whether it is ready from the one
behind it; so both are told from one end to the other before time moves on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from models.ofan.config import OfanConfig
from models.ofan.place import rows
from models.ofan.rounds import rounds
from rtl.ofan.sorted_banked import SortedBanked
from tb.ofan.switch_cycle import Held, Keys


@dataclass(frozen=True)
class Beat:
    """What goes through the pipeline."""

    lanes: tuple[int, ...]
    """That have a packet."""
    rounds: int
    """Cycles at the banks."""


FENCE = Beat((), 1)
"""What goes along with a write of the masks."""


class Line:
    """Register stages that move together while the last one is empty or is taken."""

    def __init__(self, depth: int, start: int = 0) -> None:
        self.stages: list[Beat | None] = [None] * depth
        self.start = start
        """The first cycle behind a reset in which a beat may enter."""
        self.moves = self.open = False

    def shows(self, came: Beat | None) -> Beat | None:
        """What is at the end, if `came` is at the beginning."""
        return self.stages[-1] if self.stages else came

    def ready(self, came: Beat | None, on: bool, time: int) -> bool:
        """Whether `came` is taken; `on` says whether what is shown is."""
        self.moves = on or (bool(self.stages) and self.stages[-1] is None)
        self.open = self.moves and time >= self.start
        return self.open

    def tick(self, came: Beat | None) -> None:
        """A cycle ends."""
        if self.moves and self.stages:
            self.stages = [came if self.open else None, *self.stages[:-1]]


class Fences(Line):
    """The mask tables: a write is taken as its fence leaves the first stage, and what is behind it
    waits for that."""

    wrote = False

    def ready(self, came: Beat | None, on: bool, time: int) -> bool:
        fence = self.stages[0] is FENCE
        super().ready(came, on, time)
        self.wrote = fence and self.moves
        self.open &= not fence
        return self.open


class Waiting:
    """The queue, which an empty one lets a beat through."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.beats: deque[Beat] = deque()
        self.on = False

    @property
    def full(self) -> bool:
        """Whether there is no room."""
        return len(self.beats) == self.depth

    def shows(self, came: Beat | None) -> Beat | None:
        return self.beats[0] if self.beats else came

    def ready(self, came: Beat | None, on: bool, time: int) -> bool:
        self.on = on
        return not self.full

    def tick(self, came: Beat | None) -> None:
        if came is not None and not self.full:
            self.beats.append(came)
            if self.on:
                self.beats.popleft()
        elif self.beats and self.on:
            self.beats.popleft()


class Banks(Line):
    """The banks: a batch stands in front of three stages for its rounds, which start when the banks
    have been swept."""

    def __init__(self, start: int) -> None:
        super().__init__(3, start)
        self.here: Beat | None = None
        self.left = 0
        """Rounds of it that are not done."""

    def ready(self, came: Beat | None, on: bool, time: int) -> bool:
        super().ready(came, on, time)
        self.open &= self.here is None or self.left == 1
        return self.open

    def tick(self, came: Beat | None) -> None:
        if not self.moves:
            return
        leaves = self.here if self.left == 1 else None
        self.stages = [leaves, *self.stages[:-1]]
        if came is not None and self.open:
            self.here, self.left = came, came.rounds
        elif leaves is not None:
            self.here, self.left = None, 0
        elif self.here is not None:
            self.left -= 1


class NoFence(Line):
    """The end of the line, where fences go nowhere."""

    def shows(self, came: Beat | None) -> Beat | None:
        return None if came is FENCE else came

    def ready(self, came: Beat | None, on: bool, time: int) -> bool:
        return on or came is FENCE


class Parting(Line):
    """The register of a pipe that stands still with the other pipes."""

    def ready(self, came: Beat | None, on: bool, time: int) -> bool:
        self.moves = self.open = on
        return on


def rows_of(c: OfanConfig) -> Iterator[tuple[str, str, bool]]:
    """Yield (bin, meaning, whether it can be reached) for the test `traffic`."""
    conflict = c.keys > c.engine.banks and c.lanes_per_pipe > 1
    yield "batch of one round", "each bank is asked for one key at most", True
    yield "batch of several rounds", "a bank is asked for several keys", conflict
    yield "queue full", "a batch waits since as many are in the queue as have room", conflict
    yield "beat of several batches", "a beat of m_axis answers packets of two", c.pipes > 1


class SortedPipe:
    """One pipe of a switch with `sorted-banked`; see `tb.ofan.switch_schedule.Pipe`."""

    def __init__(self, config: OfanConfig, latency: int) -> None:
        c = self.config = config
        depth = {name: block.latency for name, block in SortedBanked(c).blocks.items()}
        swept = max(c.destinations, c.masks) if c.masks else 0
        self.queue = Waiting(c.engine.depth)
        self.masks = (Fences if c.masks else Line)(depth["masks"], swept)
        self.blocks = [
            Line(1),
            self.queue,
            Line(depth["sort"]),
            Line(depth["combine"]),
            self.masks,
            Banks(rows(c.keys, c.engine.banks) + 1),
            Line(depth["decombine"]),
            Line(depth["unsort"]),
            NoFence(0),
            *([Parting(1)] if c.pipes > 1 else []),
        ]
        self.front: Line | None = None
        """The lookup."""
        if c.lookup != "none":
            self.front = Line(1, 1 << c.prefix_bits if c.lookup == "table" else 0)
        self.time = 0
        self.wrote = False
        """The pipe has taken the write that is offered."""
        self.seen: set[str] = set()
        self._announced = self._announces = self._ready = False
        self._came: list[Beat | None] = []

    @property
    def leaving(self) -> tuple[int, ...]:
        shown: Beat | None = None
        for block in self.blocks[1:]:
            shown = block.shows(shown)
        return shown.lanes if shown else ()

    @property
    def refusal(self) -> str:
        return "queue full" if self.queue.full else ""

    def takes(self, held: Held) -> bool:
        return self._settle(None, held)

    def tick(self, batch: Keys | None, held: Held) -> None:
        self.seen = set()
        beat = None if batch is None else self._beat(batch)
        self._settle(beat, held)
        if self._announces and self._ready:
            self._announced = True
        elif isinstance(self.masks, Fences) and self.masks.wrote:
            self._announced, self.wrote = False, True
        for block, came in zip(self.blocks, self._came, strict=True):
            block.tick(came)
        if self.front:
            self.front.tick(beat)
        self.time += 1

    def _beat(self, batch: Keys) -> Beat:
        lanes = tuple(lane for lane, key in enumerate(batch) if key is not None)
        count = len(rounds(batch, self.config.engine.banks))
        if lanes:
            self.seen.add(f"batch of {'one round' if count == 1 else 'several rounds'}")
        return Beat(lanes, max(1, count))

    def _settle(self, batch: Beat | None, held: Held) -> bool:
        """Work out what every block shows and whether it is ready; return whether a batch is
        taken."""
        enters = self.front.shows(batch) if self.front else batch
        pending = held.writing and not self.wrote and not self._announced
        self._announces = pending and not (self.front and enters)
        came: Beat | None = FENCE if self._announces else enters
        if came and not came.lanes and came is not FENCE:
            came = None
        self._came = []
        for block in self.blocks:
            self._came.append(came)
            came = block.shows(came)
        ready = not held.stalled
        for block, came in zip(reversed(self.blocks), reversed(self._came), strict=True):
            ready = block.ready(came, ready, self.time)
        self._ready = ready
        ready &= not self._announces
        if self.front:
            ready = self.front.ready(batch, ready, self.time)
        return ready and not pending
