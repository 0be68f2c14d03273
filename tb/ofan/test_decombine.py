"""Decombine against its model: the master's base to its group, position and uplink of each."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.combine import combine
from models.ofan.config import OfanConfig
from models.ofan.decombine import decombine, share
from models.ofan.switch import UNROUTABLE
from rtl.ofan.decombine import Decombine
from tb.ofan.reference import (
    FEW,
    Batch,
    check_between_writes,
    configs,
    named_batches,
    random_batches,
)


def test_model_on_the_worked_example() -> None:
    """The fetched 1, offset by the position within the group: ports 1, 2 and 3."""
    config = OfanConfig(lanes=32, uplinks=32, destinations=2048, order="plain")
    everything = range(32)
    assert share(combine([77, 77, 77, 80]), [None, None, 1, 9]) == [1, 1, 1, 9]
    assert [decombine(config, 77, j, 1, everything) for j in range(3)] == [1, 2, 3]
    assert [decombine(config, 77, j, 31, everything) for j in range(3)] == [31, 0, 1]


def test_model_counts_among_the_valid_positions() -> None:
    config = OfanConfig(lanes=8, uplinks=8, destinations=1, order="plain")
    assert [decombine(config, 0, j, 1, [2, 3, 7]) for j in range(4)] == [3, 7, 2, 3]
    assert decombine(config, 0, 0, 3, [2, 3, 7]) == 2  # the pointer stands behind all of them
    assert decombine(config, 0, 5, 0, []) == UNROUTABLE


@given(st.lists(st.integers(1, 6), max_size=10), st.integers(0, 4))
def test_model_shares_among_the_group_alone(sizes: list[int], idle: int) -> None:
    keys = [key for key, size in enumerate(sizes) for _ in range(size)]
    members = combine([*keys, *[None] * idle])
    bases = [100 + key for key in keys] + [None] * idle
    fetched = [
        base if member and member.master else None
        for base, member in zip(bases, members, strict=True)
    ]
    assert share(members, fetched) == bases


def check(config: OfanConfig, batches: list[Batch], seed: int) -> None:
    check_between_writes(Decombine(config), batches, seed, taken="update", given="decombine")


@FEW
@given(configs(), st.integers(0, 2**32))
def test_decombine_is_its_model(config: OfanConfig, seed: int) -> None:
    check(config, random_batches(config, random.Random(seed), 15), seed)


@pytest.mark.parametrize("masks", [0, 2])
@pytest.mark.parametrize(("lanes", "uplinks"), [(8, 5), (6, 8), (3, 1)])
def test_named_batches(lanes: int, uplinks: int, masks: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=4, masks=masks)
    batches = [batch for batches in named_batches(config).values() for batch in batches]
    check(config, batches, 1)
