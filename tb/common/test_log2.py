"""Logarithms by table: against exact ones, never falling; hardware against both."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.common.log2 import log2_code, log2_rests, log2_table
from rtl.common.log2 import Log2

SIZES = [(2, 2), (2, 7), (5, 6), (6, 6), (6, 7), (7, 5), (7, 9), (10, 10)]


def bound(mantissa_bits: int, fraction_bits: int) -> float:
    """Largest error there may be, by calculation: half of what two mantissas span (log2 less x
    rises by at most 0.4427 x), half of what one spans by itself, and half a unit."""
    cell = 2.0**-mantissa_bits
    return (cell / 2 + 0.4427 * cell) + 2.0**-fraction_bits * (
        0.5 + (fraction_bits < mantissa_bits)
    )


@pytest.mark.parametrize(("m", "f"), SIZES)
@pytest.mark.parametrize("width", [1, 2, 5, 7, 8, 13])
def test_error_and_order_over_all_values(m: int, f: int, width: int) -> None:
    before = 0
    for value in range(1, 1 << width):
        code = log2_code(value, m, f, width)
        assert abs(code / 2**f - math.log2(value)) <= bound(m, f), value
        assert before <= code < (value.bit_length() << f), value
        before = code
    assert log2_code(0, m, f, width) == 0


@pytest.mark.parametrize(("m", "f"), SIZES)
def test_error_at_both_ends_of_every_mantissa_of_24_bits(m: int, f: int) -> None:
    for exponent in range(m, 24):
        size = 1 << (exponent - m)
        for first in range(1 << exponent, 2 << exponent, size):
            code = log2_code(first, m, f, 24)
            assert code == log2_code(first + size - 1, m, f, 24)
            for value in (first, first + size - 1):
                assert abs(code / 2**f - math.log2(value)) <= bound(m, f)


@given(st.integers(1, 2**24 - 1), st.integers(1, 2**24 - 1), st.sampled_from(SIZES))
def test_the_larger_value_has_no_smaller_code(a: int, b: int, size: tuple[int, int]) -> None:
    low, high = sorted((a, b))
    assert log2_code(low, *size, 24) <= log2_code(high, *size, 24)


def test_narrow_values_are_as_exact_as_their_codes_can_be() -> None:
    """Up to 7 bits and 6 mantissa bits, nothing is cut off and only sharing and rounding are left;
    where every second mantissa cannot occur, only rounding."""
    for value in range(1, 64):
        code = log2_code(value, 6, 7, 6)
        assert abs(code - 128 * math.log2(value)) <= 0.5 + 1e-9


def test_default_table() -> None:
    """64 mantissas share 32 entries of 4 bits; log2 1.5 = 0.585 is 75/128."""
    rests = log2_rests(6, 7, 24)
    assert (len(rests), max(rests).bit_length()) == (32, 4)
    assert log2_table(6, 7, 24)[32] in (75, 76)


@pytest.mark.parametrize(("m", "f"), [(2, 3), (6, 7), (7, 5)])
@pytest.mark.parametrize("width", [1, 3, 8, 24])
def test_hardware(m: int, f: int, width: int) -> None:
    dut, rng = Log2(width, m, f), random.Random(width)
    everything = range(1 << width) if width <= 8 else [0]
    spread = [rng.getrandbits(rng.randint(1, width)) for _ in range(300)]

    async def bench(ctx: Any) -> None:
        for value in (*everything, *spread):
            ctx.set(dut.value, value)
            assert ctx.get(dut.code) == log2_code(value, m, f, width), value

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 6, 6), "width must be an integer from 1 to 64, not 0"),
        ((24, 1, 6), "mantissa_bits must be an integer from 2 to 12, not 1"),
        ((24, 6, 13), "fraction_bits must be an integer from 1 to 12, not 13"),
    ],
)
def test_bad_parameters(arguments: tuple[int, int, int], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        Log2(*arguments)
