"""Stages against its model, cycle by cycle, whatever the producer, the consumer and reset do."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out
from amaranth.sim import Simulator

from models.common.stage import Chain, Wires
from rtl.common.stage import Stages


class Delay(wiring.Component):
    """A block that does nothing for `depth` stages."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        super().__init__(
            {"i": In(stream.Signature(8)), "o": Out(stream.Signature(8)), "enabled": In(1)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.domains.sync = self.domain = ClockDomain("sync")
        stages = Stages(m, self.i, self.o, depth=self.depth, enabled=self.enabled)
        payload: Any = self.i.payload
        for _ in range(self.depth):
            payload = stages.register(payload)
        m.d.comb += self.o.payload.eq(payload)
        if not self.depth:  # the simulator wants something in the domain
            m.d.sync += Signal().eq(1)
        return m


def test_model_by_hand() -> None:
    """Two stages: B closes up behind the stalled A, C waits, and all go on together."""
    chain = Chain(2)
    assert chain.cycle("A", o_ready=True) == Wires(True, False, None)
    assert chain.cycle(None, o_ready=True) == Wires(True, False, None)
    assert chain.cycle("B", o_ready=False) == Wires(False, True, "A")
    assert chain.cycle("B", o_ready=True) == Wires(True, True, "A")
    assert chain.cycle("C", o_ready=False) == Wires(True, False, None)
    assert chain.cycle("D", o_ready=False) == Wires(False, True, "B")
    assert chain.cycle("D", o_ready=True, enabled=False) == Wires(False, True, "B")
    assert chain.cycle("D", o_ready=True) == Wires(True, True, "C")
    assert chain.cycle(None, o_ready=True) == Wires(True, False, None)
    assert chain.cycle(None, o_ready=True) == Wires(True, True, "D")


def test_model_without_stages_is_a_wire() -> None:
    chain = Chain(0)
    assert chain.cycle("A", o_ready=True) == Wires(True, True, "A")
    assert chain.cycle("A", o_ready=False) == Wires(False, True, "A")
    assert chain.cycle("A", o_ready=True, enabled=False) == Wires(False, False, None)


@pytest.mark.parametrize("depth", range(6))
def test_model_loses_and_doubles_nothing(depth: int) -> None:
    rng, chain = random.Random(depth), Chain(depth)
    sent, got = [], []
    for number in range(2000):
        beat = number if rng.random() < 0.6 else None
        wires = chain.cycle(beat, o_ready := rng.random() < 0.6, rng.random() < 0.9)
        if beat is not None and wires.i_ready:
            sent.append(beat)
        if wires.o_valid and o_ready:
            got.append(wires.o_payload)
    assert sent[: len(got)] == got and len(sent) - len(got) <= depth and got


@pytest.mark.parametrize("depth", range(6))
@pytest.mark.parametrize("pace", [0.2, 0.7, 1.0])
def test_hardware_is_the_model_cycle_by_cycle(depth: int, pace: float) -> None:
    """Beats come and go at will, also against the stream rules; reset falls in between."""
    rng, chain, dut = random.Random(depth), Chain(depth), Delay(depth)

    async def bench(ctx: Any) -> None:
        for cycle in range(400):
            beat = rng.getrandbits(8) if rng.random() < pace else None
            ready, enabled = rng.random() < pace, rng.random() < 0.8
            reset = rng.random() < 0.03
            ctx.set(dut.i.valid, beat is not None)
            ctx.set(dut.i.payload, rng.getrandbits(8) if beat is None else beat)
            ctx.set(dut.o.ready, ready)
            ctx.set(dut.enabled, enabled)
            ctx.set(dut.domain.rst, reset)
            _, _, i_ready, valid, payload = await ctx.tick().sample(
                dut.i.ready, dut.o.valid, dut.o.payload
            )
            wires = chain.cycle(beat, ready, enabled)
            found = Wires(bool(i_ready), bool(valid), payload if valid else None)
            assert found == wires, f"cycle {cycle}"
            if reset:
                chain.reset()

    simulator = Simulator(dut)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
