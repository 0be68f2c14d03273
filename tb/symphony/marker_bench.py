"""The cocotb bench of `rtl.symphony.marker.Marker`: drives, watches and judges every cycle.

A cycle of the bench is a clock cycle: inputs change at the falling edge, and everything is sampled
just before the rising edge, where the handshakes are decided.

```
feed ──► Source s_axis, s_time, s_random ─┐          ┌► m_axis ─► compare with Reference, in order,
                                          ├► marker ─┤            at the cycle they are due
order ─► Source s_ctrl ───────────────────┘          └► m_ctrl ─► the same
```

Time is the bench's: it moves on by `tick` ns in every cycle, and by its own `advance` with a packet
that is offered; a packet has the time of the cycle in which it is taken. Where nothing is offered,
s_time and s_random hold noise.

What may be late or held back, and for how long, is `marker_timing`'s. An order takes the place of
one packet, in the cycle in which it is taken.
"""

from __future__ import annotations

import math
import random
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from cocotb.triggers import Timer

from models.symphony.beat import order, packet, receipt
from models.symphony.config import SymphonyConfig
from models.symphony.marker import Packet
from models.symphony.settings import settings
from tb.pauses import PAUSES
from tb.source import Source, sample
from tb.symphony.marker_coverage import Cycle, MarkerCoverage
from tb.symphony.marker_reference import Order, Reference, packed, packet_fields, unpacked
from tb.symphony.marker_timing import Timing
from tb.timing import Expected

HALF = 5  # ns


@dataclass(frozen=True, slots=True)
class Offer:
    """A packet as it is offered; its `time_ns` says nothing."""

    packet: Packet
    advance: int = 0
    """How far time moves when it is first offered, ns; may be negative."""


