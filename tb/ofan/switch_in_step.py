"""The judge of a switch whose batches leave whole, in order, a fixed latency after they came.

A write of the masks is announced by a fence that goes along with the batches: no batch is taken in
the cycle in which the write is first offered. It is taken itself when the fence reaches the mask
tables; batches taken meanwhile see the new sets already.
"""

from __future__ import annotations

from collections import deque

from models.ofan.config import OfanConfig
from tb.ofan.switch_coverage import SwitchCoverage
from tb.ofan.switch_cycle import Beat, Cycle
from tb.ofan.switch_reference import Answers, Reference, compare


class InStep:
    """Holds answers, latency and throughput of the engine `sorted` to what they must be, to the
    cycle."""

    def __init__(self, config: OfanConfig, latency: int, coverage: SwitchCoverage) -> None:
        self.config = config
        self.latency = latency
        self.coverage = coverage
        self.answered = self.packets = 0
        """Batches and packets answered since the start."""

    def restart(self, cycle: int) -> None:
        """A reset ended in `cycle`."""
        self.expected: deque[tuple[int, int, Answers]] = deque()
        """Of each batch in flight: cycle taken, cycles disturbed until then, what must come out."""
        self._in_lookup = False  # a batch may wait in the lookup, and a write waits for it
        self._announced = False  # the write on s_mask has its fence on the way
        self._disturbed, self._last_disturbed = 0, cycle
        self._after_write = -1  # the cycle after one in which a write was taken

    @property
    def in_flight(self) -> int:
        """Batches inside the switch."""
        return len(self.expected)

    @property
    def patience(self) -> int:
        """Cycles in which nothing holds back that a write may wait."""
        return self.latency

    def begin(self, now: Cycle) -> None:
        """A cycle begins: does something hold batches back in it?"""
        holds = self._follow_write(now)
        excused = now.stalled or now.sweeping or holds
        if excused:
            self._disturbed, self._last_disturbed = self._disturbed + 1, now.number
        undisturbed = now.number - self._last_disturbed
        if self.in_flight == self.latency and undisturbed > self.latency:
            self.coverage.hit("pipeline full")
        self._excused = excused

    def ready(self, now: Cycle) -> None:
        """A batch is offered, and the switch is ready for it or not."""
        assert now.taken or self._excused, (
            f"cycle {now.number}: s_axis_tready is 0 though nothing holds it"
        )

    def _follow_write(self, now: Cycle) -> bool:
        if not now.writing:
            return False
        holds = not self._announced
        if now.write_taken:
            self._announced, holds = False, True
            self._after_write = now.number + 1
        elif not now.stalled and not now.sweeping:
            self._announced |= not self._in_lookup
        return holds

    def nothing(self, now: Cycle) -> None:
        """No answer is there."""
        if self.expected:
            taken, disturbed, _ = self.expected[0]
            due = taken + self.latency + self._disturbed - disturbed
            assert now.number < due, (
                f"{self._where(now)}: not there; taken in cycle {taken}, due in {due}"
            )

    def answer(self, now: Cycle, beat: Beat) -> None:
        """An answer is there, for the first cycle."""
        where = self._where(now)
        assert self.expected, f"{where}: m_axis_tvalid is 1 though no answer is due"
        taken, disturbed, want = self.expected[0]
        late, held = now.number - taken - self.latency, self._disturbed - disturbed
        assert 0 <= late <= held, (
            f"{where}: latency {late + self.latency}, not {self.latency}, {held} cycles disturbed"
        )
        assert beat.keep == want.tkeep, (
            f"{where}: m_axis_tkeep is {beat.keep:#x}, not {want.tkeep:#x}"
        )
        if (beat.data ^ want.tdata | beat.unknown) & want.care:
            for packet, uplink in zip(want.packets, want.uplinks, strict=True):
                compare(self.config, where, packet, uplink, beat)

    def left(self) -> None:
        """The answer has been taken."""
        self.packets += len(self.expected.popleft()[2].packets)
        self.answered += 1

    def accept(self, now: Cycle, answers: Answers, model: Reference) -> None:
        """A batch is taken."""
        self._in_lookup = self.config.lookup != "none"
        self.coverage.entered(now.number, self._last_disturbed, answers, model)
        self.expected.append((now.number, self._disturbed, answers))

    def end(self, now: Cycle, batch: Answers | None) -> None:
        """The cycle ends; `batch` was taken in it."""
        # The pipeline may have taken nothing from a lookup.
        stuck = now.stalled or now.sweeping or self._after_write == now.number + 1
        if batch is None:
            self._in_lookup &= stuck

    def _where(self, now: Cycle) -> str:
        return f"cycle {now.number}: answer {self.answered}"
