"""Replies against its model: the uplinks of packets in every cycle, with and without masks."""

from __future__ import annotations

import random
from collections import deque
from typing import Any

import pytest
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.order import valid_positions
from models.ofan.place import place
from models.ofan.replies import replies
from models.ofan.switch import UNROUTABLE, Ofan, Packet, initial_pointer
from rtl.ofan.replies import Replies
from tb.ofan.reference import FEW


def test_model_by_hand() -> None:
    config = OfanConfig(lanes=8, uplinks=4, destinations=1, order="plain")
    assert replies(config, 0, base=3, count=6, reached=0b1111) == [3, 0, 1, 2, 3, 0]
    assert replies(config, 0, base=1, count=3, reached=0b1010) == [3, 1, 3]
    assert replies(config, 0, base=0, count=2, reached=0) == [UNROUTABLE] * 2


@given(st.integers(1, 7), st.integers(0, 13), st.integers(0, 99), st.integers(0, 127))
def test_model_is_what_the_switch_says(uplinks: int, key: int, seed: int, reached: int) -> None:
    """A batch of one key gets what its packets get one by one."""
    config = OfanConfig(lanes=16, uplinks=uplinks, destinations=7, init=seed)
    assert config.order is not None
    size_class, destination = divmod(key, 7)
    switch = Ofan(config)
    for uplink in range(uplinks):
        switch.set_uplink(destination, uplink, bool(reached >> uplink & 1))
    answers = [switch.serve(Packet(lane, destination, size_class)) for lane in range(16)]
    pointer = initial_pointer(config, 0, destination, size_class)
    valid = valid_positions(config.order, uplinks, key, reached)
    base = sum(position < pointer for position in valid)
    assert replies(config, key, base, 16, reached) == answers


def check(config: OfanConfig, packets: int, seed: int) -> None:
    """Bring packets in every cycle, with pauses, and noise at banks that no packet asks."""
    c, rng = config, random.Random(seed)
    dut = Replies(c, packets)
    everything = (1 << c.uplinks) - 1

    def banks(ctx: Any) -> dict[int, tuple[int, int, int]]:
        """Draw what the banks say; return (key, base, reached) of those that have keys."""
        says = {}
        for bank in range(c.engine.banks):
            ctx.set(dut.bases[bank], rng.randrange(c.uplinks))
            if c.masks:
                ctx.set(dut.masks[bank], rng.randint(0, everything))
                ctx.set(dut.ways[bank], rng.randint(1, c.uplinks))
        for key in rng.choices(range(c.keys), k=c.engine.banks):
            bank, _ = place(key, c.engine.banks)
            reached = everything
            if c.masks:
                reached = rng.choice([everything, rng.randint(0, everything), 0])
            assert c.order is not None
            valid = valid_positions(c.order, c.uplinks, key, reached)
            pointer = rng.randrange(c.uplinks)
            base = sum(position < pointer for position in valid)
            says[bank] = key, base, reached
            ctx.set(dut.bases[bank], base)
            if c.masks:
                ctx.set(dut.ways[bank], len(valid))
                if len(valid) < c.uplinks:
                    ctx.set(dut.masks[bank], sum(1 << i for i in valid))
        return says

    def ask(ctx: Any, says: dict[int, tuple[int, int, int]]) -> list[int]:
        """Draw the packets; return their uplinks."""
        uplinks = []
        for number in range(packets):
            bank = rng.choice(list(says))
            key, base, reached = says[bank]
            rank = rng.choice([0, packets - 1, rng.randrange(packets)])
            packet = {"bank": bank, "row": place(key, c.engine.banks)[1], "rank": rank}
            ctx.set(dut.packets[number], packet)
            uplinks.append(replies(c, key, base, packets, reached)[rank])
        return uplinks

    async def bench(ctx: Any) -> None:
        due: deque[list[int]] = deque()
        for _ in range(25):
            uplinks = ask(ctx, banks(ctx))
            advance = rng.random() < 0.8
            ctx.set(dut.advance, advance)
            await ctx.tick()
            if advance:
                due.append(uplinks)
            if len(due) < dut.latency:
                continue
            if len(due) > dut.latency:
                due.popleft()
            for number, uplink in enumerate(due[0]):
                unroutable = ctx.get(dut.unroutable[number])
                assert unroutable == (uplink == UNROUTABLE)
                assert unroutable or ctx.get(dut.uplinks[number]) == uplink

    simulator = Simulator(dut)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize(("masks", "order"), [(0, "plain"), (0, None), (2, None)])
@pytest.mark.parametrize(("packets", "uplinks"), [(4, 8), (8, 8), (8, 5), (7, 3), (5, 1)])
def test_as_many_packets_as_uplinks_and_more(
    packets: int, uplinks: int, masks: int, order: Any
) -> None:
    engine = Engine(kind="queued-banked", banks=4)
    check(
        OfanConfig(
            lanes=2 * packets,
            uplinks=uplinks,
            destinations=11,
            masks=masks,
            order=order,
            engine=engine,
        ),
        packets,
        seed=uplinks,
    )


@FEW
@given(
    st.integers(1, 6),
    st.integers(1, 7),
    st.integers(1, 9),
    st.sampled_from([1, 2, 8]),
    st.integers(0, 1),
    st.integers(0, 2**32),
)
def test_packets_and_banks_of_any_number(
    packets: int, uplinks: int, destinations: int, banks: int, masks: int, seed: int
) -> None:
    engine = Engine(kind="queued-banked", banks=banks)
    config = OfanConfig(
        lanes=packets, uplinks=uplinks, destinations=destinations, masks=masks, engine=engine
    )
    check(config, packets, seed)
