"""Prefix against its model: every batch, also where lanes without a packet carry noise."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.place import place
from models.ofan.prefix import prefix
from rtl.ofan.prefix import Prefix, group_of
from tb.ofan.reference import FEW


def test_model_stops_at_the_second_key_of_a_bank() -> None:
    """With four banks keys 1 and 4 share one, key 2 is elsewhere."""
    assert prefix({0: 1, 2: 2, 3: 1, 5: 4, 6: 1}, 4) == {0: 1, 2: 2, 3: 1}
    assert prefix({5: 4, 6: 4}, 4) == {5: 4, 6: 4}
    assert prefix({}, 4) == {}


@given(st.lists(st.integers(0, 20), max_size=12), st.sampled_from([1, 2, 4, 8]))
def test_model_takes_the_longest_prefix_without_conflict(keys: list[int], banks: int) -> None:
    served = prefix(dict(enumerate(keys)), banks)
    assert list(served) == list(range(len(served)))

    def conflict(some: list[int]) -> bool:
        return len({place(key, banks)[0] for key in some}) < len(set(some))

    assert not conflict(keys[: len(served)])
    assert len(served) == len(keys) or conflict(keys[: len(served) + 1])


def check(config: OfanConfig, seed: int) -> None:
    rng = random.Random(seed)
    dut = Prefix(config)
    banks, lanes = config.engine.banks, range(config.lanes_per_pipe)

    async def bench(ctx: Any) -> None:
        for _ in range(25):
            pool = [rng.randrange(config.keys) for _ in range(rng.choice([1, 3, 20]))]
            keys = [rng.choice(pool) for _ in lanes]
            packets = {lane: keys[lane] for lane in lanes if rng.random() < 0.8}
            for lane, key in enumerate(keys):
                bank, row = place(key, banks)
                ctx.set(dut.lanes[lane].there, lane in packets)
                ctx.set(dut.lanes[lane].bank, bank)
                ctx.set(dut.lanes[lane].row, row)
            served = prefix(packets, banks)
            assert ctx.get(dut.served) == sum(1 << lane for lane in served)
            assert ctx.get(dut.whole) == (len(served) == len(packets))
            first = group_of(config)
            for lane, key in served.items():
                bank, row = place(key, banks)
                assert ctx.get(dut.rows[bank]) == row
                group = range(lane // first * first, lane)
                assert ctx.get(dut.ranks[lane]) == sum(packets.get(n) == key for n in group)

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("banks", [1, 4, 16])
@pytest.mark.parametrize("group", [1, 2, 4, 8])
def test_groups(group: int, banks: int) -> None:
    engine = Engine(kind="matched-banked", banks=banks, group=group)
    check(OfanConfig(lanes=8, uplinks=5, destinations=11, engine=engine), group)


@FEW
@given(st.integers(1, 8), st.integers(1, 9), st.integers(0, 2**32))
def test_lanes_and_keys_of_any_number(lanes: int, destinations: int, seed: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=3, destinations=destinations)
    check(replace(config, engine=Engine(kind="matched-banked", banks=4, group=lanes)), seed)
