"""The mixing function: published numbers of SplitMix64, arrays, and that nothing is lost."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from models.common.mix import GOLDEN, MASK64, mix64

WORDS = st.integers(0, MASK64)


def test_published_numbers() -> None:
    """The first outputs of SplitMix64 from the state 1234567."""
    states = [1234567 + GOLDEN * n & MASK64 for n in range(1, 6)]
    assert [mix64(state) for state in states] == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


def test_golden_is_the_golden_ratio() -> None:
    assert GOLDEN % 2 == 1
    assert abs(GOLDEN - 2**64 * 2 / (1 + 5**0.5)) < 2**12


@given(st.lists(WORDS, min_size=1, max_size=9))
def test_arrays(words: list[int]) -> None:
    assert mix64(np.array(words, np.uint64)).tolist() == [mix64(word) for word in words]


@given(WORDS)
def test_it_can_be_undone(word: int) -> None:
    assert unmixed(mix64(word)) == word


def unmixed(word: int) -> int:
    word ^= word >> 31 ^ word >> 62
    word = word * pow(0x94D049BB133111EB, -1, 2**64) & MASK64
    word ^= word >> 27 ^ word >> 54
    word = word * pow(0xBF58476D1CE4E5B9, -1, 2**64) & MASK64
    return word ^ word >> 30 ^ word >> 60
