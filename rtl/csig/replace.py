"""Compare and replace: the hop's value against the tag's."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from models.csig.beat import answered, coded
from models.csig.config import CsigConfig
from models.csig.signals import SIGNAL_BITS, SIGNALS
from rtl.common.stage import Stages


class Compare(wiring.Component):
    """Whether the hop's code is strictly more severe than the tag's value. Combinational.

    Ports:
        signal (in), ours (in), theirs (in), severe (out).
    """

    def __init__(self, config: CsigConfig) -> None:
        bits = config.value_bits
        values = {"ours": In(bits), "theirs": In(bits)}
        super().__init__({"signal": In(SIGNAL_BITS), **values, "severe": Out(1)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        keeps = {signal.number: signal.keep for signal in SIGNALS}
        smallest = Cat(keeps.get(n) == "min" for n in range(1 << SIGNAL_BITS))
        smaller = smallest.bit_select(self.signal, 1)
        first, second = Mux(smaller, self.theirs, self.ours), Mux(smaller, self.ours, self.theirs)
        m.d.comb += self.severe.eq(first > second)
        return m


class Replace(wiring.Component):
    """Compares, and names the value and locator that replace a tag's where the hop is worse off.
    Latency 1 cycle; throughput one packet a cycle.

    Args:
        config: a `CsigConfig`.

    Ports:
        i (stream of `beat.coded`), o (stream of `beat.answered`).
        locator, locator_port, locator_write (in): what a port is called.
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        self.latency = 1
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(coded(c)))),
                "o": Out(stream.Signature(data.StructLayout(answered(c)))),
                "locator": In(16),
                "locator_port": In(max(1, c.port_bits)),
                "locator_write": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c, i, o = self.config, self.i, self.o
        stages = Stages(m, i, o, depth=1)
        m.submodules.locators = locators = memory.Memory(
            shape=c.locator_bits, depth=max(2, c.ports), init=[]
        )
        write, read = locators.write_port(), locators.read_port()
        m.submodules.compare = compare = Compare(c)
        m.d.comb += [
            write.addr.eq(self.locator_port),
            write.data.eq(self.locator),
            write.en.eq(self.locator_write),
            read.addr.eq(i.p.port),
            read.en.eq(stages.advance),
            compare.signal.eq(i.p.signal),
            compare.ours.eq(i.p.code),
            compare.theirs.eq(i.p.value),
        ]
        here = stages.register(i.p, "here")
        m.d.comb += [
            o.p.port.eq(here.port),
            o.p.value.eq(here.code),
            o.p.locator.eq(read.data),
            o.p.replaced.eq(stages.register(i.p.update & compare.severe, "severe")),
            o.p.stripped.eq(here.stripped),
            o.p.unknown.eq(here.unknown),
            o.p.stale.eq(here.stale),
        ]
        return m
