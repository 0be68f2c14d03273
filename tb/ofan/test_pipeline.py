"""The pipeline: its model against the golden model, and the hardware against its model."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.masks import MaskWrite
from models.ofan.pipeline import Pipeline as Model
from models.ofan.switch import Ofan, Packet
from rtl.ofan.pipeline import Pipeline
from tb.bench import Bench, Traffic, exercise
from tb.ofan.reference import (
    FEW,
    Batch,
    Reference,
    assert_beats,
    configs,
    named_batches,
    noisy,
    random_batches,
    random_write,
    sweep_of,
    write_fields,
)

Plan = list[MaskWrite | Batch]


def agree(config: OfanConfig, rng: random.Random, batches: list[list[Batch]]) -> None:
    """Serve every pipe's batches by the model, and the same packets by the golden model, with
    links that go down and up in between."""
    golden = Ofan(config)
    pipes = [Model(config, pipe) for pipe in range(config.pipes)]
    for parts in batches:
        for _ in range(rng.choice([0, 0, 1, 3]) if config.masks else 0):
            d, u = rng.randrange(config.destinations), rng.randrange(config.uplinks)
            up = rng.random() < 0.4
            golden.set_uplink(d, u, up)
            for pipe in pipes:
                pipe.sets[d] = pipe.sets[d] | 1 << u if up else pipe.sets[d] & ~(1 << u)
        whole = [packet for part in parts for packet in part]
        packets = [Packet(lane, *packet) for lane, packet in enumerate(whole) if packet]
        expected = golden.serve_batch(packets)
        found = [
            answer for pipe, part in zip(pipes, parts, strict=True) for answer in pipe.serve(part)
        ]
        assert found == [expected.get(lane) for lane in range(config.lanes)]
    for number, pipe in enumerate(pipes):
        assert pipe.file.pointers == [golden.pointers[number, key] for key in range(config.keys)]


@given(configs(), st.sampled_from([1, 2, 3]), st.integers(0, 2**32))
def test_model_is_the_golden_model(config: OfanConfig, pipes: int, seed: int) -> None:
    config = OfanConfig(
        **{
            **{name: getattr(config, name) for name in config.__dataclass_fields__},
            "lanes": config.lanes * pipes,
            "pipe_lanes": config.lanes if pipes > 1 else None,
        }
    )
    rng = random.Random(seed)
    streams = [random_batches(config, rng, 15) for _ in range(pipes)]
    agree(config, rng, [list(parts) for parts in zip(*streams, strict=True)])


@pytest.mark.parametrize(("lanes", "uplinks"), [(8, 5), (6, 8), (7, 1), (64, 64)])
def test_model_on_named_batches(lanes: int, uplinks: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=7)
    for batches in named_batches(config).values():
        agree(config, random.Random(3), [[batch] for batch in batches])


def check(config: OfanConfig, batches: list[Batch], plan: Plan, seed: int, pipe: int = 0) -> None:
    """`batches` run healthy at full speed; `plan` runs with pauses and changes of the masks, each
    offered in the very cycle in which the next batch may be."""
    reference, rng = Reference(config, pipe), random.Random(seed)
    dut = Pipeline(config, pipe)
    first = [reference.serve(batch) for batch in batches]
    second = []
    writes: dict[int, list[tuple[Any, Any]]] = {}
    for step in plan:
        if isinstance(step, MaskWrite):
            reference.write(step)
            writes.setdefault(len(second), []).append((dut.write, write_fields(step)))
        else:
            second.append(reference.serve(step))
    fast, slow, after = exercise(
        dut,
        noisy(dut, [beat.requests for beat in first], rng),
        noisy(dut, [beat.requests for beat in second], rng),
        writes=writes,
        wait=sweep_of(config),
        seed=seed,
    )
    assert_beats([beat.unsort["lanes"] for beat in first], fast)
    assert_beats([beat.unsort["lanes"] for beat in second], slow)
    assert_beats([beat.unsort["lanes"] for beat in first], after)


@FEW
@given(configs(), st.integers(0, 2**32))
def test_pipeline_is_its_model(config: OfanConfig, seed: int) -> None:
    rng = random.Random(seed)
    plan: Plan = []
    for batch in random_batches(config, rng, 25):
        if config.masks and rng.random() < 0.3:
            plan += [random_write(config, rng) for _ in range(rng.choice([1, 1, 3]))]
        plan.append(batch)
    check(config, random_batches(config, rng, 25), plan, seed)


@pytest.mark.parametrize(("lanes", "uplinks", "masks"), [(5, 7, 2), (8, 4, 0), (4, 6, 1)])
def test_named_batches(lanes: int, uplinks: int, masks: int) -> None:
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=9, masks=masks)
    batches = [batch for batches in named_batches(config).values() for batch in batches]
    check(config, batches, list(batches), 1)


@pytest.mark.parametrize("masks", [0, 2])
def test_equal_keys_at_every_distance(masks: int) -> None:
    """One key in batches 1 to latency + 2 cycles apart at full speed, other traffic in between."""
    config = OfanConfig(lanes=3, uplinks=5, destinations=6, size_classes=1, masks=masks)
    batches: list[Batch] = []
    for distance in range(1, Pipeline(config).latency + 3):
        batches.append([(4, 0), None, (4, 0)])
        batches += [[(distance % 4, 0), None, (5, 0)]] * (distance - 1)
    batches.append([None, (4, 0), (4, 0)])
    check(config, batches, [], 1)


def test_all_uplinks_fail_in_mid_traffic_and_come_back() -> None:
    config = OfanConfig(lanes=4, uplinks=5, destinations=3, masks=2, init=3)
    batch: Batch = [(1, 0), (1, 0), (2, 1), (1, 1)]
    plan: Plan = []
    for write in (
        MaskWrite(1, 1, 0b01010),
        MaskWrite(0, 1, 1),
        MaskWrite(1, 0, 0),
        MaskWrite(1, 1, 0),
        MaskWrite(1, 1, 0b10000),
        MaskWrite(1, 0, 31),
        MaskWrite(0, 1, 0),
    ):
        plan += [batch, batch, write, batch]
    for seed in range(3):
        check(config, [batch], plan, seed)


def test_a_write_takes_one_slot() -> None:
    """Two bubbles for each: the write's own, and the cycle the mask tables take to change."""
    config = OfanConfig(lanes=2, uplinks=4, destinations=2, masks=1)
    dut = Pipeline(config)
    beats = noisy(
        dut, [[{"valid": 1, "destination": 0, "size_class": 0}] * 2] * 30, random.Random()
    )
    writes = {10: [(dut.write, write_fields(MaskWrite(1, 0, 9)))]}
    (run,) = Bench(dut).run(Traffic(beats=beats, writes=writes, wait=sweep_of(config)))
    gaps = [b - a for a, b in zip(run.taken, run.taken[1:], strict=False)]
    assert gaps[9] == 2, "the write goes in where a batch would"
    assert sum(gap - 1 for gap in gaps) == 2


