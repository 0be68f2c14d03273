"""Lookup against its model: both forms, writes under way, the sweep after reset."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.lookup import LookupTable, aligned_destination
from rtl.ofan.lookup import Lookup
from tb.bench import Bench, Traffic, exercise
from tb.ofan.reference import FEW, Beat, assert_beats, noisy


@st.composite
def configs(draw: Any, lookup: str) -> OfanConfig:
    return OfanConfig(
        lanes=draw(st.integers(1, 5)),
        uplinks=2,
        destinations=draw(st.integers(1, 9)),
        size_classes=draw(st.integers(1, 3)),
        lookup=lookup,
        host_bits=draw(st.integers(0, 3)),
        skip_own=draw(st.booleans()),
    )


def addresses(c: OfanConfig, rng: random.Random, batches: int) -> list[list[Beat]]:
    """Batches of requests; addresses are any that fit."""
    return [
        [
            {
                "valid": 1,
                "address": rng.getrandbits(c.host_bits + c.prefix_bits),
                "size_class": rng.randrange(c.size_classes),
            }
            if rng.random() < 0.8
            else {"valid": 0}
            for _ in range(c.lanes)
        ]
        for _ in range(batches)
    ]


def expected(lane: Beat, destination: int | None) -> Beat:
    """The lane behind the lookup."""
    if destination is None:
        return {"valid": 0}
    return {"valid": 1, "destination": destination, "size_class": lane["size_class"]}


def answers(batch: list[Beat], look_up: Any) -> list[Beat]:
    return [expected(x, look_up(x["address"]) if x["valid"] else None) for x in batch]


def test_model_of_the_aligned_form() -> None:
    """agg-k64: 63 other pods of 64; pod 5's own switch numbers pods 6 and up one lower."""
    config = OfanConfig(lanes=2, uplinks=2, destinations=63, skip_own=True, host_bits=8)
    found = [aligned_destination(config, 5, pod << 8 | 17) for pod in (0, 4, 5, 6, 63)]
    assert found == [0, 4, None, 5, 62]
    edge = OfanConfig(lanes=2, uplinks=2, destinations=72, host_bits=4)
    assert [aligned_destination(edge, 5, n << 4) for n in (4, 5, 71, 72)] == [4, None, 71, None]


def test_model_of_the_table() -> None:
    table = LookupTable(OfanConfig(lanes=2, uplinks=2, destinations=6, host_bits=4))
    assert table.destination(0x35) is None
    table.write(3, 5)
    assert (table.destination(0x35), table.destination(0x45)) == (5, None)
    table.write(3, None)
    assert table.destination(0x35) is None


@FEW
@given(configs("aligned"), st.integers(0, 2**32))
def test_aligned_form_is_its_model(config: OfanConfig, seed: int) -> None:
    rng = random.Random(seed)
    own = rng.randrange(1 << config.prefix_bits)
    dut = Lookup(config)
    batches = addresses(config, rng, 20)
    payloads = noisy(dut, batches, rng)
    want = [
        answers(batch, lambda address: aligned_destination(config, own, address))
        for batch in batches
    ]
    inputs = [(dut.own_prefix, own)]
    for found in exercise(dut, payloads, payloads, inputs=inputs, seed=seed):
        assert_beats(want, found)


@FEW
@given(configs("table"), st.integers(0, 2**32))
def test_table_form_is_its_model(config: OfanConfig, seed: int) -> None:
    """Every batch is offered when the writes before it are taken, and sees just those."""
    rng = random.Random(seed)
    dut, table = Lookup(config), LookupTable(config)
    batches = addresses(config, rng, 30)
    writes: dict[int, list[tuple[Any, Beat]]] = {}
    want = []
    for number, batch in enumerate(batches):
        for _ in range(rng.choice([0, 1, 3])):
            prefix = rng.randrange(1 << config.prefix_bits)
            destination = rng.choice([None, *range(config.destinations)])
            table.write(prefix, destination)
            entry = {
                "prefix": prefix,
                "northbound": int(destination is not None),
                "destination": destination or 0,
            }
            writes.setdefault(number, []).append((dut.write, entry))
        want.append(answers(batch, table.destination))
    payloads = noisy(dut, batches, rng)
    fast, slow, after = exercise(dut, payloads, payloads, writes=writes, settle=True, seed=seed)
    nothing = [[{"valid": 0}] * config.lanes] * len(batches)
    assert_beats(nothing, fast)
    assert_beats(want, slow)
    assert_beats(nothing, after)


def test_a_write_is_seen_from_the_next_cycle_on() -> None:
    """Also beside a batch that is taken in the same cycle: that one sees the old entry."""
    config = OfanConfig(lanes=1, uplinks=2, destinations=4, lookup="table", host_bits=0)
    dut = Lookup(config)
    beats = noisy(dut, [[{"valid": 1, "address": 2, "size_class": 1}]] * 6, random.Random(1))
    writes = {
        2: [(dut.write, {"prefix": 2, "northbound": 1, "destination": 3})],
        4: [(dut.write, {"prefix": 2, "northbound": 1, "destination": 1})],
    }
    (run,) = Bench(dut).run(Traffic(beats=beats, writes=writes))
    assert run.taken == list(range(4, 10)), "four entries to sweep, then no bubble"
    found = [
        (beat[0].valid, beat[0].destination if beat[0].valid else None) for beat in run.answers
    ]
    assert found == [(0, None)] * 3 + [(1, 3)] * 2 + [(1, 1)]


def test_without_a_lookup_there_is_none() -> None:
    with pytest.raises(ValueError, match=r"^lookup must be one of table, aligned, not 'none'$"):
        Lookup(OfanConfig(lanes=2, uplinks=2, destinations=2))
