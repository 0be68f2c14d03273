"""Window edges: how many have passed from one packet to the next."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.csig.beat import asked, timed
from models.csig.config import CsigConfig
from rtl.common.stage import Stages

DIGIT = 16
"""Bits that an addition takes in one cycle."""

WINDOW_BITS = 24


def edge_bits(c: CsigConfig) -> int:
    """Width of the part of time that edges are kept in, bits: it may wrap around, since the next
    edge is never far."""
    return min(32, c.time_bits)


class Edge(wiring.Component):
    """Keeps the next edge of windows of one length, and counts the edges that pass between packets.

    `far`, the edge behind the next one, is added up a digit a cycle behind the packets' backs. Time
    runs on by itself: where it has passed more than one edge, edges are stepped over one by one and
    packets wait meanwhile. A load sets the next edge, for windows to start where others do and for
    time that leaps; it counts as two edges.

    Ports:
        window (in, 24): length of a window, held still. time (in): the low bits of time.
        load (in), load_edge (in): set the next edge at the next clock edge.
        accept (in): a packet is taken at the next clock edge.
        settled (out): a packet may be. passed (out, 2): edges since the packet before, at most 2.
    """

    def __init__(self, bits: int) -> None:
        self.bits = bits
        self.digits = -(-bits // DIGIT)
        super().__init__(
            {
                "window": In(WINDOW_BITS),
                "time": In(bits),
                "load": In(1),
                "load_edge": In(bits),
                "accept": In(1),
                "settled": Out(1),
                "passed": Out(2),
            }
        )

    def reached(self, edge: Value) -> Value:
        """Whether time is at an edge or behind it, in a time that wraps around."""
        below = self.time[:-1] >= edge[: self.bits - 1]
        return below ^ self.time[-1] ^ edge[self.bits - 1]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self.digits * DIGIT
        edge, far = Signal(width, reset_less=True), Signal(width, reset_less=True)
        kept, more = Signal(2), Signal()
        crossed, beyond = Signal(), Signal()
        m.d.comb += [
            crossed.eq(self.reached(edge)),
            beyond.eq(self.reached(far)),
            self.passed.eq(Mux(more & ~kept[1], kept + 1, kept)),
        ]
        m.d.sync += kept.eq(Mux(self.accept, 0, self.passed))

        digit, carry = Signal(range(max(2, self.digits))), Signal()
        total = Signal(DIGIT + 1)
        length = Signal(width)
        m.d.comb += [
            length.eq(self.window),
            total.eq(edge.word_select(digit, DIGIT) + length.word_select(digit, DIGIT) + carry),
        ]
        restart = Signal()  # far is made anew from edge
        m.d.comb += restart.eq(self.load)
        running = Signal()
        first = Signal(init=1)  # the first edge is not set yet
        with m.If(first):
            m.d.sync += [first.eq(0), edge.eq(self.window)]
            m.d.comb += restart.eq(1)
        with m.Elif(running):
            m.d.comb += [more.eq(crossed), self.settled.eq(~beyond)]
            with m.If(crossed):
                m.d.sync += edge.eq(far)
                m.d.comb += restart.eq(1)
        with m.Else():
            m.d.comb += self.settled.eq(~crossed)
            m.d.sync += [
                far.word_select(digit, DIGIT).eq(total),
                carry.eq(total[-1]),
                digit.eq(digit + 1),
                running.eq(digit == self.digits - 1),
            ]
        with m.If(self.load):
            m.d.comb += self.settled.eq(0)
            m.d.sync += [edge.eq(self.load_edge), kept.eq(2), first.eq(0)]
        with m.If(restart):
            m.d.sync += [digit.eq(0), carry.eq(0), running.eq(0)]
        return m


class Clock(wiring.Component):
    """Tells each packet how many window edges have passed since the one before. Latency 1 cycle;
    throughput one packet a cycle while time crosses at most one edge in 3 cycles.

    Where software writes all values there are no windows, and packets are only told the time.

    Args:
        config: a `CsigConfig`.

    Ports:
        i (stream of `beat.asked`), o (stream of `beat.timed`).
        now (in, time_bits): time, ns, which runs on by itself; a packet's is that of the cycle in
        which it is taken.
        window_N (in, 24) for each clock: length of its windows, ns.
        load (in, one bit a clock), load_edge (in): sets a clock's next edge.
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        self.latency = 1
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(asked(c)))),
                "o": Out(stream.Signature(data.StructLayout(timed(c)))),
                "now": In(c.time_bits),
                **{f"window_{clock}": In(WINDOW_BITS) for clock in range(c.window_clocks)},
                "load": In(c.window_clocks),
                "load_edge": In(unsigned(edge_bits(c))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        settled = Signal(c.window_clocks)
        enabled = settled.all() if c.native else 1
        stages = Stages(m, self.i, self.o, depth=1, enabled=enabled)
        stages.carry(self.i, self.o)
        if c.agent:
            m.d.comb += self.o.p.time.eq(stages.register(self.now, "time"))
        for clock in range(c.window_clocks):
            m.submodules[f"edge_{clock}"] = edge = Edge(edge_bits(c))
            m.d.comb += [
                edge.window.eq(getattr(self, f"window_{clock}")),
                edge.time.eq(self.now),
                edge.load.eq(self.load[clock]),
                edge.load_edge.eq(self.load_edge),
                edge.accept.eq(stages.accept),
                settled[clock].eq(edge.settled),
                self.o.p[f"passed_{clock}"].eq(stages.register(edge.passed, f"passed_{clock}")),
            ]
        return m
