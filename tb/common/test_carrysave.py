"""Carry-save sums and products: the same sum, the depth there must be, hardware against both."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.common.carrysave import carry_save, product_rows, reduction
from rtl.common import carrysave as hardware


@given(st.lists(st.integers(0, 2**12 - 1), min_size=1, max_size=64), st.integers(1, 20))
def test_sum_is_kept(rows: list[int], width: int) -> None:
    two = carry_save([row % (1 << width) for row in rows], width)
    assert len(two) == min(2, len(rows))
    assert sum(two) % (1 << width) == sum(rows) % (1 << width)


@pytest.mark.parametrize("rows", range(1, 65))
def test_two_rows_are_left_and_each_rank_joins_all_it_can(rows: int) -> None:
    left = rows
    for threes in reduction(rows):
        assert threes == left // 3 > 0
        left -= threes
    assert left == min(2, rows)
    assert sum(reduction(rows)) == max(0, rows - 2)


@pytest.mark.parametrize(("rows", "ranks"), [(2, 0), (3, 1), (4, 2), (7, 4), (9, 4), (10, 5)])
def test_ranks(rows: int, ranks: int) -> None:
    assert len(reduction(rows)) == ranks


@given(st.integers(0, 255), st.integers(0, 31))
def test_product(left: int, right: int) -> None:
    assert sum(product_rows(left, right, 5)) == left * right


@pytest.mark.parametrize(
    ("left_bits", "right_bits"), [(1, 1), (4, 1), (5, 2), (6, 7), (24, 10), (52, 30), (80, 50)]
)
def test_hardware(left_bits: int, right_bits: int) -> None:
    """Sums of up to three words among them."""
    width = left_bits + right_bits
    m, rng = Module(), random.Random(width)
    left, right = Signal(left_bits), Signal(right_bits)
    rows = hardware.product_rows(left, right)
    two = [Signal(width, name=f"two_{n}") for n in range(min(2, right_bits))]
    for out, row in zip(two, hardware.carry_save(m, rows, width, "sum"), strict=True):
        m.d.comb += out.eq(row)

    async def bench(ctx: Any) -> None:
        for _ in range(200):
            x, y = rng.getrandbits(left_bits), rng.getrandbits(right_bits)
            ctx.set(left, x)
            ctx.set(right, y)
            expected = carry_save(product_rows(x, y, right_bits), width)
            assert [ctx.get(out) for out in two] == expected

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("rows", [0, 65])
def test_bad_rows(rows: int) -> None:
    with pytest.raises(ValueError, match=f"^rows must be an integer from 1 to 64, not {rows}$"):
        reduction(rows)
