"""Proof that windows are numbered rightly: two packets get one number exactly where ⌊time / window⌋
is the same, however far apart they are."""

from __future__ import annotations

from types import ModuleType
from unittest import mock

import pytest
from amaranth.hdl import Mux, Signal, Value

import rtl.symphony.window
from tb.formal.bench import Bench
from tb.formal.changed import changed
from tb.formal.prove import Disproved, prove
from tb.formal.watch import insides

pytestmark = pytest.mark.formal

TIME_BITS = 6
DIGIT = 3
LEAST_WINDOW_BITS = 0
SERIALS = TIME_BITS - LEAST_WINDOW_BITS
WIDE = 9


class EdgeBench(Bench):
    """An `Edge` with windows of any length from 1 to 31 in 64 units of time, added in 3 digits.

    A packet that is asked for may be interrupted by orders (`ask` falls); but it comes again before
    any other, with the same stamp or a later one. Stamps may also run backwards from packet to
    packet. `edge` is followed by the number of its window, so that no division is needed.
    """

    def __init__(self, module: ModuleType = rtl.symphony.window) -> None:
        super().__init__(resets=True)
        m = self.m
        with mock.patch.object(module, "DIGIT", DIGIT):
            m.submodules.dut = dut = self.dut = module.Edge(TIME_BITS, SERIALS)
            r = self.r = insides(dut)
        self.window = window = self.constant(TIME_BITS - 1, "window")
        self.assume(window > 0)
        ask, time, accept = (
            self.free(1, "ask"),
            self.free(TIME_BITS, "time"),
            self.free(1, "accept"),
        )
        self.assume(~accept | ask & dut.settled)
        m.d.comb += [
            dut.window.eq(window), dut.ask.eq(ask), dut.time.eq(time), dut.accept.eq(accept),
        ]  # fmt: skip
        for name in ("settled", "serial"):
            self.see(name, getattr(dut, name))
        for name in ("edge", "far", "stride", "number", "following", "level", "leaping", "upward"):
            self.see(name, r[name])
        self.beyond, self.arriving, self.digit = (
            self.see(name, r[name]) for name in ("beyond", "arriving", "digit")
        )
        self.states = {
            n: self.see(f"is_{n}", r["fsm"].state == code) for n, code in r["fsm"].encoding.items()
        }

        pending, asked = Signal(), Signal(TIME_BITS)
        latest = Signal(TIME_BITS)
        self.pending, self.asked, self.latest = (
            pending,
            self.see("asked", asked),
            self.see("latest", latest),
        )
        self.assume(~(ask & pending) | (time >= asked))
        now = self.now = self.see("counts_as", Mux(time > latest, time, latest))
        with m.If(accept):
            m.d.sync += [pending.eq(0), latest.eq(now)]
        with m.Elif(ask):
            m.d.sync += [pending.eq(1), asked.eq(time)]
        self._follow(accept)
        self._invariants()

    def _follow(self, accept: Value) -> None:
        """Keep the window's number of `edge`, and check each packet against the one before."""
        m, r, states = self.m, self.r, self.states
        index = self.index = Signal(TIME_BITS + 2, name="index")
        self.see("edge_index", index)
        crossed = r["crossed"]
        moves = states["look"] & (self.arriving | ~r["leaping"] & accept & crossed)
        moves |= states["leap"] & self.beyond
        with m.If(states["load"]):
            m.d.sync += index.eq(1)
        with m.Elif(moves):
            m.d.sync += index.eq(index + (1 << r["level"]))
        floor = self.floor = self.named(Mux(crossed, index, index - 1), WIDE, "floor")
        start = floor * self.window
        self.check("floor", ~accept | (start <= self.now) & (self.now < start + self.window))
        self.check(
            "serial_is_whole",
            ~accept | (self.dut.serial == Mux(crossed, r["following"], r["number"])),
        )

        some, serial, before = Signal(), Signal(SERIALS), Signal(WIDE)
        self.see("serial_before", serial), self.see("floor_before", before)
        with m.If(accept):
            m.d.sync += [some.eq(1), serial.eq(self.dut.serial), before.eq(floor)]
        same = self.dut.serial == serial
        self.check("same_window", ~(accept & some) | (same == (floor == before)))
        self.check("rises", ~(accept & some) | (self.dut.serial >= serial))
        number = r["number"]
        settled = ~r["leaping"] & ~states["load"]
        self.check(
            "number_is_last", ~(some & settled) | ((number == serial) == (index - 1 == before))
        )
        self.check(
            "number_not_less", ~some | (number >= serial) & (index > before) & ~states["load"]
        )
        self.check("number_fits", states["load"] | (number < index))

    def _invariants(self) -> None:
        r, window, states = self.r, self.window, self.states
        edge, far, stride, level = (r[n] for n in ("edge", "far", "stride", "level"))
        number, following, leaping = r["number"], r["following"], r["leaping"]
        started = ~states["load"]
        due = states["leap"] | states["look"]
        total = self.named(edge + stride, WIDE, "total")
        self.check("index", ~started | (edge == self.index * window))
        self.check("stride", ~started | (stride == window << level))
        self.check("far", ~due | (far == total) & (following == number + 1))
        for digit in range(self.dut.digits):
            here = states["add"] & (self.digit == digit)
            low = DIGIT * digit
            done = (far[:low] == total[:low]) & (following[:low] == (number + 1)[:low])
            sums = edge[:low] + stride[:low]
            carried = (r["carry"] == sums[low:]) if low else ~r["carry"]
            once = r["carry_number"] == ((number[:low] + 1)[low:] if low else 1)
            self.check(f"digit_{digit}", ~here | done & carried & once)
        self.check("digits", ~states["add"] | (self.digit < self.dut.digits))
        self.check("level", leaping | (level == 0))
        self.check("upward", ~states["leap"] | leaping)
        self.check(
            "arriving", ~self.arriving | leaping & (level == 0) & (states["add"] | states["look"])
        )
        self.check("leaps_for_one", ~leaping | self.pending & (edge <= self.asked) & started)
        self.check("beyond", ~(states["leap"] & self.beyond) | (far <= self.asked))
        self.check("not_before", ~started | (self.latest < edge))
        within = (edge <= self.latest + window) | self.pending & (edge <= self.asked + window)
        self.check("near", ~started | leaping | within)
        self.check("bounds", ~started | (edge < 1 << TIME_BITS + 1) & (stride < 1 << TIME_BITS + 1))
        at_first = ~leaping & ~self.pending & (self.latest == 0) & (number == 0)
        self.check("load", started | at_first)


