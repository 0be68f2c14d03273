"""Proof that windows are numbered rightly: two packets get one number exactly where ⌊time / window⌋
is the same, however far apart they are; and that finding it ends."""

from __future__ import annotations

from types import ModuleType
from unittest import mock

import pytest
from amaranth.hdl import Mux, Signal, Value

import rtl.symphony.window
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.watch import insides

pytestmark = pytest.mark.formal

TIME_BITS = 6
DIGIT = 3
LEAST = 2
"""Binary logarithm of the shortest window; a serial number has as many bits less than time."""
WIDE = TIME_BITS + 4
"""Bits that hold every number here."""


class EdgeBench(Bench):
    """An `Edge` with windows of any length from 4 to 31 in 64 units of time, added up in 3 digits.

    A packet that is asked for may be interrupted by orders (`ask` falls); but it comes again before
    any other, with the same stamp or a later one. Stamps may also run backwards from packet to
    packet.
    """

    def __init__(self, module: ModuleType = rtl.symphony.window) -> None:
        super().__init__(resets=True)
        m = self.m
        with mock.patch.object(module, "DIGIT", DIGIT):
            m.submodules.dut = dut = self.dut = module.Edge(TIME_BITS, TIME_BITS - LEAST)
            r = self.r = insides(dut)
        for name in ("edge", "far", "stride", "number", "following", "level", "digit"):
            self.see(name, r[name])
        for name in ("leaping", "upward", "beyond", "arriving"):
            self.see(name, r[name])
        states = r["fsm"].encoding.items()
        self.state = {name: self.see(name, r["fsm"].state == code) for name, code in states}

        self.window = self.constant(TIME_BITS - 1, "window")
        self.assume(self.window >= 1 << LEAST)
        ask, time = self.free(1, "ask"), self.free(TIME_BITS, "time")
        accept = self.free(1, "accept")
        self.assume(~accept | ask & dut.settled)
        m.d.comb += [dut.window.eq(self.window), dut.ask.eq(ask)]
        m.d.comb += [dut.time.eq(time), dut.accept.eq(accept)]
        self.see("settled", dut.settled)
        self.see("serial", dut.serial)

        self.pending = Signal(name="pending")
        self.asked, self.latest = Signal(TIME_BITS, name="asked"), Signal(TIME_BITS, name="latest")
        self.assume(~(ask & self.pending) | (time >= self.asked))
        counts = self.see("counts_as", Mux(time > self.latest, time, self.latest))
        with m.If(accept):
            m.d.sync += [self.pending.eq(0), self.latest.eq(counts)]
        with m.Elif(ask):
            m.d.sync += [self.pending.eq(1), self.asked.eq(time)]
        self._windows(accept, counts)
        self._consecutive(accept)
        self._registers()

    def _windows(self, accept: Value, counts: Value) -> None:
        """Number the windows without a division: `edge` is the start of window `index`, and each
        packet's time is in the one that `floor` is of."""
        m, r, state = self.m, self.r, self.state
        index = self.index = Signal(TIME_BITS + 1, name="index")
        moves = state["look"] & (r["arriving"] | ~r["leaping"] & accept & r["crossed"])
        moves |= state["leap"] & r["beyond"]
        with m.If(state["load"]):
            m.d.sync += index.eq(1)
        with m.Elif(moves):
            m.d.sync += index.eq(index + (1 << r["level"]))
        self.check("index", state["load"] | (r["edge"] == index * self.window))
        self.floor = self.named(Mux(r["crossed"], index, index - 1), TIME_BITS + 1, "floor")
        start = self.named(self.floor * self.window, 2 * TIME_BITS, "start")
        within = (start <= counts) & (counts < start + self.window)
        self.check("floor", ~accept | within)

    def _consecutive(self, accept: Value) -> None:
        """Compare each packet with the one before it."""
        m, r, state = self.m, self.r, self.state
        serial, number = self.dut.serial, r["number"]
        some, serial_before = Signal(), Signal.like(serial)
        floor_before = Signal.like(self.floor)
        with m.If(accept):
            m.d.sync += [some.eq(1), serial_before.eq(serial), floor_before.eq(self.floor)]
        same = (serial == serial_before) == (self.floor == floor_before)
        self.check("same_window", ~(accept & some) | same)
        self.check("rises", ~(accept & some) | (serial >= serial_before))
        whole = serial == Mux(r["crossed"], r["following"], number)
        self.check("never_again", ~accept | whole)

        same = (number == serial_before) == (self.index == floor_before + 1)
        self.check("number", ~some | r["leaping"] | same)
        risen = (number >= serial_before) & (self.index > floor_before) & ~state["load"]
        self.check("number_rises", ~some | risen)
        self.check("number_fits", state["load"] | (number < self.index))

    def _registers(self) -> None:
        """Say what holds of the registers between packets."""
        r, state, window = self.r, self.state, self.window
        edge, far, stride, level = (r[n] for n in ("edge", "far", "stride", "level"))
        number, following, leaping = r["number"], r["following"], r["leaping"]
        total = self.named(edge + stride, WIDE, "total")
        started = ~state["load"]
        added = state["leap"] | state["look"]
        self.check("far", ~added | (far == total) & (following == number + 1))
        for digit in range(self.dut.digits):
            here = state["add"] & (r["digit"] == digit)
            low = DIGIT * digit
            done = (far[:low] == total[:low]) & (following[:low] == (number + 1)[:low])
            carry = (edge[:low] + stride[:low])[low:] if low else 0
            one = (number[:low] + 1)[low:] if low else 1
            carries = (r["carry"] == carry) & (r["carry_number"] == one)
            self.check(f"digit_{digit}", ~here | done & carries)
        self.check("digits", ~state["add"] | (r["digit"] < self.dut.digits))
        self.check("stride", ~started | (stride == window << level))
        self.check("level", leaping | (level == 0))
        self.check("leap", ~state["leap"] | leaping)
        self.check("arriving", ~r["arriving"] | leaping & (level == 0) & ~state["leap"])
        self.check("leaps_for_one", ~leaping | self.pending & (edge <= self.asked) & started)
        self.check("beyond", ~(state["leap"] & r["beyond"]) | (far <= self.asked))
        self.check("not_before", ~started | (self.latest < edge))
        near = (edge <= self.latest + window) | self.pending & (edge <= self.asked + window)
        self.check("near", ~started | leaping | near)
        end = 2 << TIME_BITS
        self.check("bounds", ~started | (edge < end) & (stride < end))
        nothing = ~leaping & ~self.pending & (self.latest == 0) & (number == 0)
        self.check("load", started | nothing)