class MarkerBench:
    """One marker under test. `feed` and `order` fill the inputs, `run` moves the clock.

    Args:
        dut: the marker's ports.
        config: what its settings ask for, and what the reference has.
        latency: cycles.
        coverage: what counts.
        seed: of noise and pauses.
    """

    def __init__(
        self, dut: Any, config: SymphonyConfig, latency: int, coverage: MarkerCoverage, seed: int
    ) -> None:
        self.dut = dut
        self.config = config
        self.latency = latency
        self.coverage = coverage
        self.rng = random.Random(seed)
        self.cycle = 0
        self.now = 0
        self.tick = 0
        """ns that time moves on in every cycle."""
        self.taken = self.answered = self.marks = self.fetched = 0
        """Packets taken, answered, answered with a mark, and receipts fetched."""
        self.packets, self.orders = Source(dut, "s_axis"), Source(dut, "s_ctrl")
        self._half = Timer(HALF, "ns")
        self.pause("none", "none")
        for name, value in settings(config).items():
            getattr(dut, f"set_{name}").value = value
        dut.m_axis_tready.value = dut.m_ctrl_tready.value = 0
        self._restart()

    def _restart(self) -> None:
        self.model = Reference(self.config)
        self.timing = Timing(self.config, self.latency, self.cycle)
        self.expected: deque[Expected] = deque()
        """Packets inside the marker."""
        self.asked: Expected | None = None
        """The order under way."""
        self._held: tuple[int, int] | None = None  # the answer that waited in the last cycle
        self._kept: int | None = None  # the receipt that did
        self.coverage.restart()

    @property
    def offering(self) -> bool:
        """Whether a packet or an order is offered or queued."""
        return any(s.beat is not None or s.queue for s in (self.packets, self.orders))

    @property
    def answer_waits(self) -> bool:
        """Whether an answer was valid and not taken in the last cycle."""
        return self._held is not None

    @property
    def receipt_waits(self) -> bool:
        """Whether a receipt was valid and not taken in the last cycle."""
        return self._kept is not None

    def pause(
        self, idle: str | Iterator[bool], stall: str | Iterator[bool], fetch: str = "none"
    ) -> None:
        """Choose when s_axis pauses, and when m_axis and m_ctrl are not ready: names of `PAUSES`,
        or iterators."""
        self._idle, self._stall, self._fetch = (
            PAUSES[p](self.rng, self.latency) if isinstance(p, str) else p
            for p in (idle, stall, fetch)
        )

    def feed(self, offers: Iterable[Offer]) -> None:
        """Queue packets."""
        self.packets.queue.extend((0, offer) for offer in offers)

    def order(self, orders: Iterable[tuple[int, Order]]) -> None:
        """Queue orders; each waits until so many more packets have been taken."""
        self.orders.queue.extend((self.taken + place, asked) for place, asked in orders)

    def clear(self) -> None:
        """Offer nothing any more, and forget what is queued; allowed behind a reset only."""
        for source in (self.packets, self.orders):
            source.queue.clear()
            source.beat = None
            source.drive(0, True, int)

    async def reset(self, cycles: int = 2) -> None:
        """Hold reset; whatever was inside is lost, what is offered or queued stays."""
        self.coverage.reset(
            in_flight=bool(self.expected),
            stall=self.answer_waits,
            receipt=self.receipt_waits,
            order=self.asked is not None,
            leap=self.timing.leaping,
            sweep=self.cycle > 0 and self.timing.sweeping,
            offered=self.packets.beat is not None,
        )
        self.dut.rst.value = 1
        for number in range(cycles):
            await self._low()
            if number:  # the first edge with rst is the one that resets
                for name in ("m_axis_tvalid", "m_ctrl_tvalid"):
                    assert not getattr(self.dut, name).value, f"{name} is 1 in reset"
            await self._high()
        self.dut.rst.value = 0
        self._restart()

    async def swept(self) -> None:
        """Let the sweep go by, nothing being offered or watched: it may be long."""
        assert self.packets.beat is None and self.orders.beat is None
        while self.cycle < self.timing.swept_at:
            await self._low()
            await self._high()
        assert not self.dut.m_axis_tvalid.value, "m_axis_tvalid is 1 though nothing went in"
        self.timing.skip(self.cycle)

    async def run(self, cycles: int | None = None) -> None:
        """Run `cycles`, or until all queued has been taken and all answers have come."""
        while cycles is None or cycles > 0:
            if cycles is None and not (self.offering or self.expected or self.asked):
                break
            self._drive()
            m_ready, fetching = not next(self._stall), not next(self._fetch)
            self.dut.m_axis_tready.value, self.dut.m_ctrl_tready.value = m_ready, fetching
            await self._low()
            self._observe(m_ready, fetching)
            await self._high()
            self.packets.fresh = False
            cycles = None if cycles is None else cycles - 1

    def _drive(self) -> None:
        c, dut, rng = self.config, self.dut, self.rng
        due = self.taken if self.packets.queue or self.packets.beat else math.inf
        self.packets.drive(
            due, next(self._idle), lambda offer: packed(packet(c), packet_fields(offer.packet))
        )
        self.orders.drive(due, False, lambda asked: packed(order(c), asked.fields()))
        offer: Offer | None = self.packets.beat
        self.now += self.tick
        if offer and self.packets.fresh:
            self.now += offer.advance
        self.now = min(max(self.now, 0), 2**c.time_bits - 1)
        word = offer.packet.random if offer else rng.getrandbits(c.random_bits)
        dut.s_time.value = self.now if offer else rng.getrandbits(c.time_bits)
        dut.s_random_en.value = word is not None
        dut.s_random.value = rng.getrandbits(c.random_bits) if word is None else word

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
        may_order, done = bool(dut.s_ctrl_tready.value), bool(dut.m_ctrl_tvalid.value)
        time = None if self.packets.beat is None else self.now
        disturbs = timing.observe(self.cycle, m_valid and not m_ready, time)
        inside, in_flight = self.asked is not None, len(self.expected)
        ordering = self.orders.beat is not None and not inside
        timing.watch(s_ready or may_order or (m_valid and m_ready))
        self._answer(m_valid, m_ready)
        self._receipt(done, fetching)
        if ordering:
            assert not s_ready, f"cycle {self.cycle}: s_axis_tready is 1 though an order goes first"
        if not (may_order if ordering else s_ready) and not disturbs:
            timing.held("s_ctrl" if ordering else "s_axis")
        self.coverage.cycle(
            Cycle(
                offered=self.packets.beat is not None,
                taken=s_ready,
                answer=m_valid,
                answer_taken=m_ready,
                ordering=self.orders.beat is not None,
                order_taken=may_order,
                order_inside=inside,
                receipt=done,
                receipt_taken=fetching,
                sweeping=timing.sweeping,
                leaping=timing.leaping,
                in_flight=in_flight,
                undisturbed=self.cycle - timing.last_disturbed,
            )
        )
        if self.orders.beat is not None and may_order:
            assert ordering, f"cycle {self.cycle}: an order is taken before the last one's receipt"
            self._order()
        elif self.packets.beat is not None and s_ready:
            self._accept()

    def _answer(self, m_valid: bool, m_ready: bool) -> None:
        where = f"cycle {self.cycle}: answer {self.answered}"
        if not m_valid:
            assert self._held is None, f"{where}: m_axis_tvalid fell before it was taken"
            if self.expected:
                self.timing.missing(where, self.expected[0])
            return
        assert self.expected, f"{where}: m_axis_tvalid is 1 though no answer is due"
        entry = self.expected[0]
        data, no_data = sample(self.dut.m_axis_tdata)
        gap, no_gap = sample(self.dut.m_axis_tuser)
        if self._held is not None:
            assert (data, gap) == self._held, f"{where}: changed before it was taken"
        else:
            self.timing.came(where, entry)
            assert (data, gap) == (entry.what.tdata, entry.what.gap), (
                f"{where}: {entry.what.difference(data, gap)}"
            )
            assert not no_data | no_gap, f"{where}: m_axis has unknown bits"
        self._held = None if m_ready else (data, gap)
        if m_ready:
            self.expected.popleft()
            self.answered += 1
            self.marks += entry.what.verdict["mark"]

    def _receipt(self, done: bool, fetching: bool) -> None:
        where = f"cycle {self.cycle}: receipt {self.fetched}"
        if not done:
            assert self._kept is None, f"{where}: m_ctrl_tvalid fell before it was taken"
            if self.asked:
                self.timing.missing(where, self.asked)
            return
        assert self.asked, f"{where}: m_ctrl_tvalid is 1 though no receipt is due"
        data, unknown = sample(self.dut.m_ctrl_tdata)
        if self._kept is not None:
            assert data == self._kept, f"{where}: changed before it was taken"
        else:
            self.timing.came(where, self.asked)
            got = unpacked(receipt(self.config), data)
            assert got == self.asked.what, f"{where}: is {got}, not {self.asked.what}"
            assert not unknown, f"{where}: m_ctrl_tdata has unknown bits"
        self._kept = None if fetching else data
        if fetching:
            self.asked = None
            self.fetched += 1

    def _order(self) -> None:
        asked: Order = self.orders.take()
        found = self.model.order(asked)
        jobs = [entry.what.packet.job for entry in self.expected]
        self.coverage.ordered(self.cycle, asked, found, jobs)
        self.asked = self.timing.entered(found, packet=False)

    def _accept(self) -> None:
        offer: Offer = self.packets.take()
        self.taken += 1
        before = self.model.clock.now
        answer = self.model.answer(replace(offer.packet, time_ns=self.now))
        disturbed, busy = self.timing.last_disturbed, bool(self.expected)
        self.coverage.entered(self.cycle, disturbed, answer, before, busy)
        self.expected.append(self.timing.entered(answer, packet=True))
