"""Rounds against the model of the pointer file, and the number of rounds."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.place import key_of, place, rows
from models.ofan.rounds import rounds
from rtl.ofan.rounds import Rounds
from tb.bench import Bench, Traffic
from tb.ofan.reference import FEW, Batch, Reference, assert_beats, configs, noisy, random_batches


def test_model_serves_the_keys_of_a_bank_in_order() -> None:
    """Keys 1, 4 and 11 are rows 0, 1 and 2 of bank 1 of four."""
    assert [key_of(1, row, 4) for row in range(3)] == [1, 4, 11]
    assert rounds([11, 2, None, 1, 4, 1], 4) == [{1: 1, 2: 2}, {1: 4}, {1: 11}]
    assert rounds([None, None], 4) == []


@given(st.lists(st.integers(0, 40), max_size=16), st.sampled_from([1, 2, 8]))
def test_model_serves_every_key_once(keys: list[int], banks: int) -> None:
    served = rounds(keys, banks)
    assert sorted(key for turn in served for key in turn.values()) == sorted(set(keys))
    assert all(place(key, banks)[0] == bank for turn in served for bank, key in turn.items())
    fullest = max(sum(place(key, banks)[0] == b for key in set(keys)) for b in range(banks))
    assert len(served) == fullest <= len(keys)


def as_placed(c: OfanConfig, items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Items in the order of their places, with places for keys."""
    row_bits = bits_for(rows(c.keys, c.engine.banks))
    placed = []
    for item in items:
        if "key" in item:
            bank, row = place(item["key"], c.engine.banks)
            item = item | {"key": bank << row_bits | row}
        placed.append(item)
    return sorted(placed, key=lambda item: (not item["valid"], item.get("key", 0)))


def check(config: OfanConfig, batches: list[Batch], seed: int) -> list[int]:
    """Serve batches at full speed and, after a reset, with pauses; return the cycles between two
    batches that are taken at full speed."""
    rng = random.Random(seed)
    dut, reference = Rounds(config), Reference(config)
    beats = [reference.serve(batch) for batch in batches]
    taken = [{"items": as_placed(config, beat.masks["items"])} for beat in beats]
    given = [{"items": as_placed(config, beat.update["items"])} for beat in beats]
    traffic = Traffic(beats=noisy(dut, taken, rng))
    fast, _, slow = Bench(dut, seed=seed).run(
        traffic,
        replace(traffic, stall=0.5, reset=True, cut=rng.randrange(30)),
        replace(traffic, stall=rng.choice([0.1, 0.6]), idle=0.3, reset=True),
    )
    for run in (fast, slow):
        assert_beats(given, run.answers)
    return [b - a for a, b in zip(fast.taken, fast.taken[1:], strict=False)]


def engine(banks: int) -> Engine:
    return Engine(kind="sorted-banked", banks=banks)


@FEW
@given(configs(), st.sampled_from([1, 2, 4, 8]), st.integers(0, 2**32))
def test_rounds_are_their_model(config: OfanConfig, banks: int, seed: int) -> None:
    config = replace(config, engine=engine(banks))
    batches = random_batches(config, random.Random(seed), 20)
    gaps = check(config, batches, seed)
    for gap, batch in zip(gaps, batches, strict=False):
        keys = [packet and config.key(*packet) for packet in batch]
        assert gap == max(1, len(rounds(keys, banks)))


@pytest.mark.parametrize("distance", range(1, 7))
def test_equal_keys_at_every_distance(distance: int) -> None:
    """The key comes back after 1 to latency + 2 cycles, at full speed."""
    config = OfanConfig(lanes=4, uplinks=6, destinations=8, size_classes=1, engine=engine(4))
    assert distance <= Rounds(config).latency + 2
    fours = ([3, None, 3, None], [None, None, None, 3], [1, 3, 3, 3], [3, 2, 2, 1])
    batches: list[Batch] = []
    for keys in fours * 2:
        for batch in (keys, *[[0, 1, 0, 2]] * (distance - 1)):
            batches.append([None if key is None else (key, 0) for key in batch])
    assert set(check(config, batches, distance)) == {1}


@pytest.mark.parametrize(("lanes", "uplinks"), [(8, 5), (6, 8), (5, 1)])
def test_a_bank_with_all_keys(lanes: int, uplinks: int) -> None:
    """One bank: as many rounds as keys, and the same keys again right behind."""
    config = OfanConfig(
        lanes=lanes, uplinks=uplinks, destinations=lanes, size_classes=1, engine=engine(1)
    )
    batch: Batch = [(lane, 0) for lane in range(lanes)]
    assert check(config, [batch, batch, [(0, 0)] * lanes, batch], 1) == [lanes, lanes, 1]