class PatientBench(EdgeBench):
    """Here no order comes between, and the packet's stamp stays: how long does it wait?"""

    def __init__(self, module: ModuleType = rtl.symphony.window) -> None:
        super().__init__(module)
        m, r, dut, states = self.m, self.r, self.dut, self.states
        level, leaping, upward = r["level"], r["leaping"], r["upward"]
        self.assume(~self.pending | dut.ask & (dut.time == self.asked))
        waited = Signal(8)
        start, top, rounds = Signal.like(self.index), Signal.like(level), Signal(5)
        for name, value in (("waited", waited), ("start", start), ("top", top), ("rounds", rounds)):
            self.see(name, value)
        waits = dut.ask & ~dut.settled
        m.d.sync += waited.eq(Mux(waits, waited + 1, 0))
        leaving = states["leap"]
        with m.If(~leaping):
            m.d.sync += [start.eq(self.index), top.eq(0), rounds.eq(0)]
        with m.Elif(leaving):
            m.d.sync += rounds.eq(rounds + 1)
            with m.If(upward & self.beyond):
                m.d.sync += top.eq(level + 1)
        # A round is a trial: leap, the digits of an addition, look.
        round_cycles = dut.digits + 2
        done = Mux(self.arriving, 2 * top + 1, Mux(upward, level, 2 * top - level))
        self.check("rounds", ~leaping | (rounds == done))
        self.check("top", ~leaping | (level <= top) & (~upward | (level == top)))
        moved = self.index - start + 1
        self.check("no_farther", ~leaping | (moved >= 1 << top))
        far = self.named(r["edge"] + (r["stride"] << ~self.arriving), WIDE + 1, "farthest")
        self.check("beyond_is_true", ~states["leap"] | (self.beyond == (self.asked >= r["far"])))
        self.check("no_nearer", ~leaping | upward & ~self.arriving | (self.asked < far))
        first = leaping & upward & (level == 0) & ~self.arriving
        self.check("first_trial_succeeds", ~first | states["leap"] & self.beyond)
        at = Mux(states["add"], self.digit + 1, Mux(states["look"], dut.digits + 1, 0))
        at = Mux(states["leap"], round_cycles, at)
        self.check("waited_leaping", ~leaping | (waited <= rounds * round_cycles + at))
        self.check("waited", leaping | ~waits | (waited <= at))
        # n windows on are at least 2**top, as the windows that the edge has moved show.
        self.check("in_time", ~waits | (waited < round_cycles * (2 * top + 4)))


def test_serial_numbers() -> None:
    """By 1-induction: for windows of any length, any stamps, orders between, and resets."""
    prove(EdgeBench(), "edge", depth=1)


def test_leaps_end() -> None:
    """By 1-induction: in as many cycles as `Window` says."""
    prove(PatientBench(), "edge-leaps", depth=1)


FAULTS = {
    "edge in the window before": ("crossed.eq(self.time >= edge)", "crossed.eq(self.time > edge)"),
    "leaps one too late": ("(self.time >= far)", "(self.time > far)"),
    "carry lost": ("carry.eq(total[-1])", "carry.eq(0)"),
    "accepts while far is added up": ("~leaping & ~(self.ask & crossed)", "~leaping"),
    "steps do not grow": ("stride.eq(stride << 1)", "stride.eq(stride)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = PatientBench(changed(rtl.symphony.window, *FAULTS[fault]))
    with pytest.raises(Disproved, match=r"a counterexample is(.|\n)*FAILS"):
        prove(broken, "edge-broken", depth=16, induction=False)
