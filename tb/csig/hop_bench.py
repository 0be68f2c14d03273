"""The cocotb bench of `rtl.csig.hop.Hop`: drives, watches and judges every cycle.

A cycle of the bench is a clock cycle: inputs change at the falling edge, and everything is sampled
just before the rising edge, where the handshakes are decided.

```
feed  ──► Source s_axis, s_time ─┐       ┌► m_axis ─► compare with Reference, in order,
write ──► Source s_table         ├► hop ─┤            at the cycle they are due
agent ──► Source s_agent         │       ├► m_agent ─► the same, when the packet's answer comes
read  ──► Source s_count ────────┘       └► m_count ─► compare with Reference
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
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from cocotb.triggers import Timer

from models.csig.config import CsigConfig
from models.csig.port import Port
from models.csig.tables import EDGE, writes
from tb.csig.hop_beats import Leap, Offer, Spoken, Word, offer_bits
from tb.csig.hop_coverage import HopCoverage
from tb.csig.hop_judge import STREAMS, HopJudge
from tb.pauses import PAUSES

HALF = 5  # ns


class HopBench(HopJudge):
    """One hop under test. `feed`, `write`, `leap` and `queue` fill the inputs, `run` moves the
    clock.

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
        super().__init__(dut, config, latency, lengths, coverage)
        self.rng = random.Random(seed)
        self.tick = 1
        """ns that time moves on in every cycle."""
        self.aligned = False
        """Whether software sets edges to multiples of the windows; if not, anywhere."""
        self._half = Timer(HALF, "ns")
        self.pause()
        for clock in range(config.window_clocks):
            getattr(dut, f"set_window_{clock}").value = lengths[clock]
        dut.m_axis_tready.value = dut.m_count_tready.value = 0
        dut.rst.value = 1

    @property
    def offering(self) -> bool:
        """Whether anything is offered or queued."""
        return any(s.beat is not None or s.queue for s in self.sources.values())

    @property
    def writing(self) -> bool:
        """Whether words for s_table are still to come."""
        return self.sources["s_table"].beat is not None or bool(self.sources["s_table"].queue)

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
        """Queue words that set all clocks' edges, time leaping with the first; where there are no
        clocks, it leaps at once."""
        clocks = range(self.config.window_clocks)
        if not clocks:
            self.now += advance
        beats = [Leap(clock, 0 if clock else advance) for clock in clocks]
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
        self.restart()

    async def run(self, cycles: int | None = None) -> None:
        """Run `cycles`, or until all queued has been taken and all answers have come."""
        while cycles is None or cycles > 0:
            if cycles is None and not (self.offering or self.expected or self.asked):
                break
            self._drive()
            m_ready, fetching = (not next(self._pauses[n]) for n in ("m_axis", "m_count"))
            self.dut.m_axis_tready.value, self.dut.m_count_tready.value = m_ready, fetching
            await self._low()
            self.observe(m_ready, fetching)
            await self._high()
            for source in self.sources.values():
                source.fresh = False
            cycles = None if cycles is None else cycles - 1

    def _drive(self) -> None:
        due = self.taken if self.packets.queue or self.packets.beat else math.inf
        self.now += self.tick
        bits = {"s_table": self._word, "s_agent": self._value, "s_axis": self._offer}
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
        length = self.lengths[beat.clock]
        ahead = length - self.now % length if self.aligned else self.rng.randint(1, length)
        self.edge = self.now + ahead
        return beat.bits(self.config, self.edge)

    def _value(self, beat: Spoken) -> int:
        """Return the bits of a beat of s_agent that is offered now."""
        until = min(self.raw + beat.lasts, (1 << self.config.time_bits) - 1)
        self.said = replace(beat.entry, until_ns=until)
        return beat.bits(self.config, until)

    def _offer(self, offer: Offer) -> int:
        """Return the bits of a packet that is offered now."""
        self.now += offer.advance
        own = None if offer.aim is None else self.model.own(offer.packet, self.now)
        self.given = offer.aimed(self.config, own)
        return offer_bits(self.config, *self.given)

    async def _low(self) -> None:
        self.dut.clk.value = 0
        await self._half

    async def _high(self) -> None:
        self.dut.clk.value = 1
        await self._half
        self.cycle += 1
