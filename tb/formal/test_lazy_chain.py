"""Proof of Touch and Progress together, of every job at once: lazy equals eager, cycle by cycle."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.hdl import Const, Mux, Signal, Value
from amaranth.lib.wiring import connect

import rtl.common.rewrite
import rtl.symphony.progress
import rtl.symphony.touch
from models.symphony.beat import PACKET
from models.symphony.config import SymphonyConfig
from rtl.common.log2 import Log2
from rtl.symphony.progress import Progress
from rtl.symphony.touch import Touch
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.eager import Answer, Beat, Eager, free_settings
from tb.formal.prove import prove
from tb.formal.small import SMALL
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal

CONFIG = SymphonyConfig(jobs=2, **SMALL)
DEPTH = 12
"""Cycles: reset, 2 of the sweep, and then up to 5 beats and the latency of 4."""


class ChainBench(Bench):
    """Beats with window numbers that rise by any number; one beat, any of the first 8, is looked
    at. The words of Touch start with anything."""

    def __init__(self, touch: Any = Touch) -> None:
        super().__init__()
        c, m = CONFIG, self.m
        m.submodules.touch = first = touch(c)
        unswept = changed(rtl.common.rewrite, "port.en.eq(1)", "port.en.eq(0)")
        Watch(first, rewrite=unswept.Rewrite)
        m.submodules.progress = progress = Progress(c)
        connect(m, first.o, progress.i)
        self.drive(first.i)
        self.drain(progress.o)
        s = free_settings(self, c)
        m.d.comb += [
            progress.n_sample.eq(s.n_sample),
            progress.alpha_max.eq(s.alpha_max),
            progress.tau.eq(c.tau_code),
        ]
        given = first.i.p
        taken = self.see("taken", first.i.valid & first.i.ready)
        packet = taken & (given.op == PACKET)
        newest = Signal.like(given.serial, name="newest")
        with m.If(packet):
            m.d.sync += newest.eq(given.serial)
        self.assume(~packet | (given.serial >= newest))
        edge = self.see("edge", given.serial != newest)
        psn = self.free(c.psn_bits, "psn")
        beat = Beat(taken, given.op, given.job, given.step, psn, given.last, edge, edge)
        self.assume(given.progress == self.stored(psn, "given"))
        self.assume(given.above == (psn > s.n_warmup))
        self.eager = [Eager(m, c, Const(job, 1), beat, s, f"job{job}") for job in range(c.jobs)]
        answer = Answer(
            *(
                Mux(given.job, one, zero)
                for zero, one in zip(*(e.answer for e in self.eager), strict=True)
            )
        )

        number = self.constant(3, "number")
        came, left = Signal(4), Signal(4)
        gone = self.see("gone", progress.o.valid & progress.o.ready)
        m.d.sync += [came.eq(came + taken), left.eq(left + gone)]
        kept = Answer(
            *(Signal(len(part), name=f"kept_{f}") for f, part in answer._asdict().items())
        )
        is_packet = Signal()
        with m.If(taken & (came == number)):
            m.d.sync += [k.eq(a) for k, a in zip(kept, answer, strict=True)]
            m.d.sync += [kept.tossed.eq(answer.tossed & given.moving), is_packet.eq(packet)]
        out = progress.o.p
        ours = self.ours = self.see("ours", progress.o.valid & (left == number))
        self.check("none_from_nothing", ~progress.o.valid | (left < came))
        self.check("known", ~ours | (out.known == kept.known))
        of_packet = ours & is_packet
        self.check("outpacing", ~of_packet | (out.outpacing == kept.outpacing))
        self.check("tossed", ~of_packet | (out.tossed == kept.tossed))
        self.check("alpha", ~of_packet | ~kept.known | (out.alpha == kept.alpha))
        self.check(
            "psn_rec", ~of_packet | ~kept.known | (out.rec == self.stored(kept.psn_rec, "kept"))
        )

        orders, slept = Signal(4), Signal()
        m.d.sync += orders.eq(orders + (taken & ~packet))
        with m.If(packet & (given.serial > newest + 1) & (came > 1)):
            m.d.sync += slept.eq(1)
        self.reached = ours & kept.tossed & (kept.alpha == 2) & slept & (orders > 1)

    def stored(self, psn: Value, name: str) -> Value:
        """Return a PSN's logarithm."""
        c = CONFIG
        self.m.submodules[f"log2_{name}"] = log2 = Log2(
            c.psn_bits, c.mantissa_bits, c.fraction_bits
        )
        self.m.d.comb += log2.value.eq(psn)
        return log2.code


def test_lazy_is_eager() -> None:
    prove(ChainBench(), "lazy-chain", depth=DEPTH, induction=False)


def test_depth_is_enough() -> None:
    """Within it a job gets a slot, sleeps more than a window, has its α moved, and then a packet
    that the coin is tossed for; and another order is carried out."""
    bench = ChainBench()
    bench.check("never", ~bench.reached)
    disprove(bench, "lazy-chain-depth", depth=DEPTH)


def test_a_fault_is_seen() -> None:
    """Windows told by one bit of their numbers alias."""
    aliasing = changed(rtl.symphony.touch, "word.serial == serial", "word.serial[0] == serial[0]")
    disprove(ChainBench(aliasing.Touch), "lazy-chain-broken", depth=DEPTH)
