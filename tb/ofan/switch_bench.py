"""The cocotb bench of `rtl.ofan.switch.Switch`: drives, watches and judges every cycle.

A cycle of the bench is a clock cycle: inputs change at the falling edge, and everything is sampled
just before the rising edge, where the handshakes are decided.

```
feed ──► Source s_axis ──┐                     ┌── expected answers ◄── Reference
schedule ► Source s_mask ├──► switch ──► m_axis ──► compare, in order, at the cycle they are due
           Source s_prefix                     └── stream rules, latency, throughput
```

When does a change of the masks take effect? The switch takes no batch in the cycle in which a write
is first offered on s_mask and sends a fence in instead; so batches taken before the offer see the
old sets, all later ones the new sets, and no batch is taken together with a write. The write is
taken (tready) only when the fence reaches the mask tables, some cycles later: batches taken
meanwhile see the new sets already. An entry of the lookup table holds for the batches taken in
later cycles than the entry.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from cocotb.triggers import Timer

from models.ofan.config import OfanConfig
from models.ofan.masks import MaskWrite
from models.ofan.switch import Packet
from tb.ofan.switch_coverage import Cycle, SwitchCoverage
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
        self.taken = self.answered = self.packets = 0
        """Batches taken, batches and packets answered."""
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
        # A reset sweeps the memories: N + 1 cycles for pointers, one an entry for the others.
        self._sweep = max(config.keys + 1, config.destinations, config.masks)
        if self.prefixes:
            self._sweep = max(self._sweep, 1 << config.prefix_bits)
        self._after_write = -1  # the cycle after one in which a write was taken
        self._restart()

    def _restart(self) -> None:
        self.model = Reference(self.config)
        self.model.own_prefix = self.own_prefix
        self.expected: deque[tuple[int, int, Answers]] = deque()
        """Of each batch in flight: cycle taken, cycles disturbed until then, what must come out."""
        self.swept_at = self.cycle + self._sweep + 1
        self._in_lookup = False  # a batch may wait in the lookup, and a write waits for it
        self._held: tuple[int, int] | None = None  # the answer that waited in the last cycle
        self._announced = False  # the write on s_mask has its fence on the way
        self._disturbed, self._last_disturbed = 0, self.cycle
        self._write_waits = 0
        self._moved_at = self.cycle
        self.coverage.restart()

    @property
    def in_flight(self) -> int:
        """Batches inside the switch."""
        return len(self.expected)

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
        dut = self.dut
        s_ready, m_valid = bool(dut.s_axis_tready.value), bool(dut.m_axis_tvalid.value)
        stalled = m_valid and not m_ready
        excused = stalled or self.cycle < self.swept_at
        if self.masks:
            excused |= self._write(stalled)
        if excused:
            self._disturbed, self._last_disturbed = self._disturbed + 1, self.cycle
        self._watch(s_ready or (m_valid and m_ready))
        self._cover(s_ready, m_valid, m_ready)
        self._answer(m_valid, m_ready)
        assert s_ready or excused, f"cycle {self.cycle}: s_axis_tready is 0 though nothing holds it"
        written = self._after_write == self.cycle + 1
        self._accept(s_ready, stalled or written or self.cycle < self.swept_at)
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

    def _write(self, stalled: bool) -> bool:
        """Follow s_mask; return whether it holds back batches in this cycle."""
        assert self.masks
        change = self.masks.beat
        if change is None:
            return False
        if self.masks.fresh:
            self.coverage.written(change, bool(self.in_flight), self.model)
            if self._after_write == self.cycle:
                self.coverage.hit("writes back to back")
            self.model.write(change)
        holds = not self._announced
        if self.dut.s_mask_tready.value:
            self.masks.take()
            self._announced, self._write_waits, holds = False, 0, True
            self._after_write = self.cycle + 1
        elif not stalled and self.cycle >= self.swept_at:
            self._announced |= not self._in_lookup
            self._write_waits += 1
            assert self._write_waits <= self.latency + SLACK, (
                f"cycle {self.cycle}: a write waits on s_mask for {self._write_waits} cycles"
            )
        return holds

    def _answer(self, m_valid: bool, m_ready: bool) -> None:
        where = f"cycle {self.cycle}: answer {self.answered}"
        if not m_valid:
            assert self._held is None, f"{where}: m_axis_tvalid fell before it was taken"
            if self.expected:
                taken, disturbed, _ = self.expected[0]
                due = taken + self.latency + self._disturbed - disturbed
                assert self.cycle < due, f"{where}: not there; taken in cycle {taken}, due in {due}"
            return
        assert self.expected, f"{where}: m_axis_tvalid is 1 though no answer is due"
        data, unknown = sample(self.dut.m_axis_tdata)
        keep, _ = sample(self.dut.m_axis_tkeep)
        if self._held is not None:
            assert (data, keep) == self._held, f"{where}: changed before it was taken"
        else:
            self._judge(where, data, keep, unknown)
        self._held = None if m_ready else (data, keep)
        if m_ready:
            self.packets += len(self.expected.popleft()[2].packets)
            self.answered += 1

    def _judge(self, where: str, data: int, keep: int, unknown: int) -> None:
        c = self.config
        taken, disturbed, want = self.expected[0]
        late, held = self.cycle - taken - self.latency, self._disturbed - disturbed
        assert 0 <= late <= held, (
            f"{where}: latency {late + self.latency}, not {self.latency}, {held} cycles disturbed"
        )
        assert keep == want.tkeep, f"{where}: m_axis_tkeep is {keep:#x}, not {want.tkeep:#x}"
        if not (data ^ want.tdata | unknown) & want.care:
            return
        for packet, uplink in zip(want.packets, want.uplinks, strict=True):
            got = data >> packet.lane * c.answer_bits & (1 << c.answer_bits) - 1
            got = -1 if got >> c.uplink_bits else got
            assert got == uplink, (
                f"{where}: lane {packet.lane}, destination {packet.destination}, size class "
                f"{packet.size_class}: uplink is {got}, not {uplink} (-1: unroutable)"
            )
        raise AssertionError(f"{where}: m_axis_tdata has unknown bits: {unknown & want.care:#x}")

    def _accept(self, s_ready: bool, stuck: bool) -> None:
        """Follow s_axis; `stuck` says that the pipeline may have taken nothing from a lookup."""
        if not s_ready or self.batches.beat is None:
            self._in_lookup &= stuck
            return
        beat: Batch = self.batches.take()
        self.taken += 1
        self._in_lookup = self.config.lookup != "none"
        packets = self.model.look_up(beat.packets)
        if len(packets) < len(beat.packets):
            self.coverage.hit("not northbound")
        answers = self.model.answer(packets)
        self.coverage.entered(self.cycle, self._last_disturbed, answers, self.model)
        self.expected.append((self.cycle, self._disturbed, answers))

    def _cover(self, s_ready: bool, m_valid: bool, m_ready: bool) -> None:
        self.coverage.cycle(
            Cycle(
                offered=self.batches.beat is not None,
                taken=s_ready,
                answer=m_valid,
                answer_taken=m_ready,
                writing=bool(self.masks and self.masks.beat),
                sweeping=self.cycle < self.swept_at,
                in_flight=self.in_flight,
                undisturbed=self.cycle - self._last_disturbed,
            )
        )
