"""Sorted-banked against the golden model and its bound."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.masks import MaskWrite
from models.ofan.rounds import rounds
from models.ofan.sorted_banked import SortedBanked as Model
from rtl.ofan.place import to_key, to_place
from rtl.ofan.sort import item_fields
from rtl.ofan.sorted_banked import Rekey, SortedBanked
from tb.bench import Bench, Traffic
from tb.ofan.lanes import Log, Pass, run_lanes, with_writes
from tb.ofan.reference import FEW, Batch, configs, named_batches, random_batches

SMALL = OfanConfig(
    lanes=4,
    uplinks=6,
    destinations=8,
    size_classes=1,
    masks=0,
    engine=Engine(kind="sorted-banked", banks=4, depth=2),
)


@st.composite
def banked(draw: Any) -> OfanConfig:
    """Small switches with this engine."""
    engine = Engine(
        kind="sorted-banked",
        banks=draw(st.sampled_from([1, 2, 4, 8])),
        depth=draw(st.integers(1, 4)),
    )
    return replace(draw(configs()), engine=engine)


def check(config: OfanConfig, batches: list[Batch], seed: int) -> Log:
    """Batches at full speed, then with pauses and failures up to a reset, then to the end; return
    what the first pass did, of which every batch leaves at once and within the model's bound."""
    rng = random.Random(seed)
    dut = SortedBanked(config)
    paused = Pass(
        plan=with_writes(config, batches, rng),
        stall=rng.choice([0.1, 0.6]),
        idle=rng.choice([0.0, 0.5]),
    )
    cut = replace(paused, cut=rng.randrange(1, 40))
    first, _, _ = run_lanes(dut, Pass(plan=batches), cut, paused, seed=seed)
    before, taken_before = -1, -1
    left = list(first.left.items())
    for batch, taken in zip(batches, first.taken, strict=True):
        lanes = [lane for lane, packet in enumerate(batch) if packet]
        if not lanes:
            continue
        keys = [packet and config.key(*packet) for packet in batch]
        turns = len(rounds(keys, config.engine.banks))
        cycle, answered = left.pop(0)
        assert answered == lanes
        alone = taken + dut.latency + turns - 1
        assert cycle >= max(before + turns, alone)
        if before >= 0:  # the first one may wait for the sweep
            assert cycle <= max(before + turns + taken - taken_before - 1, alone)
        before, taken_before = cycle, taken
    assert not left
    return first


def test_model_does_a_round_a_cycle() -> None:
    """Keys 1 and 4 share a bank of four; key 2 is elsewhere."""
    model = Model(SMALL)
    assert model.step([1, 2, 4, 1]) == {}
    assert model.step([3, None, None, 3]) == {0: 1, 1: 2, 2: 4, 3: 1}
    assert model.step([None] * 4) == {0: 3, 3: 3}
    assert model.step() == {}
    assert model.empty


@given(banked(), st.integers(0, 2**32))
def test_model_keeps_its_bound(config: OfanConfig, seed: int) -> None:
    model = Model(config)
    for batch in random_batches(config, random.Random(seed), 10):
        keys = [packet and config.key(*packet) for packet in batch]
        packets = {lane: key for lane, key in enumerate(keys) if key is not None}
        served = model.step(keys)
        cycles = 1
        while not model.empty:
            assert not served
            served = model.step()
            cycles += 1
        assert served == packets
        assert cycles <= max(1, len(packets))


@FEW
@given(banked(), st.integers(0, 2**32))
def test_engine_is_the_golden_model(config: OfanConfig, seed: int) -> None:
    check(config, random_batches(config, random.Random(seed), 20), seed)


@pytest.mark.parametrize("masks", [0, 2])
@pytest.mark.parametrize(("lanes", "uplinks"), [(8, 5), (6, 8), (4, 6), (4, 1)])
def test_named_batches(lanes: int, uplinks: int, masks: int) -> None:
    engine = Engine(kind="sorted-banked", banks=2, depth=3)
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=4, masks=masks, engine=engine)
    batches = [batch for batches in named_batches(config).values() for batch in batches]
    check(config, batches, 1)


def test_queue_and_pipeline_fill_and_the_switch_stops_taking() -> None:
    """Four rounds a batch: pipeline and queue fill, then a batch is taken in four cycles."""
    config = replace(SMALL, engine=replace(SMALL.engine, banks=1))
    batch: Batch = [(0, 0), (1, 0), (2, 0), (3, 0)]
    log = check(config, [batch] * 30, 1)
    gaps = [b - a for a, b in zip(log.taken, log.taken[1:], strict=False)]
    assert gaps[0] == 1
    assert gaps[-4:] == [4] * 4


def test_all_uplinks_fail_in_mid_traffic_and_come_back() -> None:
    config = replace(SMALL, masks=2, engine=replace(SMALL.engine, banks=1))
    batch: Batch = [(1, 0), (2, 0), (1, 0), (3, 0)]
    plan = [batch, batch, MaskWrite(1, 0, 0), batch, MaskWrite(1, 1, 5), MaskWrite(0, 1, 1)]
    run_lanes(SortedBanked(config), Pass(plan=[*plan, batch, batch], stall=0.3))


def test_pipes_have_pointers_of_their_own_and_stand_still_together() -> None:
    engine = Engine(kind="sorted-banked", banks=2)
    config = OfanConfig(lanes=4, uplinks=5, destinations=6, pipe_lanes=2, init=4, engine=engine)
    batches = random_batches(config, random.Random(1), 20)
    run_lanes(SortedBanked(config, 1), Pass(plan=batches, stall=0.5, freeze=True))


@pytest.mark.parametrize("keys", [1, 3, 16, 27])
@pytest.mark.parametrize("banks", [1, 4, 16])
def test_rekeying_there_and_back(keys: int, banks: int) -> None:
    config = replace(SMALL, destinations=keys, engine=replace(SMALL.engine, banks=banks))
    for convert, back in ((to_place, to_key), (to_key, to_place)):
        assert convert is not back
    dut = Rekey(config, item_fields(config), to_place)
    items = [{"valid": 1, "key": key, "lane": 0} for key in range(keys)]
    beats = [{"fence": 0, "items": [item] * config.lanes} for item in items]
    (run,) = Bench(dut).run(Traffic(beats=beats))
    places = [answer.items[0]["key"] for answer in run.answers]
    dut = Rekey(config, item_fields(config), to_key)
    beats = [
        {"fence": 0, "items": [{"valid": 1, "key": place, "lane": 0}] * config.lanes}
        for place in places
    ]
    (run,) = Bench(dut).run(Traffic(beats=beats))
    assert [answer.items[0]["key"] for answer in run.answers] == list(range(keys))
