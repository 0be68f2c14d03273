"""Counters of every job, and the two ways out: to the packet's owner and to the control plane."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.ecn import CE, NOT_ECT
from models.symphony.beat import GIVE, PACKET, VERDICT, colored, counters, receipt
from models.symphony.coin import gap_bits
from models.symphony.config import SymphonyConfig
from rtl.common.counters import Counters
from rtl.common.stage import Stages


def verdict_layout(c: SymphonyConfig) -> data.StructLayout:
    """What leaves with a packet: `beat.VERDICT`, and above it the gap."""
    return data.StructLayout({**dict.fromkeys(VERDICT, 1), "ecn": 2, "gap": gap_bits(c)})


class Tally(wiring.Component):
    """Counts each packet at its job, sets its ECN field, and answers orders. Latency 2 cycles;
    throughput one beat a cycle.

    A packet is marked if Symphony or RED says so and its ECN field is not Not-ECT (RFC 3168); it
    leaves as CE then, else as it came. An answer to an order waits in a register of its own until
    it is fetched, so that it holds no packet; the next order must not enter before.

    Args:
        config: a `SymphonyConfig`; without `counter_bits` answers have no counters.

    Ports:
        i (stream of `beat.colored`), o (stream of `verdict_layout`).
        answer (stream of `beat.receipt`): counters as the order found them.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        self.latency = 2
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(colored(c)))),
                "o": Out(stream.Signature(verdict_layout(c))),
                "answer": Out(stream.Signature(data.StructLayout(receipt(c)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        i, answer = self.i, self.answer
        running: Value = Const(1)
        if c.counter_bits:
            rows = Counters(m, tuple(counters(c)), c.counter_bits, c.jobs)
            running = rows.running
        out = stream.Signature(verdict_layout(c)).create()
        stages = Stages(m, i, out, depth=2, enabled=running)
        here = stages.register(i.p, "here")
        may = here.ecn != NOT_ECT
        mark = (here.symphony | here.red) & may
        verdict = {
            "ecn": Mux(mark, CE, here.ecn),
            "mark": mark,
            "symphony": here.symphony,
            "red": here.red,
            "known": here.known,
            "outpacing": here.outpacing,
            "gap": here.gap,
        }
        m.d.comb += [
            out.p[name].eq(stages.register(value, f"leaving_{name}"))
            for name, value in verdict.items()
        ]
        is_order = stages.register(here.op != PACKET, "is_order")
        m.d.comb += [
            self.o.payload.eq(out.payload),
            self.o.valid.eq(out.valid & ~is_order),
            out.ready.eq(self.o.ready | is_order),
        ]

        found = {"job": here.job, "op": here.op, "known": here.known}
        if c.counter_bits:
            inside = Const(1) if c.jobs == 1 << c.job_bits else here.job < c.jobs
            packet = here.op == PACKET
            steps = {
                "packets": here.known & packet,
                "outpacing": here.outpacing & packet,
                "symphony": here.symphony & may & packet,
                "red": here.red & may & packet,
                "unknown": ~here.known & packet,
            }
            values = rows.connect(stages, i.p.job, steps, here.op == GIVE, inside)
            found |= {n: v & inside.replicate(c.counter_bits) for n, v in values.items()}
        kept = Signal(data.StructLayout(receipt(c)), reset_less=True)
        with m.If(stages.advance & stages.valid[0] & (here.op != PACKET)):
            m.d.sync += answer.valid.eq(1)
            m.d.sync += Value.cast(kept).eq(Cat(found[name] for name in receipt(c)))
        with m.Elif(answer.ready):
            m.d.sync += answer.valid.eq(0)
        m.d.comb += answer.payload.eq(kept)
        return m
