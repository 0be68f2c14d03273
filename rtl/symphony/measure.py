"""How far a packet is in its step, and that number as psn_rec is stored (seed section 3.2.1)."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.symphony.beat import measured, timed
from models.symphony.config import SymphonyConfig
from rtl.common.log2 import Log2
from rtl.common.stage import Stages


class Measure(wiring.Component):
    """Turns a packet's PSN into its position in its step and that into what psn_rec is stored as:
    its logarithm, or itself. Latency 1 cycle, 2 where PSNs run on from step to step; throughput one
    beat a cycle.

    Args:
        config: a `SymphonyConfig`.

    Ports:
        i (stream of `beat.timed`), o (stream of `beat.measured`).
        n_warmup (in, psn_bits): N_warmup, which `above` compares the position with.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        self.latency = 2 if c.step_packets else 1
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(timed(c)))),
                "o": Out(stream.Signature(data.StructLayout(measured(c)))),
                "n_warmup": In(c.psn_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        i, o = self.i, self.o
        stages = Stages(m, i, o, depth=self.latency)
        stages.carry(i, o)
        position: Value = i.p.psn
        if c.step_packets:
            found = Signal(c.psn_bits)
            m.d.comb += found.eq(i.p.psn - i.p.step * c.step_packets)
            position = stages.register(found, "position")
        progress: Value = position
        if c.arithmetic == "log":
            m.submodules.log2 = log2 = Log2(c.psn_bits, c.mantissa_bits, c.fraction_bits)
            m.d.comb += log2.value.eq(position)
            progress = log2.code
        m.d.comb += [
            o.p.progress.eq(stages.register(progress, "stored")),
            o.p.some.eq(stages.register(position != 0, "some")),
            o.p.above.eq(stages.register(position > self.n_warmup, "above")),
        ]
        return m
