"""Rank and select, model against plain counting, hardware against the model."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.common.select import rank, select
from rtl.common.select import Rank, Select

WIDTHS = [1, 2, 3, 4, 5, 6, 7, 8, 12, 31, 32, 33, 64]


@given(st.integers(0, 2**64 - 1))
def test_model_is_the_list_of_set_bits(mask: int) -> None:
    places = [i for i in range(64) if mask & 1 << i]
    assert [select(mask, index) for index in range(len(places))] == places
    for position in (0, 1, 17, 63):
        assert rank(mask, position) == len([place for place in places if place < position])


def test_model_refuses_a_bit_that_is_not_there() -> None:
    with pytest.raises(ValueError, match=r"^index must be below the 2 set bits of .*, not 2$"):
        select(0b1010, 2)


def masks(width: int) -> list[int]:
    rng = random.Random(width)
    every = 2**width - 1
    if width <= 6:
        return list(range(2**width))
    lonely = [1 << rng.randrange(width) for _ in range(3)]
    return [0, every, *lonely, every ^ lonely[0], *(rng.randint(0, every) for _ in range(12))]


def simulate(dut: Any, testbench: Any) -> None:
    simulator = Simulator(dut)
    simulator.add_testbench(testbench)
    simulator.run()


@pytest.mark.parametrize("width", WIDTHS)
def test_rank_hardware(width: int) -> None:
    dut = Rank(width)

    async def bench(ctx: Any) -> None:
        for mask in masks(width):
            ctx.set(dut.mask, mask)
            for position in range(width):
                ctx.set(dut.position, position)
                assert ctx.get(dut.count) == rank(mask, position), f"{mask:b}, {position}"

    simulate(dut, bench)


@pytest.mark.parametrize("width", WIDTHS)
def test_select_hardware(width: int) -> None:
    dut = Select(width)

    async def bench(ctx: Any) -> None:
        for mask in masks(width):
            ctx.set(dut.mask, mask)
            for index in range(mask.bit_count()):
                ctx.set(dut.index, index)
                assert ctx.get(dut.position) == select(mask, index), f"{mask:b}, {index}"

    simulate(dut, bench)


@pytest.mark.parametrize("block", [Rank, Select])
@pytest.mark.parametrize("width", [0, 65])
def test_bad_width(block: Any, width: int) -> None:
    message = rf"^width must be an integer from 1 to 64, not {width}$"
    with pytest.raises(ValueError, match=message):
        block(width)
