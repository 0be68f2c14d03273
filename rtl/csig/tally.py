"""Counters of every port."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.csig.beat import COUNTER_BITS, COUNTERS, FLAGS, count_answer, count_read, rebuilt
from models.csig.config import CsigConfig
from rtl.common.counters import Counters
from rtl.common.stage import Stages


class Tally(wiring.Component):
    """Counts each packet at its port. Latency 2 cycles; throughput one packet a cycle; a reading of
    counters takes the place of one packet.

    Args:
        config: a `CsigConfig`.

    Ports:
        i, o (streams of `beat.rebuilt`).
        read (stream of `beat.count_read`): the next is taken when the last has been answered.
        answer (stream of `beat.count_answer`).
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        self.latency = 2
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(rebuilt(c)))),
                "o": Out(stream.Signature(data.StructLayout(rebuilt(c)))),
                "read": In(stream.Signature(data.StructLayout(count_read(c)))),
                "answer": Out(stream.Signature(data.StructLayout(count_answer(c)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c, i, o = self.config, self.i, self.o
        rows = Counters(m, COUNTERS, COUNTER_BITS, c.ports)
        layout = data.StructLayout({**rebuilt(c), "clear": 1, "reading": 1})
        into, out = stream.Signature(layout).create(), stream.Signature(layout).create()
        busy, reading = Signal(), Signal()
        m.d.comb += [
            reading.eq(self.read.valid & ~busy),
            into.valid.eq(reading | i.valid),
            i.ready.eq(into.ready & ~reading),
            self.read.ready.eq(into.ready & ~busy),
            *(into.p[name].eq(i.p[name]) for name in rebuilt(c) if name != "port"),
            into.p.port.eq(Mux(reading, self.read.p.port, i.p.port)),
            into.p.clear.eq(reading & self.read.p.clear),
            into.p.reading.eq(reading),
        ]
        with m.If(self.read.valid & self.read.ready):
            m.d.sync += busy.eq(1)
        with m.Elif(self.answer.valid & self.answer.ready):
            m.d.sync += busy.eq(0)

        stages = Stages(m, into, out, depth=2, enabled=rows.running)
        here = stages.register(into.p, "here")
        m.d.comb += out.payload.eq(stages.register(here, "leaving"))
        steps = {name: here[name] & ~here.reading for name in FLAGS}
        steps = {"packets": ~here.reading, **steps}
        inside = Const(1) if c.ports == 1 << c.port_bits else here.port < c.ports
        found = rows.connect(stages, into.p.port, steps, here.clear, inside)
        m.d.comb += [
            o.valid.eq(out.valid & ~out.p.reading),
            out.ready.eq(o.ready | out.p.reading),
            *(o.p[name].eq(out.p[name]) for name in rebuilt(c)),
        ]
        kept = Signal(data.StructLayout(count_answer(c)), reset_less=True)
        with m.If(stages.advance & stages.valid[0] & here.reading):
            m.d.sync += self.answer.valid.eq(1)
            m.d.sync += kept.port.eq(here.port)
            m.d.sync += [Value.cast(kept[name]).eq(Cat(found[name])) for name in COUNTERS]
        with m.Elif(self.answer.ready):
            m.d.sync += self.answer.valid.eq(0)
        m.d.comb += self.answer.payload.eq(kept)
        return m
