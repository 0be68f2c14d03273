"""Matched-banked against its schedule, cycle by cycle, and against the golden model."""

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
from models.ofan.matched import Matched
from models.ofan.place import key_of
from rtl.ofan.matched import MatchedBanked
from tb.ofan.lanes import Log, Pass, follow, run_lanes, with_writes
from tb.ofan.reference import FEW, Batch, configs, named_batches, random_batches

SMALL = OfanConfig(
    lanes=4,
    uplinks=6,
    destinations=8,
    size_classes=1,
    masks=0,
    engine=Engine(kind="matched-banked", banks=4, group=2, depth=2),
)
"""Key k < 4 is in bank k, row 0; key 4 in bank 1, row 1, with key 1."""


@st.composite
def matched(draw: Any) -> OfanConfig:
    """Small switches with this engine."""
    config = draw(configs())
    divisors = [n for n in range(1, config.lanes + 1) if config.lanes % n == 0]
    engine = Engine(
        kind="matched-banked",
        banks=draw(st.sampled_from([1, 2, 4, 8])),
        group=draw(st.sampled_from(divisors)),
        depth=draw(st.integers(1, 4)),
    )
    return replace(config, engine=engine)


def check(config: OfanConfig, batches: list[Batch], seed: int) -> Log:
    """Batches at full speed in step with the model, then with pauses and failures, then up to a
    reset in mid-traffic, then again; return what the first pass did."""
    rng = random.Random(seed)
    dut = MatchedBanked(config)
    paused = Pass(
        plan=with_writes(config, batches, rng),
        stall=rng.choice([0.1, 0.6]),
        idle=rng.choice([0.0, 0.5]),
        freeze=rng.random() < 0.5,
    )
    full = Pass(plan=batches)
    cut = replace(paused, cut=rng.randrange(1, 40))
    first, _, _, again = run_lanes(dut, full, paused, cut, full, seed=seed)
    for log in (first, again):
        follow(log, Matched(config), batches, dut.latency)
    return first


def test_model_on_a_conflict_a_hit_and_a_full_queue() -> None:
    """Keys 1 and 4 share a bank; what stands behind the conflict waits, also on other banks."""
    assert key_of(1, 1, 4) == 4
    model = Matched(SMALL)
    assert model.step([1, 1, 4, 2]) == {0: 1, 1: 1}
    assert model.step([1, None, None, None]) == {2: 4, 3: 2}
    assert model.step([4, 1, 4, 1]) == {0: 1}
    assert model.step([3, 3, 3, 3]) == {0: 4}
    assert not model.takes
    with pytest.raises(ValueError, match="no room"):
        model.step([0, None, None, None])
    assert model.step() == {1: 1}
    assert not model.empty


@given(st.integers(0, 2**32), matched())
def test_model_serves_in_order_within_the_bound(seed: int, config: OfanConfig) -> None:
    model = Matched(config)
    rng = random.Random(seed)
    for batch in random_batches(config, rng, 10):
        keys = [packet and config.key(*packet) for packet in batch]
        served = list(model.step(keys))
        cycles = 1
        while not model.empty:
            served += list(model.step())
            cycles += 1
        packets = [lane for lane, key in enumerate(keys) if key is not None]
        assert served == packets
        assert cycles <= max(1, len(packets))


@FEW
@given(matched(), st.integers(0, 2**32))
def test_engine_is_its_model(config: OfanConfig, seed: int) -> None:
    check(config, random_batches(config, random.Random(seed), 25), seed)


@pytest.mark.parametrize("masks", [0, 2])
@pytest.mark.parametrize(
    ("lanes", "uplinks", "group"), [(8, 5, 4), (6, 8, 3), (8, 3, 8), (4, 1, 1)]
)
def test_named_batches(lanes: int, uplinks: int, group: int, masks: int) -> None:
    engine = Engine(kind="matched-banked", banks=2, group=group, depth=3)
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=4, masks=masks, engine=engine)
    batches = [batch for batches in named_batches(config).values() for batch in batches]
    check(config, batches, 1)


@pytest.mark.parametrize("masks", [0, 1])
@pytest.mark.parametrize("distance", range(1, 6))
def test_equal_keys_at_every_distance(distance: int, masks: int) -> None:
    """The key comes back on other lanes after `distance` cycles, alone or among others."""
    config = replace(SMALL, masks=masks)
    fours = ([3, None, 3, None], [None, None, None, 3], [1, 3, 3, 3], [3, 2, 2, 1], [2, 3, 0, 3])
    for between in ([None, 0, None, None], [1, 0, 2, 2]):
        batches: list[Batch] = []
        for keys in fours:
            for batch in (keys, *[between] * (distance - 1)):
                batches.append([None if key is None else (key, 0) for key in batch])
        log = check(config, batches, distance)
        assert log.taken == list(range(log.taken[0], log.taken[0] + len(batches)))


def test_a_batch_of_one_bank_takes_a_cycle_a_key() -> None:
    config = replace(SMALL, engine=replace(SMALL.engine, banks=1))
    log = check(config, [[(0, 0), (1, 0), (2, 0), (3, 0)], [(0, 0), (0, 0), (0, 0), (0, 0)]], 1)
    start = log.taken[0]
    assert log.left == {
        start + 3: [0],
        start + 4: [1],
        start + 5: [2],
        start + 6: [3],
        start + 7: [0, 1, 2, 3],
    }


def test_second_pipe_has_pointers_of_its_own() -> None:
    engine = Engine(kind="matched-banked", banks=2, group=2)
    config = OfanConfig(lanes=4, uplinks=5, destinations=6, pipe_lanes=2, init=4, engine=engine)
    run_lanes(MatchedBanked(config, 1), Pass(plan=random_batches(config, random.Random(1), 20)))


def test_all_uplinks_fail_with_batches_in_the_queue() -> None:
    """The batches that were taken before see the old sets, though they are served later."""
    config = replace(SMALL, masks=2, engine=replace(SMALL.engine, banks=1, depth=4))
    batch: Batch = [(1, 0), (2, 0), (1, 0), (3, 0)]
    plan = [batch, batch, MaskWrite(1, 0, 0), batch, MaskWrite(1, 1, 5), MaskWrite(0, 1, 1)]
    for seed in range(3):
        run_lanes(MatchedBanked(config), Pass(plan=[*plan, batch, batch], stall=0.3), seed=seed)
