"""Remainders by conditional subtraction: model against %, hardware against the model."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.common.modulo import modulo as model
from models.common.modulo import subtractions
from rtl.common.modulo import modulo


@given(st.integers(1, 300), st.integers(1, 40), st.data())
def test_model_is_the_remainder(bound: int, least: int, data: st.DataObject) -> None:
    value = data.draw(st.integers(0, bound - 1))
    modulus = data.draw(st.integers(least, 2 * least + 10))
    assert model(value, modulus, bound, least) == value % modulus


@pytest.mark.parametrize(
    ("bound", "least", "steps"),
    [(1, 1, 0), (6, 6, 0), (7, 6, 1), (12, 6, 1), (13, 6, 2), (64, 32, 1), (32, 1, 5), (33, 1, 6)],
)
def test_fewest_subtractions(bound: int, least: int, steps: int) -> None:
    """Enough for every value below the bound, and one less is not enough."""
    assert subtractions(bound, least) == steps
    assert least << steps >= bound
    assert steps == 0 or least << steps - 1 < bound


def remainders(value_bits: int, values: Any, modulus: int, fixed: bool, **how: Any) -> list[int]:
    """Run the hardware over `values`, its modulus a constant (`fixed`) or a signal."""
    m = Module()
    value, divisor = Signal(value_bits), Signal(8)
    rest = Signal(16)
    m.d.comb += rest.eq(modulo(m, value, modulus if fixed else divisor, **how))
    found = []

    async def bench(ctx: Any) -> None:
        ctx.set(divisor, modulus)
        for number in values:
            ctx.set(value, number)
            found.append(ctx.get(rest))

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
    return found


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize(("bound", "least"), [(1, 1), (5, 5), (13, 6), (32, 1), (64, 33), (63, 8)])
def test_hardware_is_the_model(bound: int, least: int, fixed: bool) -> None:
    for modulus in {least, least + 1, 2 * least, bound}:
        if modulus >= least:
            values = range(bound)
            how = {"bound": bound, "least": least}
            found = remainders((bound - 1).bit_length(), values, modulus, fixed, **how)
            assert found == [model(v, modulus, bound, least) for v in values]


@pytest.mark.parametrize("modulus", [1, 5, 8])
def test_once_is_enough_below_twice_the_modulus(modulus: int) -> None:
    values = range(2 * modulus)
    found = remainders(5, values, modulus, False, bound=16, least=1, once=True)
    assert found == [v % modulus for v in values]
