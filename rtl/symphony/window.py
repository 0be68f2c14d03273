"""Time stamps become window numbers (seed sections 3.4.2 and 3.4.3)."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.symphony.beat import PACKET, asked, timed
from models.symphony.config import SymphonyConfig
from models.symphony.touch import serial_bits
from rtl.common.stage import Stages

DIGIT = 17
"""Bits that an addition takes in one cycle."""


class Edge(wiring.Component):
    """Keeps the next edge of windows of one length, and gives each window a serial number.

    ```
                far = edge + window
    ───┬──────────┬──────────┬─────► time     below edge      the window is the same
       │  window  │   edge   │ far            edge to far     the next one: edge and far move on
                                              far and above   leap: find the window first
    ```

    Numbers are as wide as time, so `far` and the next serial number are added up a digit a cycle,
    behind the packets' backs; a packet that crosses an edge before they are ready waits. A leap
    tries steps of 1, 2, 4, … windows until one is too far, and …, 4, 2, 1 back, without division.

    Args:
        time_bits: width of time, bits.
        serials: width of a serial number, bits.

    Ports:
        window (in, 32): length of a window, held still.
        ask (in), time (in): a packet and its stamp; accept (in): it is taken at the next edge.
        settled (out): the packet may be taken. serial (out): the number of its window.
    """

    def __init__(self, time_bits: int, serials: int) -> None:
        self.time_bits = time_bits
        self.digits = -(-(time_bits + 2) // DIGIT)  # a trial may lie beyond the end of time
        super().__init__(
            {
                "window": In(32),
                "ask": In(1),
                "time": In(time_bits),
                "accept": In(1),
                "settled": Out(1),
                "serial": Out(serials),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self.digits * DIGIT
        edge, far, stride = (
            Signal(width, name=name, reset_less=True) for name in ("edge", "far", "stride")
        )
        number, following = Signal(width), Signal(width)
        level = Signal(bits_for(self.time_bits + 1))  # stride is window·2**level
        leaping, upward, beyond, arriving = Signal(), Signal(), Signal(), Signal()
        crossed = Signal()
        m.d.comb += [
            crossed.eq(self.time >= edge),
            self.serial.eq(Mux(crossed, following, number)),
        ]

        digit = Signal(range(self.digits))
        carry, carry_number = Signal(), Signal()
        total, successor = Signal(DIGIT + 1), Signal(DIGIT + 1)
        m.d.comb += [
            total.eq(edge.word_select(digit, DIGIT) + stride.word_select(digit, DIGIT) + carry),
            successor.eq(number.word_select(digit, DIGIT) + carry_number),
        ]

        def add() -> None:
            """Go and make far = edge + stride and following = number + 1."""
            m.d.sync += [digit.eq(0), carry.eq(0), carry_number.eq(1)]
            m.next = "add"

        with m.FSM(init="load"):
            with m.State("load"):
                m.d.sync += [edge.eq(self.window), stride.eq(self.window), level.eq(0)]
                add()
            with m.State("add"):
                m.d.comb += self.settled.eq(~leaping & ~(self.ask & crossed))
                m.d.sync += [
                    far.word_select(digit, DIGIT).eq(total),
                    following.word_select(digit, DIGIT).eq(successor),
                    carry.eq(total[-1]),
                    carry_number.eq(successor[-1]),
                    digit.eq(digit + 1),
                ]
                with m.If(digit == self.digits - 1):
                    m.next = "look"
            with m.State("look"):
                leap = self.ask & (self.time >= far)
                m.d.sync += beyond.eq(leap)
                m.d.comb += self.settled.eq(~leaping & ~leap)
                with m.If(arriving):
                    m.d.sync += [arriving.eq(0), leaping.eq(0)]
                    m.d.sync += [edge.eq(far), number.eq(following)]
                    add()
                with m.Elif(leaping):
                    m.next = "leap"
                with m.Elif(leap):
                    m.d.sync += [leaping.eq(1), upward.eq(1)]
                    m.next = "leap"
                with m.Elif(self.accept & crossed):
                    m.d.sync += [edge.eq(far), number.eq(following)]
                    add()
            with m.State("leap"):
                with m.If(beyond):
                    m.d.sync += edge.eq(far)
                with m.If(upward & beyond):
                    m.d.sync += [stride.eq(stride << 1), level.eq(level + 1)]
                with m.Elif(level == 0):
                    m.d.sync += arriving.eq(1)
                with m.Else():
                    m.d.sync += [stride.eq(stride >> 1), level.eq(level - 1), upward.eq(0)]
                add()
        return m


class Window(wiring.Component):
    """Turns each packet's time stamp into the serial number of its window, and notices when time
    stops. Latency 1 cycle; throughput one beat a cycle, while stamps cross one edge at a time and
    the next at least `digits` + 2 cycles later (6, for 64 bits of time; a window at least 16 ns
    long lasts longer). A leap over n windows holds its packet for (`digits` + 2)·(2·log2 n + 2)
    cycles at most.

    Window number n of the paper is ⌊time / window⌋; here a window is numbered when a packet first
    falls into it, so that numbers are equal exactly where the paper's are. Time does not run
    backwards: a stamp below the largest so far falls into the window of that one. After
    `time_timeout` packets in a row without a larger stamp, `moving` is 0 until one comes.

    Args:
        config: a `SymphonyConfig`.

    Ports:
        i (stream of `beat.asked`), o (stream of `beat.timed`).
        window (in, 32): T_win, ns; psn_window (in, 32): interval of psn_rec, where it is set apart.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        self.latency = 1
        ports = {
            "i": In(stream.Signature(data.StructLayout(asked(c)))),
            "o": Out(stream.Signature(data.StructLayout(timed(c)))),
            "window": In(32),
        }
        if c.psn_window_ns is not None:
            ports["psn_window"] = In(32)
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        i, o = self.i, self.o
        packet = Signal()
        settled = Signal()
        m.d.comb += packet.eq(i.p.op == PACKET)
        stages = Stages(m, i, o, depth=1, enabled=settled)

        lengths = {"serial": (c.window_ns, self.window)}
        if c.psn_window_ns is not None:
            lengths["psn_serial"] = (c.psn_window_ns, self.psn_window)
        edges = []
        for name, (length, setting) in lengths.items():
            edge = Edge(c.time_bits, serial_bits(c, length))
            m.submodules[f"{name}_edge"] = edge
            edges.append(edge)
            m.d.comb += [
                edge.window.eq(setting),
                edge.ask.eq(i.valid & packet),
                edge.time.eq(i.p.time),
                edge.accept.eq(stages.accept & packet),
                getattr(o.p, name).eq(stages.register(edge.serial, name)),
            ]
        m.d.comb += settled.eq(Cat(edge.settled for edge in edges).all())

        latest = Signal(c.time_bits)
        still = Signal(range(c.time_timeout + 1))
        later, moving = Signal(), Signal()
        m.d.comb += [
            later.eq(i.p.time > latest),
            moving.eq(later | (still < c.time_timeout - 1)),
        ]
        with m.If(stages.accept & packet):
            with m.If(later):
                m.d.sync += [latest.eq(i.p.time), still.eq(0)]
            with m.Elif(still != c.time_timeout):
                m.d.sync += still.eq(still + 1)
        m.d.comb += o.p.moving.eq(stages.register(moving, "moving"))
        stages.carry(i, o)
        return m
