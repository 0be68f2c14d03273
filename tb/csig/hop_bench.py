"""The cocotb bench of `rtl.csig.hop.Hop`: drives, watches and judges every cycle.

A cycle of the bench is a clock cycle: inputs change at the falling edge, and everything is sampled
just before the rising edge, where the handshakes are decided.

```
feed  ──► Source s_axis, s_time ─┐       ┌► m_axis ─► compare with Reference, in order,
write ──► Source s_table         ├► hop ─┤            at the cycle they are due
agent ──► Source s_agent         │       └► m_count ─► the same
read  ──► Source s_count ────────┘
```

Time is the bench's: it moves on by `tick` ns in every cycle, by an offer's `advance` when that is
first offered, and by a leap's when software tells the clocks of it. It has any number of bits here;
s_time has the low ones.

A word that software writes holds for packets taken later, and may hold for those that are still in
`clock` and `lookup`; a locator for all that are inside. What else may differ: nothing.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from cocotb.triggers import Timer

from models.csig.agent import Entry
from models.csig.beat import count_answer
from models.csig.config import CsigConfig
from models.csig.hop import Answer
from models.csig.port import Port
from models.csig.tables import EDGE, SWAP, writes
from models.csig.tag import Tag
from tb.beats import unpacked
from tb.csig.hop_beats import Leap, Offer, Read, Spoken, Word, difference, offer_bits
from tb.csig.hop_coverage import Cycle, HopCoverage
from tb.csig.hop_reference import Inside, Reference
from tb.csig.hop_timing import READING, HopTiming
from tb.pauses import PAUSES
from tb.source import Source, sample
from tb.timing import Expected

HALF = 5  # ns

STREAMS = ("s_axis", "s_table", "s_agent", "s_count", "m_axis", "m_count")


class HopBench:
    """One hop under test. `feed`, `write`, `leap`, `speak` and `read` fill the inputs, `run` moves
    the clock.

    Args:
        dut: the hop's ports. config: its shape. latency: cycles.
        lengths: of each clock's windows, ns.
        coverage: what counts. seed: of noise and pauses.
    """

    def __init__(
        self,
        dut: Any,
        config: CsigConfig,
        latency: int,
        lengths: list[int],
        coverage: HopCoverage,
        seed: int,
    ) -> None:
        self.dut, self.config, self.latency, self.lengths = dut, config, latency, lengths
        self.coverage = coverage
        self.rng = random.Random(seed)
        self.cycle = 0
        self.now = 0
        self.tick = 1
        """ns that time moves on in every cycle."""
        self.taken = self.read_count = 0
        """Packets taken, and counters read."""
        names = [n for n in STREAMS if n[0] == "s" and (config.agent or n != "s_agent")]
        self.sources = {name: Source(dut, name) for name in names}
        self.packets = self.sources["s_axis"]
        self._half = Timer(HALF, "ns")
        self._speaks: Entry | None = None
        self._edge = 0
        self.last_tag: Tag | None = None
        """The tag that left last."""
        self.pause()
        for clock, length in enumerate(lengths):
            getattr(dut, f"set_window_{clock}").value = length
        dut.m_axis_tready.value = dut.m_count_tready.value = 0
        dut.rst.value = 1
        self._restart()

    def _restart(self) -> None:
        self.model = Reference(self.config, self.lengths)
        self.timing = HopTiming(self.config, self.latency, self.cycle, self.lengths)
        for edges in self.timing.edges:
            # The first cycle after a reset sets the first edge.
            edges.load(self.cycle, self.now, edges.window_ns)
        self.expected: deque[Expected] = deque()
        """Packets inside the hop."""
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
    def offering(self) -> bool:
        """Whether anything is offered or queued."""
        return any(s.beat is not None or s.queue for s in self.sources.values())

    @property
    def writing(self) -> bool:
        """Whether words for s_table are still to come."""
        return self.sources["s_table"].beat is not None or bool(self.sources["s_table"].queue)

    @property
    def answer_waits(self) -> bool:
        """Whether an answer was valid and not taken in the last cycle."""
        return self._held is not None

    @property
    def counters_wait(self) -> bool:
        """Whether counters were valid and not taken in the last cycle."""
        return self._kept is not None

    def pause(self, *kinds: str | Iterator[bool], **by_name: str | Iterator[bool]) -> None:
        """Choose when s_axis pauses, then when m_axis is not ready, or other streams by name: names
        of `PAUSES`, or iterators; streams that are not named do not pause."""
        given = dict(zip(("s_axis", "m_axis"), kinds, strict=False)) | by_name
        self._pauses = {
            name: PAUSES[p](self.rng, self.latency) if isinstance(p, str) else p
            for name in STREAMS
            for p in [given.get(name, "none")]
        }

    def feed(self, offers: Iterable[Offer]) -> None:
        """Queue packets."""
        self.packets.queue.extend((0, offer) for offer in offers)

    def write(
        self, port: Port, clock: int = 0, kinds: Iterable[int] = range(EDGE), after: int = 0
    ) -> None:
        """Queue the words of a port's set-up, or only those of some kinds; they wait until so many
        more packets are taken."""
        words = [w for w in writes(self.config, port, clock) if w.kind in kinds]
        place = self.taken + after
        self.sources["s_table"].queue.extend((place, Word(word, port)) for word in words)

    def leap(self, advance: int = 0) -> None:
        """Queue words that set all clocks' edges, time leaping with the first."""
        beats = [Leap(clock, 0 if clock else advance) for clock in range(self.config.clocks)]
        self.sources["s_table"].queue.extend((self.taken, beat) for beat in beats)

    def queue(self, stream: str, beats: Iterable[tuple[int, Any]]) -> None:
        """Queue beats of s_agent or s_count; each waits until so many more packets are taken."""
        self.sources[stream].queue.extend((self.taken + place, beat) for place, beat in beats)

    def clear(self) -> None:
        """Offer nothing any more, and forget what is queued; allowed behind a reset only."""
        for source in self.sources.values():
            source.queue.clear()
            source.beat = None
            source.drive(0, True, int)

    async def reset(self, cycles: int = 2) -> None:
        """Hold reset; whatever was inside is lost, what is offered or queued stays."""
        self.coverage.reset(
            in_flight=bool(self.expected),
            stall=self.answer_waits,
            counters=self.asked is not None,
            sweep=self.cycle > 0 and self.timing.sweeping,
            write=self.writing,
            offered=self.packets.beat is not None,
        )
        self.dut.rst.value = 1
        for number in range(cycles):
            await self._low()
            if number:  # the first edge with rst is the one that resets
                for name in ("m_axis_tvalid", "m_count_tvalid"):
                    assert not getattr(self.dut, name).value, f"{name} is 1 in reset"
            await self._high()
        self.dut.rst.value = 0
        self._restart()

    async def run(self, cycles: int | None = None) -> None:
        """Run `cycles`, or until all queued has been taken and all answers have come."""
        while cycles is None or cycles > 0:
            if cycles is None and not (self.offering or self.expected or self.asked):
                break
            self._drive()
            m_ready, fetching = (not next(self._pauses[n]) for n in ("m_axis", "m_count"))
            self.dut.m_axis_tready.value, self.dut.m_count_tready.value = m_ready, fetching
            await self._low()
            self._observe(m_ready, fetching)
            await self._high()
            for source in self.sources.values():
                source.fresh = False
            cycles = None if cycles is None else cycles - 1

    def _drive(self) -> None:
        due = self.taken if self.packets.queue or self.packets.beat else math.inf
        self.now += self.tick
        bits = {"s_table": self._word, "s_agent": self._said, "s_axis": self._offer}
        for name in ("s_table", "s_agent", "s_axis", "s_count"):
            if name not in self.sources:
                continue
            tdata = bits.get(name, lambda read: read.bits(self.config))
            self.sources[name].drive(due, next(self._pauses[name]), tdata)
        self.dut.s_time.value = self.raw

    def _word(self, beat: Word | Leap) -> int:
        """Return the bits of a beat of s_table that is offered now."""
        if isinstance(beat, Word):
            return beat.bits(self.config)
        self.now += beat.advance
        self._edge = self.now + self.rng.randint(1, self.lengths[beat.clock])
        return beat.bits(self.config, self._edge)

    def _said(self, beat: Spoken) -> int:
        """Return the bits of a beat of s_agent that is offered now."""
        until = min(self.raw + beat.lasts, (1 << self.config.time_bits) - 1)
        self._speaks = replace(beat.entry, until_ns=until)
        return beat.bits(self.config, until)

    def _offer(self, offer: Offer) -> int:
        """Return the bits of a packet that is offered now."""
        self.now += offer.advance
        own = None if offer.aim is None else self.model.own(offer.packet, self.now)
        self._given = offer.aimed(self.config, own)
        return offer_bits(self.config, *self._given)

    async def _low(self) -> None:
        self.dut.clk.value = 0
        await self._half

    async def _high(self) -> None:
        self.dut.clk.value = 1
        await self._half
        self.cycle += 1

    def _observe(self, m_ready: bool, fetching: bool) -> None:
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
                edges.load(self.cycle, self.now, self._edge)
            edges.observe(self.cycle, self.now)
        held, in_flight, busy = timing.held(), len(self.expected), self.asked is not None
        timing.watch(any(taken.values()) or (m_valid and m_ready) or held > 0)
        left = len(self.model.served)
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
            said: Spoken = self.sources["s_agent"].take()
            assert self._speaks
            meets = s_ready and wanted["s_axis"] and self._given[0].port == said.port
            self.coverage.spoke(self.model, said, meets)
            self.model.agent(said.port, said.signal, self._speaks)
        if reading:
            read: Read = self.sources["s_count"].take()
            self.coverage.read(self.model, read)
            self.asked = timing.reading((read, left))
        if wanted["s_axis"] and s_ready:
            self._accept()

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
        if not inside.sure:
            for answer in model.answers(inside):
                if model.tdata(inside, answer) == data:
                    return answer
        answer = model.last(inside)
        want = model.tdata(inside, answer)
        assert data == want, f"{where}: {difference(self.config, data, want)}; {inside}; {answer}"
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
            self.model.load(beat.clock, self._edge)
            return
        self.model.write(beat.write, beat.port)
        if beat.write.kind == SWAP:
            self.timing.swapped()

    def _accept(self) -> None:
        self.packets.take()
        self.taken += 1
        given, bits = self._given
        disturbed = self.timing.last_disturbed
        inside = self.model.enter(replace(given, time_ns=self.raw), bits, self.now)
        self.coverage.entered(self.cycle, disturbed, self.now, self.model, inside)
        self.expected.append(self.timing.expect(inside))