def test_latency_is_the_sum_of_the_blocks() -> None:
    """By hand for 32 lanes, three ranks a stage: 1 + 5 + 3 + 4 + 2 + 3 + 5."""
    assert Pipeline(OfanConfig(lanes=32, uplinks=32, destinations=2048)).latency == 23
    assert (
        Pipeline(OfanConfig(lanes=32, uplinks=32, destinations=2048, ranks_per_stage=1)).latency
        == 1 + 15 + 6 + 4 + 2 + 3 + 15
    )


def test_worked_example_of_appendix_i() -> None:
    """w = 32, the pointer at 1: three packets of a batch leave on 1, 2, 3, and the next on 4."""
    config = OfanConfig(
        lanes=32, uplinks=32, destinations=64, size_classes=1, order="plain", init="zero", masks=0
    )
    dut = Pipeline(config)
    alone: Batch = [None] * 32
    alone[9] = (50, 0)
    three: Batch = [(lane, 0) for lane in range(32)]
    for lane in (3, 17, 30):
        three[lane] = (50, 0)
    beats = [[packet and request(*packet) for packet in batch] for batch in (alone, three, alone)]
    (run,) = Bench(dut).run(Traffic(beats=noisy(dut, beats, random.Random(1))))
    first, batch, behind = run.answers
    assert first[9].uplink == 0
    assert [batch[lane].uplink for lane in (3, 17, 30)] == [1, 2, 3]
    assert all(batch[lane].uplink == 0 for lane in range(32) if lane not in (3, 17, 30))
    assert behind[9].uplink == 4
    assert [lane.valid for lane in behind] == [int(lane == 9) for lane in range(32)]


def request(destination: int, size_class: int) -> dict[str, int]:
    return {"valid": 1, "destination": destination, "size_class": size_class}
