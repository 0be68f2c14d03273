"""Clock: window edges between packets against ⌊time / window⌋, in a time that runs on by itself and
wraps around."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from models.csig.clock import Clock as Model
from models.csig.config import CsigConfig
from rtl.csig.clock import Clock, edge_bits
from tb.csig.blocks import configs

WINDOWS = (100, 730, 331)


def simulate(
    config: CsigConfig, packets: list[int], seed: int, load: int | None = None, stall: float = 0.2
) -> tuple[list[list[int]], list[int]]:
    """Offer a packet at each of the times in `packets`; return the edges passed that each answer
    tells, for each clock, and the times that they tell where there are agents."""
    dut = Clock(config)
    top = Module()
    top.submodules.dut = dut
    rng = random.Random(seed)
    answers: list[list[int]] = []
    told: list[int] = []

    async def bench(ctx: Any) -> None:
        now = load if load is not None else 0
        for n in range(config.window_clocks):
            ctx.set(getattr(dut, f"window_{n}"), WINDOWS[n])
        if load is not None:
            ctx.set(dut.now, load % (1 << config.time_bits))
            await ctx.tick()
            for n in range(config.clocks):
                edge = (load // WINDOWS[n] + 1) * WINDOWS[n]
                ctx.set(dut.load, 1 << n)
                ctx.set(dut.load_edge, edge % (1 << edge_bits(config)))
                await ctx.tick()
            ctx.set(dut.load, 0)
        queue = list(packets)
        for _ in range(20_000):
            if len(answers) == len(packets):
                return
            # Time runs on, a few ns a cycle, up to the next packet's.
            now = min(now + rng.choice((1, 20, 90)), queue[0]) if queue else now + 7
            offered = bool(queue) and now == queue[0]
            ctx.set(dut.now, now % (1 << config.time_bits))
            ctx.set(dut.i.valid, offered)
            ready = rng.random() >= stall
            ctx.set(dut.o.ready, ready)
            passed = [dut.o.p[f"passed_{n}"] for n in range(config.window_clocks)]
            time = [dut.o.p.time] if config.agent else []
            _, _, accepted, valid, *found = await ctx.tick().sample(
                dut.i.ready, dut.o.valid, *passed, *time
            )
            if offered and accepted:
                queue.pop(0)
            if valid and ready:
                answers.append(list(found[: len(passed)]))
                told.extend(found[len(passed) :])

    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    assert len(answers) == len(packets), "stuck"
    return answers, told


def times(count: int, seed: int, start: int) -> list[int]:
    rng = random.Random(seed)
    made = [start]
    while len(made) < count:
        made.append(made[-1] + rng.choice((0, 0, 1, 30, 99, 100, 101, 450, 2000)))
    return made


def wanted(config: CsigConfig, packets: list[int], first: int) -> list[list[int]]:
    clocks = [Model(window) for window in WINDOWS[: config.window_clocks]]
    for clock in clocks:
        clock.packet(first)
    return [[clock.packet(time) for clock in clocks] for time in packets]


@settings(max_examples=15, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_edges_between_packets(config: CsigConfig, seed: int) -> None:
    packets = times(60, seed, 5)
    answers, told = simulate(config, packets, seed)
    assert answers == wanted(config, packets, 0)
    assert told == (packets if config.agent else [])


@pytest.mark.parametrize("start", [2**32 - 700, 2**33 - 250, 2**40])
def test_time_wraps_around_and_begins_anywhere(start: int) -> None:
    """The low 32 bits of time are enough; software sets the edge where time begins."""
    config = CsigConfig(time_bits=64, clocks=2)
    packets = times(60, 3, start)
    answers, _ = simulate(config, packets, 3, load=start)
    assert answers[0] == [2, 2]  # a load counts as two edges
    assert answers[1:] == wanted(config, packets[1:], start)


def test_full_rate_while_edges_are_three_cycles_apart() -> None:
    config = CsigConfig(ports=1)
    dut = Clock(config)
    top = Module()
    top.submodules.dut = dut
    refused = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.window_0, 100)
        ctx.set(dut.o.ready, 1)
        for _ in range(6):
            await ctx.tick()
        ctx.set(dut.i.valid, 1)
        for now in range(0, 5000, 33):
            ctx.set(dut.now, now)
            _, _, ready = await ctx.tick().sample(dut.i.ready)
            refused.append(not ready)

    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    assert not any(refused)