class PatientBench(EdgeBench):
    """Here no order comes between, and the packet's stamp stays: how long does it wait?

    A leap is made of rounds: a trial (`leap`), an addition (`add`, a cycle a digit), a `look`. With
    strides up to 2^top windows it takes 2·top + 1 rounds, and is 2^top windows long or longer.
    """

    def __init__(self, module: ModuleType = rtl.symphony.window) -> None:
        super().__init__(module)
        m, r, dut, state = self.m, self.r, self.dut, self.state
        level, leaping, upward = r["level"], r["leaping"], r["upward"]
        arriving, beyond = r["arriving"], r["beyond"]
        self.assume(~self.pending | dut.ask & (dut.time == self.asked))
        waits = dut.ask & ~dut.settled
        waited, rounds = Signal(8), Signal(5)
        start, top = Signal.like(self.index), Signal.like(level)
        m.d.sync += waited.eq(Mux(waits, waited + 1, 0))
        with m.If(~leaping):
            m.d.sync += [start.eq(self.index), top.eq(0), rounds.eq(0)]
        with m.Elif(state["leap"]):
            m.d.sync += rounds.eq(rounds + 1)
            with m.If(upward & beyond):
                m.d.sync += top.eq(level + 1)

        done = Mux(arriving, 2 * top + 1, Mux(upward, level, 2 * top - level))
        self.check("rounds", ~leaping | (rounds == done))
        self.check("top", ~leaping | (level <= top) & (~upward | (level == top)))
        self.check("long", ~leaping | (self.index - start + 1 >= 1 << top))
        first = leaping & upward & (level == 0) & ~arriving
        self.check("first_trial_succeeds", ~first | state["leap"] & beyond)
        self.check("beyond_is_true", ~state["leap"] | (beyond == (self.asked >= r["far"])))
        farthest = self.named(r["edge"] + (r["stride"] << ~arriving), WIDE, "farthest")
        self.check("not_far", ~leaping | upward & ~arriving | (self.asked < farthest))

        cycles = dut.digits + 2
        at = Mux(state["add"], r["digit"] + 1, Mux(state["look"], dut.digits + 1, 0))
        at = Mux(state["leap"], cycles, at)
        self.check("waited_leaping", ~leaping | (waited <= rounds * cycles + at))
        self.check("waited", leaping | ~waits | (waited <= at))
        self.check("in_time", ~waits | (waited < cycles * (2 * top + 2)))


def test_serial_numbers() -> None:
    """By 1-induction: for windows of any length, any stamps, orders between, and resets."""
    prove(EdgeBench(), "edge", depth=1)


def test_leaps_end() -> None:
    """By 1-induction: a packet n windows on waits at most (digits + 2)·(2·log2 n + 2) cycles."""
    prove(PatientBench(), "edge-leaps", depth=1)


FAULTS = {
    "edge in the window before": ("crossed.eq(self.time >= edge)", "crossed.eq(self.time > edge)"),
    "leaps one too late": ("(self.time >= far)", "(self.time > far)"),
    "carry lost": ("carry.eq(total[-1])", "carry.eq(0)"),
    "accepts while far is added up": ("~leaping & ~(self.ask & crossed)", "~leaping"),
    "strides do not grow": ("stride.eq(stride << 1)", "stride.eq(stride)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = PatientBench(changed(rtl.symphony.window, *FAULTS[fault]))
    disprove(broken, f"edge {fault}", depth=16)
