"""π in hardware, both ways, against the model: every key, every position, sets of uplinks."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.order import order_table, pi, valid_positions
from rtl.ofan.order import Positions, Uplink

WIDTHS = [1, 2, 3, 5, 6, 7, 8, 12, 16, 33]


def config_of(w: int, **changes: Any) -> OfanConfig:
    """Enough identifiers for every id1 and, in two size classes, some wraps of id2."""
    keys = {"destinations": 40, "size_classes": 3}
    return OfanConfig(**{"lanes": 2, "uplinks": w, "order": None, **keys, **changes})


def simulate(dut: Any, testbench: Any) -> None:
    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("w", WIDTHS)
@pytest.mark.parametrize("order", ["plain", None])
def test_uplink_is_pi(w: int, order: Any) -> None:
    config = config_of(w, order=order)
    assert config.order is not None
    table = order_table(config.order, w, config.keys)
    dut, rng = Uplink(config), random.Random(w)
    keys = range(config.keys) if w <= 8 else rng.sample(range(config.keys), 24)

    async def bench(ctx: Any) -> None:
        for key in keys:
            ctx.set(dut.key, key)
            found = []
            for position in range(w):
                ctx.set(dut.position, position)
                found.append(ctx.get(dut.uplink))
            assert found == table[key].tolist(), f"key {key}"

    simulate(dut, bench)


@given(st.integers(1, 16), st.data())
def test_model_of_positions_is_pi_backwards(w: int, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(w)).map(tuple))
    key, reached = data.draw(st.integers(0, 500)), data.draw(st.integers(0, 2**w - 1))
    positions = valid_positions(order, w, key, reached)
    assert positions == sorted(set(positions)) and set(positions) <= set(range(w))
    uplinks = {pi(order, w, key, i) for i in positions}
    assert uplinks == {u for u in range(w) if reached >> u & 1}


@pytest.mark.parametrize("w", WIDTHS)
@pytest.mark.parametrize("order", ["plain", None])
def test_positions_is_its_model(w: int, order: Any) -> None:
    """Single uplinks, all but one, all, none and random sets, each for some keys."""
    config = config_of(w, order=order)
    assert config.order is not None
    dut, rng = Positions(config), random.Random(w)
    everything = 2**w - 1
    single = [1 << u for u in rng.sample(range(w), min(w, 8))]
    sets = [0, everything, *single, *(everything ^ one for one in single)]
    sets += [rng.randint(0, everything) for _ in range(12)]

    async def bench(ctx: Any) -> None:
        assert config.order is not None
        for key in [0, config.keys - 1, *rng.sample(range(config.keys), 10)]:
            ctx.set(dut.key, key)
            for reached in sets:
                ctx.set(dut.uplinks, reached)
                expected = sum(1 << i for i in valid_positions(config.order, w, key, reached))
                assert ctx.get(dut.positions) == expected, f"key {key}, uplinks {reached:b}"

    simulate(dut, bench)


@pytest.mark.parametrize("w", [4, 6])
def test_both_ways_are_inverse_for_every_permutation_drawn(w: int) -> None:
    rng = random.Random(w)
    for _ in range(3):
        order = tuple(rng.sample(range(w), w))
        config = config_of(w, order=order)
        dut = Positions(config)

        async def bench(ctx: Any, dut: Any = dut, order: Any = order) -> None:
            for key in range(60):
                ctx.set(dut.key, key)
                for position in range(w):
                    ctx.set(dut.uplinks, 1 << pi(order, w, key, position))
                    assert ctx.get(dut.positions) == 1 << position

        simulate(dut, bench)
