"""Slots against its model, cycle by cycle: which packets are shown, and when a batch has room."""

from __future__ import annotations

import random
from copy import deepcopy
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.ofan import slots as model_of
from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.place import key_of, place
from models.ofan.queued import Queued
from rtl.ofan.slots import Slots
from tb.ofan.reference import FEW


def test_model_shows_the_two_oldest_waves() -> None:
    slots = model_of.Slots(lanes=4, queues=2, depth=2)
    slots.take([10, None, None, 13])
    assert slots.shown() == [{0: 10}, {3: 13}]
    slots.take([20, 21, None, None])
    assert not slots.takes
    assert slots.shown() == [{0: 10}, {3: 13}]
    slots.drop([{0: 10}, {}])
    assert slots.shown() == [{3: 13}, {}]  # lane 1 is hidden behind lane 3, so lane 0 waits too
    slots.drop([{3: 13}, {}])
    assert slots.takes
    assert slots.shown() == [{0: 20, 1: 21}]
    slots.drop([{0: 20, 1: 21}])
    assert slots.empty


def test_model_holds_back_the_group_of_a_hidden_packet_and_those_above() -> None:
    slots = model_of.Slots(lanes=24, queues=12, depth=1)
    slots.take([5 if lane == 6 else None for lane in range(12)] + list(range(12, 24)))
    assert slots.shown() == [{6: 5}, {lane: lane for lane in range(12, 16)}]


def test_model_makes_room_in_order() -> None:
    """A batch whose packets are gone, or had none, waits for older ones."""
    slots = model_of.Slots(lanes=1, queues=1, depth=2)
    slots.take([1])
    slots.take([None])
    slots.drop([{}])
    assert not slots.takes
    slots.drop([{0: 1}])
    assert slots.takes and slots.empty


def test_model_says_that_there_is_no_room() -> None:
    slots = model_of.Slots(lanes=2, queues=2, depth=1)
    slots.take([0, 0])
    with pytest.raises(ValueError, match="^there is no room for a batch$"):
        slots.take([None, None])
    engine = Engine(kind="queued-banked", banks=1, queues=2, depth=1)
    queued = Queued(OfanConfig(lanes=2, uplinks=2, destinations=2, engine=engine))
    queued.step([0, 1])
    with pytest.raises(ValueError, match="^there is no room for a batch$"):
        queued.step([0, 1])


def check(config: OfanConfig, seed: int) -> None:
    """Run two phases of traffic, with a reset in mid-traffic between them."""
    c, rng = config, random.Random(seed)
    dut = Slots(c)
    lanes, queues, banks = range(c.lanes_per_pipe), len(dut.served), c.engine.banks

    def shown(ctx: Any, flags: int) -> dict[int, int]:
        """The packets that the hardware shows at the queues in `flags`, as the model has them."""
        packets = {}
        for queue in range(queues):
            if flags >> queue & 1:
                packet = dut.packets[queue]
                key = key_of(ctx.get(packet.bank), ctx.get(packet.row), banks)
                packets[ctx.get(dut.folds[queue]) * queues + queue] = key
        return packets

    def offer(ctx: Any) -> list[int | None] | None:
        """Put noise on the lanes; return the batch that is offered, if one is."""
        load = rng.choice([0, 0.3, 0.9, 1])
        keys = [rng.randrange(c.keys) for _ in lanes]
        batch = [key if rng.random() < load else None for key in keys]
        for lane, key in enumerate(keys):
            bank, row = place(key, banks)
            packet = {"bank": bank, "row": row}
            ctx.set(dut.lanes[lane], {"packet": packet, "valid": batch[lane] is not None})
        offered = rng.random() < 0.8
        ctx.set(dut.offered, offered)
        return batch if offered else None

    async def phase(ctx: Any) -> None:
        slots = model_of.Slots(c.lanes_per_pipe, queues, c.engine.depth)
        share = rng.choice([0.3, 0.6, 0.9])
        for _ in range(40):
            batch = offer(ctx)
            assert ctx.get(dut.ready) == slots.takes
            assert ctx.get(dut.empty) == slots.empty
            after = deepcopy(slots)
            if batch is not None and after.takes:
                after.take(batch)
            assert ctx.get(dut.some) == (not after.empty)
            waves = after.shown()
            older, younger = [*waves, {}, {}][:2]
            assert shown(ctx, ctx.get(dut.old)) == older
            assert shown(ctx, ctx.get(dut.young) & ctx.get(dut.allowed)) == younger
            served = [{n: key for n, key in w.items() if rng.random() < share} for w in waves]
            ctx.set(dut.served, sum(1 << lane % queues for wave in served for lane in wave))
            advance = rng.random() < 0.8
            ctx.set(dut.advance, advance)
            await ctx.tick()
            if advance:
                after.drop(served)
                slots = after

    async def bench(ctx: Any) -> None:
        await phase(ctx)
        offer(ctx)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        await phase(ctx)

    top = Module()
    top.domains.sync = domain = ClockDomain("sync")
    reset = domain.rst
    top.submodules.dut = dut
    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize(("lanes", "queues"), [(8, 8), (8, 2), (6, 3), (20, 10)])
def test_lanes_and_queues(lanes: int, queues: int, depth: int) -> None:
    engine = Engine(kind="queued-banked", banks=4, queues=queues, depth=depth)
    check(OfanConfig(lanes=lanes, uplinks=3, destinations=7, engine=engine), seed=depth)


@FEW
@given(
    st.integers(1, 5), st.integers(1, 2), st.integers(1, 3), st.integers(1, 9), st.integers(0, 99)
)
def test_slots_of_any_number(
    queues: int, fold: int, depth: int, destinations: int, seed: int
) -> None:
    engine = Engine(kind="queued-banked", banks=2, queues=queues, depth=depth)
    lanes = queues * fold
    check(OfanConfig(lanes=lanes, uplinks=2, destinations=destinations, engine=engine), seed)
