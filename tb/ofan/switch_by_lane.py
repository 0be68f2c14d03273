"""The judge of a switch with a banked engine, whose lanes leave out of step.

Each lane has a queue of what it must answer. A beat of m_axis may have the answers of any lanes, of
several batches; it has one at least. While a write of the masks is offered no batch is taken where
the engine drains for it, but in the cycle in which the write is.

Bound: the oldest packet of a pipe is always served, so a batch of n packets has left at most n
cycles after the one before it; cycles in which an answer waits at m_axis do not count. With
`sorted-banked` a batch without packets takes a cycle, too, and the fence of a write two.
"""

from __future__ import annotations

from collections import Counter, deque
from dataclasses import dataclass

from models.ofan.config import OfanConfig
from models.ofan.switch import Packet
from tb.ofan.switch_coverage import SwitchCoverage
from tb.ofan.switch_cycle import Beat, Cycle
from tb.ofan.switch_reference import Answers, Reference, compare
from tb.ofan.switch_schedule import Schedule


@dataclass
class Open:
    """A batch that has not left altogether."""

    number: int
    due: int
    """When it must have left: in cycles since the sweep in which no answer waited."""
    left: int
    """Packets that have not left."""
    beats: int = 0
    """Beats in which some of its packets left."""


class ByLane:
    """Holds the answers of each lane to what they must be, every batch to its bound, and each cycle
    to the model of the engine's schedule."""

    def __init__(self, config: OfanConfig, latency: int, coverage: SwitchCoverage) -> None:
        self.config = config
        self.latency = latency
        self.coverage = coverage
        self.answered = self.packets = 0
        """Batches and packets answered since the start."""

    def restart(self, cycle: int) -> None:
        """A reset ended in `cycle`."""
        c = self.config
        self.waiting: list[deque[tuple[Open, Packet, int]]] = [deque() for _ in range(c.lanes)]
        """Of each lane: what must come out, with the batch that it belongs to."""
        self.open: deque[Open] = deque()
        self.number = self.time = self._due = 0
        self._fence = False  # a write goes in front of the next batch
        self._beat: Beat | None = None
        self.schedule = Schedule(c, self.latency)

    @property
    def in_flight(self) -> int:
        """Batches inside the switch."""
        return len(self.open)

    @property
    def patience(self) -> int:
        """Cycles in which nothing holds back that a write may wait: all that is inside leaves."""
        return max(0, self._due - self.time) + self.latency

    def begin(self, now: Cycle) -> None:
        """A cycle begins."""
        self._fence |= now.writing and self.config.engine.kind == "sorted-banked"
        late = self.open and self.time > self.open[0].due
        assert not late, (
            f"cycle {now.number}: batch {self.open[0].number} has {self.open[0].left} packets left "
            f"{self.time - self.open[0].due} cycles after its time"
        )

    def ready(self, now: Cycle) -> None:
        """A batch is offered, and the switch is ready for it or not."""
        where = f"cycle {now.number}: s_axis_tready is {now.taken:d}"
        if now.writing and self.config.engine.kind != "sorted-banked":
            assert not now.taken or now.write_taken, f"{where} though a write waits"
        takes = self.schedule.takes(now.held)
        if now.sweeping and self.config.lookup == "table" and not now.taken:
            return  # its own sweep is not modelled
        assert now.taken == takes, f"{where}, not {takes:d}"
        if not (takes or now.stalled or now.writing or now.sweeping):
            for pipe in self.schedule.pipes:
                self.coverage.hit(pipe.refusal)

    def nothing(self, now: Cycle) -> None:
        """No answer is there."""
        self._leaving(now, 0)

    def answer(self, now: Cycle, beat: Beat) -> None:
        """A beat of answers is there, for the first cycle."""
        where = f"cycle {now.number}"
        self._beat = beat
        assert beat.keep, f"{where}: m_axis_tvalid is 1 and m_axis_tkeep is 0"
        for lane, waiting in enumerate(self.waiting):
            if beat.keep >> lane & 1:
                assert waiting, f"{where}: lane {lane} has an answer though none is due"
                batch, packet, uplink = waiting[0]
                compare(self.config, f"{where}: batch {batch.number}", packet, uplink, beat)
        self._leaving(now, beat.keep)

    def _leaving(self, now: Cycle, keep: int) -> None:
        want = self.schedule.leaving
        assert keep == want, f"cycle {now.number}: answers leave of lanes {keep:#x}, not {want:#x}"

    def left(self) -> None:
        """The beat has been taken."""
        assert self._beat
        batches: dict[int, Open] = {}
        for lane, waiting in enumerate(self.waiting):
            if self._beat.keep >> lane & 1:
                batch = waiting.popleft()[0]
                batch.left -= 1
                self.packets += 1
                batches[batch.number] = batch
        for batch in batches.values():
            batch.beats += 1
            if not batch.left:
                beats = "one beat" if batch.beats == 1 else "several beats"
                self.coverage.hit(f"batch leaves in {beats}")
        if len(batches) > 1:
            self.coverage.hit("beat of several batches")

    def accept(self, now: Cycle, answers: Answers, model: Reference) -> None:
        """A batch is taken."""
        c = self.config
        pipes = Counter(packet.lane // c.lanes_per_pipe for packet in answers.packets)
        most = max(pipes.values(), default=int(c.engine.kind == "sorted-banked"))
        self._due = max(self._due, self.time + self.latency - 1) + most + 2 * self._fence
        self._fence = False
        batch = Open(self.number, self._due, len(answers.packets))
        self.open.append(batch)
        self.number += 1
        for packet, uplink in zip(answers.packets, answers.uplinks, strict=True):
            self.waiting[packet.lane].append((batch, packet, uplink))
        self.coverage.entered(now.number, now.number, answers, model)

    def end(self, now: Cycle, batch: Answers | None) -> None:
        """The cycle ends; `batch` was taken in it."""
        self.schedule.tick(batch.packets if batch else None, now.held)
        for pipe in self.schedule.pipes:
            for name in pipe.seen:
                self.coverage.hit(name)
        self.time += not (now.stalled or now.sweeping)
        while self.open and not self.open[0].left:
            self.open.popleft()
            self.answered += 1
