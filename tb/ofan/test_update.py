"""Update against its model: fetch-and-advance, wraps, failures, and hits in consecutive cycles."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.switch import initial_pointer
from models.ofan.update import PointerFile, fetch_and_advance
from rtl.ofan.update import Update
from tb.bench import Bench, Traffic
from tb.ofan.reference import (
    FEW,
    Batch,
    Reference,
    assert_beats,
    check_between_writes,
    configs,
    named_batches,
    noisy,
    random_batches,
)


def test_model_on_the_worked_example() -> None:
    """The pointer at 1 and three packets: 1 is fetched, (1 + 3) mod 32 = 4 is left."""
    assert fetch_and_advance(1, 3, range(32), 32) == (1, 4)
    assert fetch_and_advance(30, 3, range(32), 32) == (30, 1)
    assert fetch_and_advance(7, 32, range(32), 32) == (7, 7)


def test_model_passes_positions_that_are_not_valid() -> None:
    assert fetch_and_advance(4, 1, [2, 3, 7], 8) == (2, 0)
    assert fetch_and_advance(4, 2, [2, 3, 7], 8) == (2, 3)
    assert fetch_and_advance(0, 7, [2, 3, 7], 8) == (0, 3)
    assert fetch_and_advance(5, 4, [], 8) == (0, 5)


@given(st.integers(1, 64), st.data())
def test_model_is_addition_where_all_is_valid(w: int, data: st.DataObject) -> None:
    pointer, count = data.draw(st.integers(0, w - 1)), data.draw(st.integers(1, 64))
    assert fetch_and_advance(pointer, count, range(w), w) == (pointer, (pointer + count) % w)


@given(st.integers(1, 16), st.data())
def test_model_serves_a_group_as_it_would_its_packets(w: int, data: st.DataObject) -> None:
    valid = sorted(data.draw(st.sets(st.integers(0, w - 1))))
    pointer, count = data.draw(st.integers(0, w - 1)), data.draw(st.integers(1, 20))
    one_by_one = pointer
    for _ in range(count):
        one_by_one = fetch_and_advance(one_by_one, 1, valid, w)[1]
    assert fetch_and_advance(pointer, count, valid, w)[1] == one_by_one


def test_model_starts_where_the_golden_model_does() -> None:
    config = OfanConfig(lanes=4, uplinks=7, destinations=5, pipe_lanes=2, size_classes=3, init=9)
    for pipe in (0, 1):
        pointers = PointerFile(config, pipe).pointers
        for d in range(5):
            for t in range(3):
                assert pointers[config.key(d, t)] == initial_pointer(config, pipe, d, t)


def check(config: OfanConfig, batches: list[Batch], seed: int, pipe: int = 0) -> None:
    check_between_writes(Update(config, pipe), batches, seed, taken="masks", given="update")


@FEW
@given(configs(), st.integers(0, 2**32))
def test_update_is_its_model(config: OfanConfig, seed: int) -> None:
    check(config, random_batches(config, random.Random(seed), 20), seed)


@pytest.mark.parametrize("masks", [0, 2])
@pytest.mark.parametrize(("lanes", "uplinks"), [(8, 5), (6, 8), (3, 1), (8, 8)])
def test_named_batches(lanes: int, uplinks: int, masks: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=4, masks=masks)
    batches = [batch for batches in named_batches(config).values() for batch in batches]
    check(config, batches, 1)


def test_second_pipe_has_pointers_of_its_own() -> None:
    config = OfanConfig(lanes=4, uplinks=5, destinations=6, pipe_lanes=2, init=4)
    assert PointerFile(config, 0).pointers != PointerFile(config, 1).pointers
    check(config, random_batches(config, random.Random(1), 20), 1, pipe=1)


@pytest.mark.parametrize("masks", [0, 1])
@pytest.mark.parametrize("distance", range(1, 5))
def test_equal_keys_at_every_distance(distance: int, masks: int) -> None:
    """The key comes back on other lanes after `distance` cycles, 1 to latency + 2, at full speed;
    in between there is nothing, or there are other keys."""
    config = OfanConfig(lanes=4, uplinks=6, destinations=8, size_classes=1, masks=masks)
    assert distance <= Update(config).latency + 2
    fours = ([3, None, 3, None], [None, None, None, 3], [1, 3, 3, 3], [3, 2, 2, 1], [2, 3, 4, 5])
    for between in ([None] * 4, [4, 5, 6, 7]):
        batches: list[Batch] = []
        for keys in fours * 2:
            for batch in (keys, *[between] * (distance - 1)):
                batches.append([None if key is None else (key, 0) for key in batch])
        check(config, batches, distance)


def test_unroutable_groups_write_nothing() -> None:
    """All uplinks fail, the same key asks again and again, and the uplinks come back."""
    config = OfanConfig(lanes=4, uplinks=5, destinations=3, masks=1, init=7)
    reference, rng = Reference(config), random.Random(5)
    batch: Batch = [(2, 1), (2, 1), (0, 0), (2, 1)]
    beats = []
    for reached in (31, 0, 0, 31, 0, 16, 31):
        reference.pipeline.sets = [reached] * 3
        beats += [reference.serve(batch), reference.serve(batch)]
    dut = Update(config)
    (run,) = Bench(dut).run(Traffic(beats=noisy(dut, [beat.masks for beat in beats], rng)))
    assert_beats([beat.update for beat in beats], run.answers)


@pytest.mark.parametrize("destinations", [1, 3, 8])
def test_the_sweep_after_reset_takes_a_cycle_a_pointer_and_one(destinations: int) -> None:
    config = OfanConfig(lanes=2, uplinks=3, destinations=destinations, masks=0)
    dut = Update(config)
    beats = noisy(dut, [Reference(config).serve([None, None]).masks], random.Random(0))
    first, again = Bench(dut).run(Traffic(beats=beats), Traffic(beats=beats, reset=True))
    assert first.taken == [config.keys + 1]
    # Eight quiet cycles and the reset lie between the two.
    assert again.taken[0] - first.given[0] == 1 + 9 + config.keys + 1
