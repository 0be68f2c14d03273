"""What the cocotb bench of a hop demands of each cycle.

Streams keep their rules, answers and counters are the model's, and everything comes in the cycle in
which it is due.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

from models.csig.agent import Entry
from models.csig.beat import agent_use, count_answer
from models.csig.config import CsigConfig
from models.csig.hop import Answer, Packet
from models.csig.tables import SWAP
from models.csig.tag import Tag
from tb.beats import unpacked
from tb.csig.hop_beats import Leap, Read, Spoken, Word, difference, use_fits
from tb.csig.hop_coverage import HopCoverage
from tb.csig.hop_cycle import Cycle
from tb.csig.hop_reference import Inside, Reference
from tb.csig.hop_timing import READING, HopTiming
from tb.source import Source, sample
from tb.timing import Expected

STREAMS = ("s_axis", "s_table", "s_agent", "s_count", "m_axis", "m_count")


class HopJudge:
    """Holds what the ports of a hop show against the model; `hop_bench` drives them."""

    given: tuple[Packet, int]
    """The packet that is offered, and its tag's bits."""
    said: Entry | None = None
    """What the agent's beat that is offered says."""
    edge = 0
    """The next edge, absolute, in the word that is offered."""
    last_tag: Tag | None = None
    """The tag that left last."""

    def __init__(
        self,
        dut: Any,
        config: CsigConfig,
        latency: int,
        lengths: list[int],
        coverage: HopCoverage,
    ) -> None:
        self.dut, self.config, self.latency, self.lengths = dut, config, latency, lengths
        self.coverage = coverage
        self.cycle: int = 0
        self.now: int = 0
        self.taken = self.read_count = 0
        """Packets taken, and counters read."""
        names = [n for n in STREAMS if n[0] == "s" and (config.agent or n != "s_agent")]
        self.sources = {name: Source(dut, name) for name in names}
        self.packets = self.sources["s_axis"]
        self.restart()

    def restart(self) -> None:
        """Begin anew: a reset has come."""
        self.model = Reference(self.config, self.lengths)
        self.timing = HopTiming(self.config, self.latency, self.cycle, self.lengths)
        for edges in self.timing.edges:
            # The first cycle after a reset sets the first edge.
            edges.load(self.cycle, self.now, edges.window_ns)
        self.expected: deque[Expected] = deque()
        """Packets inside the hop."""
        self.shown: deque[dict[str, int]] = deque()
        """What m_agent has shown of packets inside."""
        self.asked: Expected | None = None
        """The reading under way: its port, whether to clear, and packets that had left."""
        self._held: int | None = None  # the answer that waited in the last cycle
        self._kept: int | None = None  # the counters that did
        self.coverage.restart()

    @property
    def raw(self) -> int:
        """What s_time shows."""
        return self.now % (1 << self.config.time_bits)

    @property
    def answer_waits(self) -> bool:
        """Whether an answer was valid and not taken in the last cycle."""
        return self._held is not None

    @property
    def counters_wait(self) -> bool:
        """Whether counters were valid and not taken in the last cycle."""
        return self._kept is not None

    def observe(self, m_ready: bool, fetching: bool) -> None:
        """Judge a cycle: what the outputs are ready for is given."""
        dut, timing = self.dut, self.timing
        s_ready, m_valid = bool(dut.s_axis_tready.value), bool(dut.m_axis_tvalid.value)
        done = bool(dut.m_count_tvalid.value)
        wanted = {name: s.beat is not None for name, s in self.sources.items()}
        taken = {n: bool(getattr(dut, f"{n}_tready").value) for n in self.sources if wanted[n]}
        reading = taken.get("s_count", False)
        stalled = m_valid and not m_ready
        if reading:
            assert not self.asked, f"cycle {self.cycle}: counters are read before the last answer"
        disturbs = timing.begin(self.cycle, stalled or reading)
        table: Any = self.sources["s_table"].beat
        for clock, edges in enumerate(timing.edges):
            if isinstance(table, Leap) and table.clock == clock:
                edges.load(self.cycle, self.now, self.edge)
            edges.observe(self.cycle, self.now)
        held, in_flight, busy = timing.held(), len(self.expected), self.asked is not None
        timing.watch(any(taken.values()) or (m_valid and m_ready) or held > 0)
        left = len(self.model.served)
        self._uses()
        self._answer(m_valid, m_ready)
        self._counters(done, fetching)
        if held:
            assert not s_ready, f"cycle {self.cycle}: s_axis_tready is 1 before edges are counted"
            timing.last_disturbed = self.cycle
        elif not disturbs:
            assert s_ready, f"cycle {self.cycle}: s_axis_tready is 0 though nothing holds it"
        if wanted["s_count"] and not busy and not disturbs:
            assert reading, f"cycle {self.cycle}: s_count_tready is 0 though nothing holds it"
        self.coverage.cycle(
            Cycle(
                wanted=wanted,
                taken=taken,
                ready=s_ready,
                answer=m_valid,
                answer_taken=m_ready,
                counters=done,
                counters_taken=fetching,
                reading=busy,
                sweeping=timing.sweeping,
                held=held,
                loading=isinstance(table, Leap),
                edges=sum(edges.crossed for edges in timing.edges),
                apart=min((e.apart for e in timing.edges if e.crossed), default=0),
                in_flight=in_flight,
                undisturbed=self.cycle - timing.last_disturbed,
            )
        )
        if wanted["s_table"]:
            self._table(taken["s_table"], table)
        if wanted.get("s_agent"):
            assert taken["s_agent"], f"cycle {self.cycle}: s_agent_tready is 0"
            spoken: Spoken = self.sources["s_agent"].take()
            assert self.said
            meets = s_ready and wanted["s_axis"] and self.given[0].port == spoken.port
            self.coverage.spoke(self.model, spoken, meets)
            self.model.agent(spoken.port, spoken.signal, self.said)
        if reading:
            read: Read = self.sources["s_count"].take()
            self.coverage.read(self.model, read)
            self.asked = timing.reading((read, left))
        if wanted["s_axis"] and s_ready:
            self._accept()

    def _uses(self) -> None:
        assert self.expected or not self.shown, f"cycle {self.cycle}: m_agent showed {self.shown}"
        if self.config.agent and self.dut.m_agent_tvalid.value:
            data, _ = sample(self.dut.m_agent_tdata)
            self.shown.append(unpacked(agent_use(self.config), data))

    def _answer(self, m_valid: bool, m_ready: bool) -> None:
        where = f"cycle {self.cycle}: answer {len(self.model.served)}"
        if not m_valid:
            assert self._held is None, f"{where}: m_axis_tvalid fell before it was taken"
            if self.expected:
                self.timing.missing(where, self.expected[0])
            return
        assert self.expected, f"{where}: m_axis_tvalid is 1 though no answer is due"
        entry = self.expected[0]
        inside: Inside = entry.what
        data, unknown = sample(self.dut.m_axis_tdata)
        if self._held is not None:
            assert data == self._held, f"{where}: changed before it was taken"
        else:
            self.timing.came(where, entry)
            inside.answer = self._judge(where, inside, data)
            assert not unknown, f"{where}: m_axis has unknown bits"
        self._held = None if m_ready else data
        if m_ready:
            assert inside.answer
            self.expected.popleft()
            self.last_tag = inside.answer.tag
            self.coverage.left(self.model, inside, inside.answer)
            self.model.leave(inside, inside.answer)

    def _judge(self, where: str, inside: Inside, data: int) -> Answer:
        """Return what became of a packet, by the bits that came out."""
        model = self.model
        shown = self.shown[0] if self.shown else {}
        answer = model.last(inside)
        if not inside.sure:
            fitting = [
                other
                for other in model.answers(inside)
                if model.tdata(inside, other) == data and use_fits(other.use, shown)
            ]
            # What is shown is this packet's if it can be.
            answer = max(fitting, key=lambda other: other.use is not None, default=answer)
        want = model.tdata(inside, answer)
        assert data == want, f"{where}: {difference(self.config, data, want)}; {inside}; {answer}"
        assert use_fits(answer.use, shown), f"{where}: m_agent showed {shown}, not {answer.use}"
        if answer.use:
            self.shown.popleft()
        return answer

    def _counters(self, done: bool, fetching: bool) -> None:
        where = f"cycle {self.cycle}: reading {self.read_count}"
        if not done:
            assert self._kept is None, f"{where}: m_count_tvalid fell before it was taken"
            if self.asked:
                self.timing.missing(where, self.asked)
            return
        assert self.asked, f"{where}: m_count_tvalid is 1 though nothing was asked"
        data, unknown = sample(self.dut.m_count_tdata)
        if self._kept is not None:
            assert data == self._kept, f"{where}: changed before it was taken"
        else:
            self.timing.came(where, self.asked)
            assert not unknown, f"{where}: m_count_tdata has unknown bits"
            self._match(where, unpacked(count_answer(self.config), data))
        self._kept = None if fetching else data
        if fetching:
            self.asked = None
            self.read_count += 1

    def _match(self, where: str, got: dict[str, int]) -> None:
        """Compare counters: those of the packets that had left, and of up to two in `tally`."""
        assert self.asked
        read, left = self.asked.what
        last = min(left + READING, len(self.model.served))
        found = {n: {"port": read.port, **self.model.counts(read.port, n)} for n in
                 range(left, last + 1)}  # fmt: skip
        behind = [served for served, counts in found.items() if counts == got]
        assert behind, f"{where}: is {got}, not {found[left]}"
        self.coverage.counted(got)
        if read.clear:
            self.model.clear(read.port, behind[0])

    def _table(self, taken: bool, beat: Word | Leap) -> None:
        at_once = isinstance(beat, Leap) or beat.write.kind > SWAP
        if not taken:
            assert not at_once, f"cycle {self.cycle}: s_table_tready is 0 for a word of no table"
            self.timing.write_held()
            return
        self.sources["s_table"].take()
        self.coverage.wrote(self.model, beat)
        if isinstance(beat, Leap):
            self.model.load(beat.clock, self.edge)
            return
        self.model.write(beat.write, beat.port)
        if beat.write.kind == SWAP:
            self.timing.swapped()

    def _accept(self) -> None:
        self.packets.take()
        self.taken += 1
        given, bits = self.given
        disturbed = self.timing.last_disturbed
        inside = self.model.enter(replace(given, time_ns=self.raw), bits, self.now)
        self.coverage.entered(self.cycle, disturbed, self.now, self.model, inside)
        self.expected.append(self.timing.expect(inside))
