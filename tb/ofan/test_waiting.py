"""The queue of batches against a deque, and the model's rules."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest
from amaranth.hdl import unsigned
from amaranth.sim import Simulator

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.waiting import Waiting
from rtl.ofan.waiting import BatchQueue


def test_model_takes_as_many_batches_as_it_is_deep() -> None:
    engine = Engine(kind="matched-banked", depth=2, group=2)
    waiting = Waiting(OfanConfig(lanes=2, uplinks=2, destinations=4, engine=engine))
    waiting.take([None, None])
    assert waiting.empty, "a batch without packets takes no place"
    waiting.take([1, None])
    assert waiting.takes
    waiting.take([2, 3])
    assert list(waiting.waiting) == [{0: 1}, {0: 2, 1: 3}]
    with pytest.raises(ValueError, match="the queue has no room for a batch"):
        waiting.take([0, 0])


@pytest.mark.parametrize("depth", [0, 65])
def test_depth_is_checked(depth: int) -> None:
    with pytest.raises(ValueError, match=f"depth must be an integer from 1 to 64, not {depth}"):
        BatchQueue(unsigned(4), depth)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
def test_queue_is_a_deque(depth: int) -> None:
    """In each cycle: what is at the head, whether there is room, with random handshakes."""
    rng = random.Random(depth)
    dut = BatchQueue(unsigned(8), depth)
    held: deque[int] = deque()
    passed = full = 0

    async def bench(ctx: Any) -> None:
        nonlocal passed, full
        for _ in range(400):
            offered, ready, word = rng.random() < 0.6, rng.random() < 0.5, rng.getrandbits(8)
            ctx.set(dut.i.valid, offered)
            ctx.set(dut.i.payload, word)
            ctx.set(dut.o.ready, ready)
            room = len(held) < depth
            _, _, can, valid, head = await ctx.tick().sample(
                dut.i.ready, dut.o.valid, dut.o.payload
            )
            assert can == room
            passed += not held and offered and ready
            full += not room
            if offered and room:
                held.append(word)
            if held or offered:
                assert valid
                assert head == (held[0] if held else word)
            else:
                assert not valid
            if held and ready:
                held.popleft()

    simulator = Simulator(dut)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    assert passed > 5
    assert full > 5
