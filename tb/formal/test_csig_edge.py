"""Proof that CSIG's Edge counts the window edges between packets: of a time that runs on, leaps a
little, and wraps around, `passed` is the difference of ⌊time / window⌋, at most 2."""

from __future__ import annotations

from types import ModuleType
from unittest import mock

import pytest
from amaranth.hdl import Cat, Const, Mux, Signal, Value

import rtl.csig.clock
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.watch import insides

pytestmark = pytest.mark.formal

TIME_BITS = 8
DIGIT = 5
"""Two digits, as the real one has, the upper one not full."""
WIDE = TIME_BITS + 3


def times(count: Value, value: Value) -> Value:
    """A value times 0 to 3, without the multiplier that a solver is slow with."""
    return Mux(count[0], value, 0) + Mux(count[1], value << 1, 0)


class EdgeBench(Bench):
    """An `Edge` with windows of one length, at most a quarter of the time that there is.

    The bench keeps where in its window time is (`phase`), and how many edges the hardware has yet
    to step over (`behind`); neither can wrap around. In a cycle time goes on by up to 2 windows,
    as long as the hardware is not more than 3 edges or half of all time behind.
    """

    def __init__(self, length: int, module: ModuleType = rtl.csig.clock) -> None:
        super().__init__(resets=True)
        m = self.m
        with mock.patch.object(module, "DIGIT", DIGIT):
            dut = module.Edge(TIME_BITS)
            r = insides(dut)
        m.submodules.dut = dut
        edge = self.see("edge", Mux(r["first"], dut.window, r["edge"][:TIME_BITS]))
        running, kept = self.see("running", r["running"]), self.see("kept", r["kept"])
        window = Const(length, TIME_BITS - 1)
        accept, load = self.free(1, "accept"), self.free(1, "load")
        self.assume(~accept | dut.settled)
        load_edge = self.free(TIME_BITS, "load_edge")

        now, phase = Signal(TIME_BITS, name="now"), Signal(TIME_BITS - 1, name="phase")
        behind, since = Signal(2, name="behind"), Signal(2, name="since")
        for signal in (now, phase, behind, since):
            self.shown.append(signal.name)
        # Time goes on by some windows and a part of one.
        windows, part = self.free(1, "windows"), self.free(TIME_BITS - 1, "part")
        self.assume(part < window)
        total = self.named(phase + part, TIME_BITS, "total")
        over = total >= window
        edges = self.named(windows + over, 3, "edges")
        # Before the first edge is set, and where one is set, it lies where it lies.
        new_phase = self.free(TIME_BITS - 1, "new_phase")
        self.assume(new_phase < window)
        later_phase = Mux(load, new_phase, total - Mux(over, window, 0))
        steps = r["crossed"] & running
        later = self.named(behind - steps + edges, 5, "later")
        new_behind = self.free(2, "new_behind")
        later_behind = self.named(Mux(load, new_behind, later), 5, "later_behind")
        ahead = self.named(times(later_behind, window) + later_phase, WIDE, "ahead")
        self.assume((later_behind < 4) & (ahead < (1 << TIME_BITS - 1) + window))
        later_now = self.named(now + Mux(windows, window, 0) + part, TIME_BITS, "later_now")
        there = self.named(later_now + window - ahead, TIME_BITS, "there")
        self.assume(~load | (load_edge == there))
        counted = self.named(Mux(accept, 0, since) + edges, 4, "counted")
        m.d.sync += [
            now.eq(later_now),
            phase.eq(later_phase),
            behind.eq(later_behind),
            since.eq(Mux(load | (counted > 2), 2, counted)),
        ]
        m.d.comb += [
            dut.window.eq(window),
            dut.time.eq(now),
            dut.load.eq(load),
            dut.load_edge.eq(load_edge),
            dut.accept.eq(accept),
        ]
        self.see("settled", dut.settled)
        self.see("passed", dut.passed)
        self.check("passed", ~accept | (dut.passed == since))

        self.check("phase", phase < window)
        lag = self.named(times(behind, window) + phase, WIDE, "lag")
        self.check("edge", edge == (now + window - lag)[:TIME_BITS])
        self.check("in_reach", lag < (1 << TIME_BITS - 1) + window)
        both = kept + behind
        self.check("kept", (kept <= 2) & (Mux(both > 2, 2, both) == since))
        self._far(r, edge, window)

    def _far(self, r: dict[str, Signal], edge: Value, window: Value) -> None:
        """Say how much of `far` has been added up."""
        far, digit, carry = r["far"], r["digit"], r["carry"]
        whole = r["edge"] + window
        self.check("far", ~r["running"] | (far[:TIME_BITS] == whole[:TIME_BITS]))
        adding = ~r["running"] & ~r["first"]
        self.check("first", ~r["first"] | ~r["running"])
        self.check("digit_0", ~adding | (digit != 0) | ~carry)
        low = r["edge"][:DIGIT] + window[:DIGIT]
        done = Cat(far[:DIGIT], carry) == low
        self.check("digit_1", ~adding | (digit == 0) | done)


WINDOWS = (16, 19, 37, 64)
"""Shorter than a digit's carry, odd ones, and the longest; the last but one's edges come to lie on
every number."""


@pytest.mark.parametrize("length", WINDOWS)
def test_edges(length: int) -> None:
    """By 1-induction: for runs of any length, edges set, and resets."""
    prove(EdgeBench(length), f"csig-edge-{length}", depth=1)


FAULTS = {
    "edge too early": ("crossed.eq(self.reached(edge))", "crossed.eq(self.reached(edge - 1))"),
    "no wrap-around": (
        "return below ^ self.time[-1] ^ edge[self.bits - 1]",
        "return self.time >= edge",
    ),
    "carry lost": ("carry.eq(total[-1])", "carry.eq(0)"),
    "takes packets two edges on": ("self.settled.eq(~beyond)", "self.settled.eq(1)"),
    "takes packets while far is added up": ("self.settled.eq(~crossed)", "self.settled.eq(1)"),
    "three edges are one": ("Mux(more & ~kept[1], kept + 1, kept)", "kept + more"),
    "a load is no edge": ("kept.eq(2), first.eq(0)", "first.eq(0)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = EdgeBench(16, changed(rtl.csig.clock, *FAULTS[fault]))
    disprove(broken, f"csig-edge {fault}", depth=9)
