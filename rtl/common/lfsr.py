"""The house's register of pseudo-random numbers: 64 bits, all of which move in a step."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from models.common.check import integer
from models.common.lfsr import SHIFTS, initial_state

WIDTH = 64


class Lfsr(wiring.Component):
    """A xorshift register. `state` is one number of the sequence of `models.common.lfsr`, the first
    one after a reset; the next one follows a cycle after `step`. Period 2**64 - 1.

    Args:
        seed: 0 to 2**63 - 1.

    Ports:
        step (in): move on at the next clock edge.
        state (out, 64 bits).
    """

    def __init__(self, seed: int) -> None:
        self.seed = integer("seed", seed, 0, 2**63 - 1)
        super().__init__({"step": In(1), "state": Out(WIDTH, init=initial_state(seed))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        following: Value = self.state
        for shift in SHIFTS:
            moved = following << shift if shift > 0 else following >> -shift
            stage = Signal(WIDTH, name=f"shifted_{abs(shift)}")
            m.d.comb += stage.eq(following ^ moved)
            following = stage
        with m.If(self.step):
            m.d.sync += self.state.eq(following)
        return m
