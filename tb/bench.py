"""Benches in Amaranth's simulator: push beats into a block's stream, pull its answers out."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from amaranth.sim import Simulator

CLOCK = 1e-9


def run_beats(
    dut: Any,
    beats: Sequence[Any],
    *,
    stall: float = 0.0,
    idle: float = 0.0,
    seed: int = 0,
    expected: int | None = None,
    limit: int = 100_000,
) -> list[Any]:
    """Push `beats` (constants of the payload's shape) into `dut.i`, return those of `dut.o`.

    Args:
        dut: a component with streams `i` and `o`.
        beats: payloads in order; what `ctx.set` takes.
        stall, idle: probability that the consumer, the producer, pauses in a cycle.
        seed: of the pauses.
        expected: beats to wait for; default as many as went in.
        limit: cycles after which the bench gives up with an `AssertionError`.

    The bench also holds the block to the stream rules: once valid, `o` stays valid with the same
    payload until it is taken.
    """
    rng = random.Random(seed)
    wanted = len(beats) if expected is None else expected
    answers: list[Any] = []

    async def produce(ctx: Any) -> None:
        for beat in beats:
            while rng.random() < idle:
                await ctx.tick()
            ctx.set(dut.i.payload, beat)
            ctx.set(dut.i.valid, 1)
            await ctx.tick().until(dut.i.ready)
            ctx.set(dut.i.valid, 0)

    async def consume(ctx: Any) -> None:
        held = None
        for _ in range(limit):
            if len(answers) == wanted:
                return
            ready = rng.random() >= stall
            ctx.set(dut.o.ready, ready)
            _, _, valid, payload = await ctx.tick().sample(dut.o.valid, dut.o.payload)
            assert held is None or (valid and payload == held), "o changed before it was taken"
            held = payload if valid and not ready else None
            if valid and ready:
                answers.append(payload)
        raise AssertionError(f"{len(answers)} of {wanted} beats after {limit} cycles")

    simulator = Simulator(dut)
    simulator.add_clock(CLOCK)
    simulator.add_testbench(produce, background=True)
    simulator.add_testbench(consume)
    simulator.run()
    return answers
