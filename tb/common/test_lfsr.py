"""The pseudo-random register: its period, proved; its start; hardware against the model."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.common.lfsr import initial_state, next_state
from models.common.mix import GOLDEN
from rtl.common.lfsr import Lfsr

WIDTH = 64
PRIME_FACTORS = (3, 5, 17, 257, 641, 65537, 6700417)
"""Of 2**64 - 1 = (2**32 + 1)(2**16 + 1)(2**8 + 1)(2**4 + 1)(2**2 + 1)(2 + 1)."""

Matrix = list[int]
"""A linear map over GF(2): the image of each single bit."""


def apply(matrix: Matrix, state: int) -> int:
    """Return the image of a state."""
    out = 0
    while state:
        low = state & -state
        out ^= matrix[low.bit_length() - 1]
        state ^= low
    return out


def power(matrix: Matrix, exponent: int) -> Matrix:
    """Return a matrix's power, by squaring."""
    result = [1 << bit for bit in range(WIDTH)]
    while exponent:
        if exponent & 1:
            result = [apply(matrix, column) for column in result]
        matrix = [apply(matrix, column) for column in matrix]
        exponent >>= 1
    return result


@given(st.integers(0, 2**64 - 1), st.integers(0, 2**64 - 1))
def test_a_step_is_linear(a: int, b: int) -> None:
    assert next_state(a ^ b) == next_state(a) ^ next_state(b)


def test_period_is_all_states_but_0() -> None:
    """The step's matrix T has T^(2^64 - 1) = 1, so the length of every state's cycle divides
    2^64 - 1. A shorter one would divide (2^64 - 1)/p for a prime p, and the state would be in the
    kernel of T^((2^64 - 1)/p) - 1, which has no state but 0."""
    one = [1 << bit for bit in range(WIDTH)]
    step = [next_state(bit) for bit in one]
    product = 1
    for prime in PRIME_FACTORS:
        assert all(prime % divisor for divisor in range(2, int(prime**0.5) + 1))
        product *= prime
    assert product == 2**WIDTH - 1
    assert power(step, 2**WIDTH - 1) == one
    for prime in PRIME_FACTORS:
        longest = power(step, (2**WIDTH - 1) // prime)
        assert rank([column ^ bit for column, bit in zip(longest, one, strict=True)]) == WIDTH


def rank(rows: list[int]) -> int:
    """Return the rank of a matrix over GF(2)."""
    found = 0
    rows = list(rows)
    while rows:
        pivot = rows.pop()
        if pivot:
            found += 1
            low = pivot & -pivot
            rows = [row ^ pivot if row & low else row for row in rows]
    return found


def test_start() -> None:
    """Seeds 0 and 1 start as SplitMix64's first outputs do; no seed starts at 0."""
    assert initial_state(0) == 0xE220A8397B1DCDAF
    assert initial_state(1) == 0x910A2DEC89025CC1
    assert initial_state(-GOLDEN % 2**64) == GOLDEN
    assert len({initial_state(seed) for seed in range(1000)}) == 1000


def test_bits_are_balanced_and_neighbours_unrelated() -> None:
    """Each of 64 bits, and each bit XOR the same bit of the next number: 2^14 draws, no sum further
    from half than 5 standard deviations (one in 14,000 for all 128)."""
    states = [initial_state(7)]
    for _ in range(1 << 14):
        states.append(next_state(states[-1]))
    numbers = np.array(states, dtype=np.uint64)
    for words in (numbers[:-1], numbers[:-1] ^ numbers[1:]):
        bits = np.unpackbits(words.view(np.uint8)).reshape(-1, WIDTH).astype(int)
        assert (np.abs(bits.sum(axis=0) - (1 << 13)) <= 5 * (1 << 7) / 2).all()


@pytest.mark.parametrize("seed", [0, 1, 2**63 - 1])
def test_hardware(seed: int) -> None:
    top = Module()
    top.submodules.dut = dut = Lfsr(seed)
    rng = random.Random(seed)

    async def bench(ctx: Any) -> None:
        state = initial_state(seed)
        for _ in range(200):
            assert ctx.get(dut.state) == state
            step = rng.random() < 0.6
            ctx.set(dut.step, step)
            await ctx.tick()
            state = next_state(state) if step else state

    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()


@pytest.mark.parametrize("seed", [-1, 2**63])
def test_bad_seed(seed: int) -> None:
    with pytest.raises(ValueError, match=rf"^seed must be an integer from 0 to {2**63 - 1}, not"):
        Lfsr(seed)
