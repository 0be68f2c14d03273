"""Sort against its model: order, stability, idle lanes last, every lane number once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.sorter import sorting_network
from models.ofan.config import OfanConfig
from models.ofan.sort import Item, sort
from rtl.common.sorter import stages_of
from rtl.ofan.sort import Sort
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


@given(st.lists(st.one_of(st.none(), st.integers(0, 5)), min_size=1, max_size=64), st.data())
def test_model_is_pythons_stable_sort(keys: list[int | None], data: st.DataObject) -> None:
    network = data.draw(st.sampled_from(["bitonic", "odd-even-merge"]))
    packets = [Item(key, lane) for lane, key in enumerate(keys) if key is not None]
    idle = [Item(None, lane) for lane, key in enumerate(keys) if key is None]
    assert sort(keys, network) == sorted(packets, key=lambda item: item.key or 0) + idle


def test_model_on_the_picture_of_the_readme() -> None:
    assert sort([7, 3, 7, 7]) == [Item(3, 1), Item(7, 0), Item(7, 2), Item(7, 3)]


def check(config: OfanConfig, batches: list[Batch], seed: int) -> None:
    reference, rng = Reference(config), random.Random(seed)
    served = [reference.serve(batch) for batch in batches]
    sent: list[Beat] = [beat.batch for beat in served]
    dut = Sort(config)
    payloads = noisy(dut, sent, rng)
    fences = noisy(dut, [FENCE] * 2, rng)
    fast, slow, after = exercise(dut, payloads, fences[:1] + payloads + fences[1:], seed=seed)
    assert [beat.fence for beat in slow] == [1, *[0] * len(sent), 1]
    expected = [
        {
            "fence": 0,
            "items": [i if i["valid"] else {"valid": 0} for i in beat.sort["items"]],
        }
        for beat in served
    ]
    for answers in (fast, slow[1:-1], after):
        assert_beats(expected, answers)
        for beat in answers:
            assert sorted(item.lane for item in beat["items"]) == list(range(config.lanes))


@FEW
@given(configs(masks=0), st.integers(0, 2**32))
def test_sort_is_its_model(config: OfanConfig, seed: int) -> None:
    check(config, random_batches(config, random.Random(seed), 12), seed)


@pytest.mark.parametrize("network", ["bitonic", "odd-even-merge", "best"])
def test_named_batches(network: str) -> None:
    config = OfanConfig(lanes=8, uplinks=8, destinations=5, network=network, masks=0)
    check(config, [batch for batches in named_batches(config).values() for batch in batches], 1)


@pytest.mark.parametrize("ranks_per_stage", [1, 2, 3, 32])
@pytest.mark.parametrize("lanes", [1, 2, 3, 32, 64])
def test_latency_is_the_networks_ranks_by_stages(lanes: int, ranks_per_stage: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=4, destinations=8, ranks_per_stage=ranks_per_stage)
    ranks = {1: 0, 2: 1, 3: 3, 32: 15, 64: 21}[lanes]
    assert len(sorting_network("bitonic", lanes)) == ranks
    assert Sort(config).latency == -(-ranks // ranks_per_stage) == stages_of(ranks, ranks_per_stage)
