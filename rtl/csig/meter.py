"""What a port has left of its window, and the measure that a signal is about."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.csig.beat import chosen, measured
from models.csig.config import CsigConfig
from models.csig.signals import SIGNAL_BITS, SIGNALS
from rtl.common.rewrite import Rewrite
from rtl.common.stage import Stages

CURRENT, CLOSED, OLD = range(3)
"""Ages of what a port has counted: its window is the present one, the one before, or older."""


class Spend(wiring.Component):
    """Takes a packet's bits from what is left, never below 0. Combinational.

    The subtraction is cut in two halves, the upper one made for both borrows, since a carry that
    runs through all of it would be as deep as it is wide.

    Ports:
        left (in), bytes (in), rest (out).
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        super().__init__(
            {
                "left": In(c.available_bits),
                "bytes": In(c.bytes_bits),
                "rest": Out(c.available_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        whole: Value = self.left[3:]  # a packet is whole bytes
        # Short windows have less bits than a packet may.
        whole = Cat(whole, Const(0, max(0, self.config.bytes_bits - len(whole))))
        half = len(whole) // 2
        low = Signal(half + 1)
        high, borrowed = Signal(len(whole) - half + 1), Signal(len(whole) - half + 1)
        spent = self.bytes[half:]
        m.d.comb += [
            low.eq(whole[:half] - self.bytes[:half]),
            high.eq(whole[half:] - spent),
            borrowed.eq(whole[half:] - spent - 1),
        ]
        upper = Mux(low[-1], borrowed, high)
        below = upper[-1]
        m.d.comb += self.rest.eq(Mux(below, 0, Cat(self.left[:3], low[:-1], upper[:-1])))
        return m


class Meter(wiring.Component):
    """Measures a port's available bandwidth, and picks what the signal is about. Latency 2 cycles,
    none where software writes all values; throughput one packet a cycle, also for one port every
    cycle.

    A packet sees what the window before its own had left of C·t, all of it if that one was idle.
    Every port's age (present, closed, older) moves on at each edge of its clock, so that nothing
    has to be visited when a window ends. Where software writes all values nothing is measured.

    Args:
        config: a `CsigConfig`.

    Ports:
        i (stream of `beat.chosen`), o (stream of `beat.measured`).
        capacity (in), capacity_clock (in), capacity_port (in), capacity_write (in): the bits of a
        port's window, and which clock it follows.
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        self.latency = 2 if c.native else 0
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(chosen(c)))),
                "o": Out(stream.Signature(data.StructLayout(measured(c)))),
                "capacity": In(c.available_bits),
                "capacity_clock": In(bits_for(c.clocks)),
                "capacity_port": In(max(1, c.port_bits)),
                "capacity_write": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c, i, o = self.config, self.i, self.o
        if not c.native:
            Stages(m, i, o, depth=0).carry(i, o)
            return m
        layout = data.StructLayout({"left": c.available_bits, "closed": c.available_bits})
        file = Rewrite(m, layout, c.ports, 0, "windows") if c.ports > 1 else None
        running: Value = Const(1) if file is None else file.running
        stages = Stages(m, i, o, depth=2, enabled=running)
        stages.carry(i, o)
        here = stages.register(i.p, "here")
        age = stages.register(self._age(m, stages), "age")
        capacity = self._capacity(m, stages)

        word: Any
        after: Any
        if file is None:
            word, after = (
                Signal(layout, name="window", reset_less=True),
                Signal(layout, name="after"),
            )
            with m.If(stages.advance & stages.valid[0]):
                m.d.sync += word.eq(after)
        else:
            word, after = file.connect(stages, i.p.port)
        m.submodules.spend = spend = Spend(c)
        m.d.comb += [
            spend.left.eq(Mux(age == CURRENT, word.left, capacity)),
            spend.bytes.eq(here.bytes),
            after.left.eq(spend.rest),
            after.closed.eq(
                Mux(age == CURRENT, word.closed, Mux(age == CLOSED, word.left, capacity))
            ),
        ]
        measure_of = {signal.number: signal.measure for signal in SIGNALS}
        available = Cat(measure_of.get(n) == "available" for n in range(1 << SIGNAL_BITS))
        measure = Mux(available.bit_select(here.signal, 1), after.closed, here.other)
        m.d.comb += o.p.measure.eq(stages.register(measure, "measure"))
        return m

    def _age(self, m: Module, stages: Stages) -> Value:
        """The age of what the entering packet's port has counted.

        All ages stand in two words, a bit a port, which a simulator moves on in a few instructions.
        """
        c, port = self.config, self.i.p.port
        closed, old = Signal(c.ports, name="age_closed"), Signal(c.ports, name="age_old", init=-1)
        aged_closed = Signal(c.ports)
        aged_old = Signal(c.ports)
        one, more = self._passed(m)
        m.d.comb += [
            aged_old.eq(old | more | (closed & one)),
            aged_closed.eq((closed | one) & ~aged_old),
        ]
        others = ~(Const(1) << port)
        with m.If(stages.accept):
            m.d.sync += [closed.eq(aged_closed & others), old.eq(aged_old & others)]
        return Cat(aged_closed.bit_select(port, 1), aged_old.bit_select(port, 1))

    def _passed(self, m: Module) -> list[Value]:
        """Two words, a bit a port: whether its clock has passed one edge, and whether two."""
        c, i = self.config, self.i.p
        passed = [i[f"passed_{n}"] for n in range(c.clocks)]
        words = [[value[bit].replicate(c.ports) for value in passed] for bit in range(2)]
        for bit in range(bits_for(c.clocks)):
            clock = Signal(c.ports, name=f"clock_{bit}", reset_less=True)
            mine = Const(1) << self.capacity_port
            with m.If(self.capacity_write):
                m.d.sync += clock.eq(Mux(self.capacity_clock[bit], clock | mine, clock & ~mine))
            for number, of_clocks in enumerate(words):
                pairs = zip_longest(of_clocks[::2], of_clocks[1::2], fillvalue=of_clocks[-1])
                words[number] = [low & ~clock | high & clock for low, high in pairs]
        return [word for (word,) in words]

    def _capacity(self, m: Module, stages: Stages) -> Value:
        """The bits of a window of the packet's port, in stage 0."""
        c = self.config
        m.submodules.capacities = capacities = memory.Memory(
            shape=c.available_bits, depth=max(2, c.ports), init=[]
        )
        write, read = capacities.write_port(), capacities.read_port()
        m.d.comb += [
            write.addr.eq(self.capacity_port),
            write.data.eq(self.capacity),
            write.en.eq(self.capacity_write),
            read.addr.eq(self.i.p.port),
            read.en.eq(stages.advance),
        ]
        return read.data
