"""Unsort against its model: every answer back on its lane."""

from __future__ import annotations

import random
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.unsort import unsort
from rtl.ofan.sort import Sort
from rtl.ofan.unsort import Unsort
from tb.bench import exercise
from tb.ofan.reference import (
    FENCE,
    FEW,
    Beat,
    Reference,
    assert_beats,
    configs,
    noisy,
    random_batches,
)


@given(st.permutations(range(9)))
def test_model_is_the_inverse_permutation(lanes: list[int]) -> None:
    answers = [f"of lane {lane}" for lane in lanes]
    assert unsort(lanes, answers) == [f"of lane {lane}" for lane in range(9)]


def test_model_wants_each_lane_once() -> None:
    with pytest.raises(ValueError, match=r"^lanes must be each of 0 to 2 once, not \[0, 2, 2\]$"):
        unsort([0, 2, 2], "abc")


def check(config: OfanConfig, sent: list[Beat], expected: list[Beat], seed: int) -> None:
    dut = Unsort(config)
    payloads = noisy(dut, sent, random.Random(seed))
    fence = noisy(dut, [FENCE], random.Random(seed))
    for item, lane in zip(fence[0]["items"], range(config.lanes), strict=True):
        item["lane"] = lane
    fast, slow, after = exercise(dut, payloads, fence + payloads, seed=seed)
    assert [beat.fence for beat in slow] == [1, *[0] * len(sent)]
    for answers in (fast, slow[1:], after):
        assert_beats(expected, answers)


@FEW
@given(configs(), st.integers(0, 2**32))
def test_unsort_is_its_model(config: OfanConfig, seed: int) -> None:
    reference = Reference(config)
    batches = random_batches(config, random.Random(seed), 12)
    served = [reference.serve(batch) for batch in batches]
    check(config, [beat.decombine for beat in served], [beat.unsort for beat in served], seed)


@pytest.mark.parametrize("network", ["bitonic", "odd-even-merge"])
def test_every_permutation_of_five_lanes(network: str) -> None:
    config = OfanConfig(lanes=5, uplinks=32, destinations=2, network=network, ranks_per_stage=1)
    answers = [{"valid": 1, "uplink": 20 + lane, "unroutable": lane % 2} for lane in range(5)]
    sent = [
        {"items": [answers[lane] | {"lane": lane} for lane in lanes]}
        for lanes in permutations(range(5))
    ]
    check(config, sent, [{"lanes": answers}] * len(sent), 3)


@pytest.mark.parametrize("lanes", [1, 6, 32])
def test_latency_is_that_of_the_sort(lanes: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=4, destinations=8)
    assert Unsort(config).latency == Sort(config).latency
