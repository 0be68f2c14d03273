"""The cocotb bench of `rtl.ofan.switch.Switch`: drives, watches and judges every cycle.

A cycle of the bench is a clock cycle: inputs change at the falling edge, and everything is sampled
just before the rising edge, where the handshakes are decided.

```
feed ──► Source s_axis ──┐                     ┌── expected answers ◄── Reference
schedule ► Source s_mask ├──► switch ──► m_axis ──► judge: the right answers, when they are due
           Source s_prefix                     └── stream rules
```

The judge follows from the engine: `InStep` for `sorted`, `ByLane` for the banked ones.

When does a change of the masks take effect? Batches taken in cycles before that in which a write is
first offered on s_mask see the old sets, all others the new ones. An entry of the lookup table
holds for the batches taken in later cycles than the entry.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cocotb.triggers import Timer

from models.ofan.config import OfanConfig
from models.ofan.masks import MaskWrite
from models.ofan.place import rows
from models.ofan.switch import Packet
from tb.ofan.switch_by_lane import ByLane
from tb.ofan.switch_coverage import SwitchCoverage
from tb.ofan.switch_cycle import Beat, Cycle
from tb.ofan.switch_in_step import InStep
from tb.ofan.switch_reference import Answers, Batch, PrefixWrite, Reference, batch
from tb.pauses import PAUSES, never
from tb.source import Source, sample

HALF = 5  # ns
SLACK = 8  # cycles a write may take over the latency


class SwitchBench:
    """One switch under test. `feed` and `schedule` fill the inputs, `run` moves the clock."""

    def __init__(
        self, dut: Any, config: OfanConfig, latency: int, coverage: SwitchCoverage, seed: int
    ) -> None:
        self.dut = dut
        self.config = config
        self.latency = latency
        self.coverage = coverage
        self.rng = random.Random(seed)
        self.cycle = 0
        self.taken = 0
        """Batches taken."""
        judge = ByLane if config.engine.banked else InStep
        self.judge = judge(config, latency, coverage)
        self.batches = Source(dut, "s_axis")
        self.masks = Source(dut, "s_mask") if config.masks else None
        self.prefixes = Source(dut, "s_prefix") if config.lookup == "table" else None
        self._sources = [s for s in (self.batches, self.masks, self.prefixes) if s]
        self._half = Timer(HALF, "ns")
        self._tdata = {
            "s_axis": lambda beat: beat.tdata,
            "s_mask": lambda write: write.tdata(config),
            "s_prefix": lambda write: write.tdata(config),
        }
        self._idle: Iterator[bool] = never(self.rng, latency)
        self._stall: Iterator[bool] = never(self.rng, latency)
        self.own_prefix = self.rng.randrange(config.destinations + config.skip_own)
        if config.lookup == "aligned":
            dut.own_prefix.value = self.own_prefix
        dut.m_axis_tready.value = 0
        self._sweep = sweep_of(config)
        self._after_write = -1  # the cycle after one in which a write was taken
        self._restart()

    def _restart(self) -> None:
        self.model = Reference(self.config)
        self.model.own_prefix = self.own_prefix
        self.swept_at = self.cycle + self._sweep
        self._held: Beat | None = None  # the answer that waited in the last cycle
        self._write_waits = self._write_limit = 0
        self._moved_at = self.cycle
        self.judge.restart(self.cycle)
        self.coverage.restart()

    @property
    def in_flight(self) -> int:
        """Batches inside the switch."""
        return self.judge.in_flight

    @property
    def answer_waits(self) -> bool:
        """Whether an answer was valid and not taken in the last cycle."""
        return self._held is not None

    def pause(self, idle: str | Iterator[bool], stall: str | Iterator[bool]) -> None:
        """Choose when s_axis pauses and m_axis is not ready: names of `PAUSES`, or iterators."""
        made = [
            PAUSES[p](self.rng, self.latency) if isinstance(p, str) else p for p in (idle, stall)
        ]
        self._idle, self._stall = made

    def feed(self, batches: Iterable[Sequence[Packet]]) -> None:
        """Queue batches of packets; idle lanes carry the bits of a random packet."""
        c = self.config
        for packets in batches:
            idle = self.rng.getrandbits(c.lanes * c.request_bits)
            self.batches.queue.append((0, batch(c, self._addressed(packets), idle)))

    def _addressed(self, packets: Sequence[Packet]) -> Sequence[Packet]:
        """Put addresses in place of destinations, now and then one that is not northbound."""
        c = self.config
        if c.lookup == "none":
            return packets
        made = []
        for p in packets:
            prefix = p.destination + (c.skip_own and p.destination >= self.own_prefix)
            if self.rng.random() < 0.1:
                prefix = self.rng.choice((self.own_prefix, self.rng.getrandbits(c.prefix_bits)))
            address = prefix << c.host_bits | self.rng.getrandbits(c.host_bits)
            made.append(Packet(p.lane, address, p.size_class))
        return made

    def schedule(self, writes: Iterable[tuple[int, MaskWrite]]) -> None:
        """Queue writes of the masks; each waits until so many more batches have been taken."""
        assert self.masks
        self.masks.queue.extend((self.taken + place, write) for place, write in writes)

    def prefix(self, writes: Iterable[tuple[int, PrefixWrite]]) -> None:
        """Queue entries of the lookup table in the same way."""
        assert self.prefixes
        self.prefixes.queue.extend((self.taken + place, write) for place, write in writes)

    async def reset(self, cycles: int = 2) -> None:
        """Hold reset; whatever was inside is lost, what is offered or queued stays."""
        cover, flying = self.coverage, self.in_flight
        if flying:
            cover.hit("reset in mid-traffic")
        if self.answer_waits:
            cover.hit("reset during a stall")
        if self.masks and self.masks.beat:
            cover.hit("reset during a write")
        if 0 < self.cycle < self.swept_at:
            cover.hit("reset during the sweep")
        if self.batches.beat is not None:
            cover.hit("batch offered in reset")
        self.dut.rst.value = 1
        for number in range(cycles):
            await self._low()
            # The first edge with rst is the one that resets.
            assert not number or not self.dut.m_axis_tvalid.value, "m_axis_tvalid is 1 in reset"
            await self._high()
        self.dut.rst.value = 0
        for source in self._sources:
            source.renew()
        self._restart()

    async def run(self, cycles: int | None = None) -> None:
        """Run `cycles`, or until everything queued has been taken and every answer has come."""
        while cycles is None or cycles > 0:
            busy = self.in_flight or any(s.beat is not None or s.queue for s in self._sources)
            if cycles is None and not busy:
                break
            due = self.taken if self.batches.queue or self.batches.beat else math.inf
            for source in self._sources:
                pausing = source is self.batches and next(self._idle)
                source.drive(due, pausing, self._tdata[source.name])
            ready = not next(self._stall)
            self.dut.m_axis_tready.value = ready
            await self._low()
            self._observe(ready)
            await self._high()
            for source in self._sources:
                source.fresh = False
            cycles = None if cycles is None else cycles - 1

    async def _low(self) -> None:
        self.dut.clk.value = 0
        await self._half

    async def _high(self) -> None:
        self.dut.clk.value = 1
        await self._half
        self.cycle += 1

    def _observe(self, m_ready: bool) -> None:
        dut, masks = self.dut, self.masks
        writing = masks is not None and masks.beat is not None
        now = Cycle(
            number=self.cycle,
            offered=self.batches.beat is not None,
            taken=bool(dut.s_axis_tready.value),
            answer=bool(dut.m_axis_tvalid.value),
            answer_taken=m_ready,
            writing=writing,
            write_taken=writing and bool(dut.s_mask_tready.value),
            sweeping=self.cycle < self.swept_at,
            in_flight=self.in_flight,
        )
        self._watch(now.taken or now.write_taken or (now.answer and m_ready))
        self.coverage.cycle(now)
        self.judge.begin(now)
        if writing:
            self._write(now)
        self._answer(now)
        batch = None
        if now.offered:
            self.judge.ready(now)
            if now.taken:
                batch = self._accept(now)
        self.judge.end(now, batch)
        if self.prefixes and self.prefixes.beat and dut.s_prefix_tready.value:
            write = self.prefixes.take()
            self.model.table.write(write.prefix, write.destination)
            if self.in_flight:
                self.coverage.hit("prefix written in mid-traffic")

    def _watch(self, moved: bool) -> None:
        """Give up where neither end has moved for longer than any pause and the sweep."""
        if moved or self.cycle < self.swept_at:
            self._moved_at = self.cycle
        stuck = self.cycle - self._moved_at
        assert stuck <= 4 * self.latency + SLACK, f"cycle {self.cycle}: stuck for {stuck} cycles"

    def _write(self, now: Cycle) -> None:
        """Follow s_mask."""
        assert self.masks
        if self.masks.fresh:
            change = self.masks.beat
            self.coverage.written(change, bool(self.in_flight), self.model)
            if self._after_write == self.cycle:
                self.coverage.hit("writes back to back")
            self.model.write(change)
            self._write_waits, self._write_limit = 0, self.judge.patience + SLACK
        if now.write_taken:
            self.masks.take()
            self._after_write = self.cycle + 1
        elif not now.stalled and not now.sweeping:
            self._write_waits += 1
            assert self._write_waits <= self._write_limit, (
                f"cycle {self.cycle}: a write waits on s_mask for {self._write_waits} cycles"
            )

    def _answer(self, now: Cycle) -> None:
        where = f"cycle {self.cycle}"
        if not now.answer:
            assert self._held is None, f"{where}: m_axis_tvalid fell before it was taken"
            self.judge.nothing(now)
            return
        data, unknown = sample(self.dut.m_axis_tdata)
        beat = Beat(data, sample(self.dut.m_axis_tkeep)[0], unknown)
        if self._held is None:
            self.judge.answer(now, beat)
        else:
            assert beat == self._held, f"{where}: m_axis changed before it was taken"
        self._held = None if now.answer_taken else beat
        if now.answer_taken:
            self.judge.left()

    def _accept(self, now: Cycle) -> Answers:
        beat: Batch = self.batches.take()
        self.taken += 1
        packets = self.model.look_up(beat.packets)
        if len(packets) < len(beat.packets):
            self.coverage.hit("not northbound")
        answers = self.model.answer(packets)
        self.judge.accept(now, answers, self.model)
        return answers


def sweep_of(c: OfanConfig) -> int:
    """Cycles after a reset until all memories are initialised."""
    sweeps = [c.masks]
    if c.lookup == "table":
        sweeps.append(1 << c.prefix_bits)
    if c.engine.kind in ("sorted", "sorted-banked") and c.masks:
        sweeps.append(c.destinations)
    if c.engine.banked:
        return max(rows(c.keys, c.engine.banks) + 1, *sweeps)
    return max(c.keys + 1, *sweeps) + 1
