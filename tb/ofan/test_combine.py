"""Combine against its model: groups of every size at every place, masters, counts."""

from __future__ import annotations

import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.prefix import prefix_network
from models.ofan.combine import Member, combine
from models.ofan.config import OfanConfig
from rtl.ofan.combine import Combine
from tb.bench import exercise
from tb.ofan.reference import (
    FENCE,
    FEW,
    Batch,
    Beat,
    Reference,
    assert_beats,
    configs,
    named_batches,
    noisy,
    random_batches,
)


@given(st.lists(st.integers(0, 5), max_size=64), st.integers(0, 8))
def test_model_counts_each_key(keys: list[int], idle: int) -> None:
    """Match counts against a counter, positions against how often the key came before."""
    keys = sorted(keys)
    counts, seen = Counter(keys), Counter()
    members = combine([*keys, *[None] * idle])
    assert members[len(keys) :] == [None] * idle
    for key, member in zip(keys, members, strict=False):
        assert member is not None
        assert member == Member(seen[key], counts[key])
        seen[key] += 1
        assert member.master == (seen[key] == counts[key])


def test_model_on_the_worked_example() -> None:
    """Three packets of 32 for one switch: the last of them is the master and carries 3."""
    keys = sorted([77] * 3 + [1000 + lane for lane in range(29)])
    members = combine(keys)
    assert members[:3] == [Member(0, 3), Member(1, 3), Member(2, 3)]
    assert [member.master for member in members if member] == [False, False, *[True] * 30]


def check(config: OfanConfig, served: list[Beat], expected: list[Beat], seed: int) -> None:
    dut = Combine(config)
    payloads = noisy(dut, served, random.Random(seed))
    fence = noisy(dut, [FENCE], random.Random(seed))
    fast, slow, after = exercise(dut, payloads, fence + payloads, seed=seed)
    assert [beat.fence for beat in slow] == [1, *[0] * len(served)]
    for answers in (fast, slow[1:], after):
        assert_beats(expected, answers)


def check_batches(config: OfanConfig, batches: list[Batch], seed: int) -> None:
    reference = Reference(config)
    served = [reference.serve(batch) for batch in batches]
    check(config, [beat.sort for beat in served], [beat.combine for beat in served], seed)


@FEW
@given(configs(masks=0), st.integers(0, 2**32))
def test_combine_is_its_model(config: OfanConfig, seed: int) -> None:
    check_batches(config, random_batches(config, random.Random(seed), 12), seed)


@pytest.mark.parametrize("lanes", [1, 5, 8])
def test_named_batches(lanes: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=8, destinations=9, masks=0)
    batches = [batch for batches in named_batches(config).values() for batch in batches]
    check_batches(config, batches, 1)


@pytest.mark.parametrize("lanes", [7, 16])
def test_a_group_of_every_size_at_every_place(lanes: int) -> None:
    """Keys that differ in one bit stand on both sides of the group; `noise` fills idle lanes."""
    config = OfanConfig(lanes=lanes, uplinks=4, destinations=16, masks=0, ranks_per_stage=2)
    sent, expected = [], []
    for size in range(1, lanes + 1):
        for start in range(lanes - size + 1):
            keys: list[int | None] = [None] * lanes
            keys[: start + size] = [10] * start + [11] * size
            items = [
                {"valid": 0, "lane": n} if key is None else {"valid": 1, "key": key, "lane": n}
                for n, key in enumerate(keys)
            ]
            sent.append({"items": items})
            expected.append(
                {
                    "items": [
                        item
                        if member is None
                        else item | {"position": member.position, "master": int(member.master)}
                        for item, member in zip(items, combine(keys), strict=True)
                    ]
                }
            )
    check(config, sent, expected, 2)


@pytest.mark.parametrize(("lanes", "ranks"), [(1, 0), (2, 1), (5, 3), (32, 5), (64, 6)])
def test_latency_is_one_and_the_scans_ranks_by_stages(lanes: int, ranks: int) -> None:
    for ranks_per_stage in (1, 2, 3):
        config = OfanConfig(lanes=lanes, uplinks=4, destinations=8, ranks_per_stage=ranks_per_stage)
        assert Combine(config).latency == 1 + -(-ranks // ranks_per_stage)


def test_the_papers_number_of_nodes() -> None:
    assert sum(len(rank) for rank in prefix_network(32)) == 80
