"""Masks against its model: positions, turns, and changes that take effect between two batches."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.masks import MaskWrite, SharedMasks
from rtl.ofan.masks import Masks, write_layout
from tb.bench import Bench, Traffic, exercise
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
    random_write,
    write_fields,
)

BUSY = OfanConfig(lanes=4, uplinks=6, destinations=3, masks=3)


def test_model_of_the_tables() -> None:
    masks = SharedMasks(OfanConfig(lanes=4, uplinks=4, destinations=3, masks=2))
    assert [masks.set_of(d) for d in range(3)] == [15, 15, 15]
    masks.write(MaskWrite(1, 1, 0b0101))
    assert [masks.set_of(d) for d in range(3)] == [15, 15, 15]
    masks.write(MaskWrite(0, 2, 1))
    assert [masks.set_of(d) for d in range(3)] == [15, 15, 5]
    masks.write(MaskWrite(1, 0, 0))
    assert [masks.set_of(d) for d in range(3)] == [0, 0, 5]


@pytest.mark.parametrize("masks", [1, 3, 16])
def test_a_writes_bits_are_where_its_model_puts_them(masks: int) -> None:
    config = OfanConfig(lanes=4, uplinks=3, destinations=5, masks=masks)
    for write in (MaskWrite(0, 4, masks - 1), MaskWrite(1, masks - 1, 5)):
        fields = write_layout(config).const(write_fields(write))
        assert fields.as_bits() == write.tdata(config)


def check(dut: Masks, batches: list[Batch], plan: list[MaskWrite | Batch], seed: int) -> None:
    """`batches` run healthy; `plan` has changes among its batches."""
    reference, rng = Reference(dut.config), random.Random(seed)
    first = [reference.serve(batch) for batch in batches]
    sent: list[Beat] = []
    expected: list[Beat] = []
    writes: dict[int, list[tuple[object, Beat]]] = {}
    for step in plan:
        if isinstance(step, MaskWrite):
            reference.write(step)
            writes[len(sent)] = [(dut.write, write_fields(step))]
            sent.append(FENCE)
            expected.append(FENCE)
        else:
            served = reference.serve(step)
            sent.append(served.combine)
            expected.append({"fence": 0} | served.masks)
    fast, slow, after = exercise(
        dut,
        noisy(dut, [beat.combine for beat in first], rng),
        noisy(dut, sent, rng),
        writes=writes,
        seed=seed,
    )
    assert_beats([beat.masks for beat in first], fast)
    assert_beats(expected, slow)
    assert_beats([beat.masks for beat in first], after)


@FEW
@given(configs(), st.integers(0, 2**32))
def test_masks_is_its_model(config: OfanConfig, seed: int) -> None:
    rng = random.Random(seed)
    batches = random_batches(config, rng, 12)
    plan: list[MaskWrite | Batch] = []
    for batch in random_batches(config, rng, 20):
        if config.masks and rng.random() < 0.5:
            plan += [random_write(config, rng) for _ in range(rng.choice([1, 1, 2]))]
        plan.append(batch)
    check(Masks(config), batches, plan, seed)


@pytest.mark.parametrize("masks", [0, 1, 4])
@pytest.mark.parametrize(("lanes", "uplinks"), [(8, 3), (3, 8), (8, 1)])
def test_named_batches(lanes: int, uplinks: int, masks: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=4, masks=masks)
    batches = [batch for batches in named_batches(config).values() for batch in batches]
    check(Masks(config), batches, list(batches), 1)


@pytest.mark.parametrize("seed", range(4))
def test_all_uplinks_fail_and_come_back(seed: int) -> None:
    batch: Batch = [(0, 0), (0, 1), (2, 0), (1, 1)]
    plan: list[MaskWrite | Batch] = []
    for write in (
        MaskWrite(0, 2, 1),
        MaskWrite(1, 1, 0),
        MaskWrite(1, 0, 0),
        MaskWrite(1, 1, 1),
        MaskWrite(1, 0, 63),
        MaskWrite(0, 2, 0),
    ):
        plan += [batch, write, batch]
    check(Masks(BUSY), [batch], plan, seed)


def test_the_beat_behind_a_fence_waits_one_cycle() -> None:
    """And no other: without a pause eleven beats with one fence among them take twelve cycles."""
    dut, rng = Masks(BUSY), random.Random(1)
    served = Reference(BUSY).serve([(0, 0)] * 4).combine
    beats = noisy(dut, [*[served] * 5, FENCE, *[served] * 5], rng)
    writes = {5: [(dut.write, write_fields(MaskWrite(1, 2, 9)))]}
    (run,) = Bench(dut).run(Traffic(beats=beats, writes=writes))
    start = run.taken[0]
    assert [cycle - start for cycle in run.taken] == [0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 11]
    assert run.latencies() == {dut.latency} == {4}


@pytest.mark.parametrize(("destinations", "masks"), [(1, 4), (5, 2), (3, 3)])
def test_the_sweep_after_reset_takes_a_cycle_an_entry(destinations: int, masks: int) -> None:
    config = OfanConfig(lanes=2, uplinks=3, destinations=destinations, masks=masks)
    dut = Masks(config)
    beats = noisy(dut, [Reference(config).serve([None, None]).combine], random.Random(0))
    (run,) = Bench(dut).run(Traffic(beats=beats))
    assert run.taken == [max(destinations, masks)]


@pytest.mark.parametrize(
    ("lanes", "uplinks", "masks", "latency"), [(4, 4, 0, 0), (5, 4, 0, 1), (4, 4, 1, 4)]
)
def test_latency(lanes: int, uplinks: int, masks: int, latency: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=4, masks=masks)
    assert Masks(config).latency == latency
