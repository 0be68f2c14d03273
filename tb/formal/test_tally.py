"""Proof of the counters, which carry late: an order reads what counting one by one gives."""

from __future__ import annotations

from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from amaranth.hdl import Cat, Mux, Signal, Value

import rtl.common.counters
import rtl.symphony.tally
from models.common.ecn import NOT_ECT
from models.symphony.beat import GIVE, PACKET, counters
from models.symphony.config import SymphonyConfig
from tb.formal.bench import Bench
from tb.formal.changed import changed
from tb.formal.prove import Disproved, prove
from tb.formal.small import SMALL, surrounded
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal

CONFIG = SymphonyConfig(jobs=3, **SMALL)
BITS = CONFIG.counter_bits
HALF = BITS // 2


class TallyBench(Bench):
    """A tally of which one job, any job, is looked at; one order at a time."""

    def __init__(self, home: ModuleType = rtl.common.counters) -> None:
        super().__init__(resets=True)
        m = self.m
        dut = rtl.symphony.tally.Tally(CONFIG)
        with mock.patch.object(rtl.symphony.tally, "Counters", home.Counters):
            watch = Watch(dut, parts=(home,))
        (stages,), (file,) = watch.stages, watch.files.values()
        (here,) = stages.registers["here"]
        surrounded(self, dut)
        job = self.constant(CONFIG.job_bits, "a_job")
        self.assume(job < CONFIG.jobs)

        came = dut.i.p
        taken = dut.i.valid & dut.i.ready
        mine = taken & (came.job == job)
        packet, may = came.op == PACKET, came.ecn != NOT_ECT
        steps = (
            came.known,
            came.known & came.outpacing,
            came.symphony & may,
            came.red & may,
            ~came.known,
        )
        self.assume(came.known | ~came.outpacing)
        waits = Signal(name="order_waits")
        with m.If(taken & ~packet):
            m.d.sync += waits.eq(1)
        with m.Elif(dut.answer.valid & dut.answer.ready):
            m.d.sync += waits.eq(0)
        self.assume(~(dut.i.valid & ~packet & waits))

        row = file.left(job)
        running = self.see("running", file.running)
        ours = Signal(name="ours")
        with m.If(taken & ~packet):
            m.d.sync += ours.eq(mine)
        for name, step in zip(counters(CONFIG), steps, strict=True):
            count, found = Signal(BITS, name=f"count_{name}"), Signal(BITS, name=f"found_{name}")
            with m.If(mine):
                m.d.sync += count.eq(Mux(packet, count + step, Mux(came.op == GIVE, 0, count)))
            with m.If(mine & ~packet):
                m.d.sync += found.eq(count)
            self.check(f"{name}_row", ~running | (self._sum(row[name]) == count))
            is_order = file.here(job) & (here.op != PACKET)
            value = self._sum(file.value[name])
            self.check(f"{name}_order", ~is_order | (value == found))
            answer = dut.answer.p[name] == found
            self.check(f"{name}_answer", ~(dut.answer.valid & ours) | answer)
            self.check(f"{name}_swept", running | (count == 0))
        value = Value.cast(file.value) == Value.cast(file.peek(job))
        self.check("value", ~file.here(job) | value)
        self.check("address", ~stages.valid[0] | (file.address == here.job))
        order_here = stages.valid[0] & (here.op != PACKET)
        self.check("order", (dut.answer.valid + order_here) == waits)
        self.check("order_is_ours", ~order_here | (ours == (here.job == job)))
        self.check("waits_for_the_sweep", running | ~stages.valid[0])
        swept = ~(job < file.sweep) | (Value.cast(file.peek(job)) == 0)
        self.check("sweep", running | swept)

    @staticmethod
    def _sum(counter: Any) -> Value:
        """Return what a counter's three parts stand for."""
        high = (counter.high + counter.carry)[: BITS - HALF]
        return Cat(counter.low, high)


def test_counters() -> None:
    """By 1-induction: any beats, stalls and resets; counters wrap around."""
    prove(TallyBench(), "tally", depth=1)


FAULTS = {
    "carry forgotten": ("count.high + count.carry", "count.high"),
    "carry not kept": ("following.carry.eq(low[-1])", "following.carry.eq(0)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    """By the induction: the first carry comes after 15 packets, and a run of so many is dear."""
    broken = TallyBench(changed(rtl.common.counters, *FAULTS[fault]))
    with pytest.raises(Disproved, match="_row .*FAILS"):
        prove(broken, f"tally-{fault.replace(' ', '-')}", depth=1)
