"""The queued-banked engine: its model keeps every order and its bound, and the hardware is in every
cycle what the model says."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.place import place, rows
from models.ofan.queued import Queued
from models.ofan.switch import Packet
from rtl.ofan.engine import pointer_engine
from tb.bench import bits_of
from tb.ofan.reference import (
    FEW,
    Batch,
    answer_fields,
    configs,
    differences,
    named_batches,
    noise,
    random_batches,
    random_write,
    request_fields,
    write_fields,
)
from tb.ofan.switch_cycle import Held
from tb.ofan.switch_reference import Reference
from tb.ofan.switch_schedule import Pipe

LONGEST = 5_000
"""Cycles after which a run that gets nowhere has failed."""


@st.composite
def queued_configs(draw: Any, **fixed: Any) -> OfanConfig:
    """Small switches with every kind of queues and banks."""
    lanes = fixed.get("lanes", draw(st.integers(1, 8)))
    queues = draw(st.sampled_from([q for q in range(1, lanes + 1) if not lanes % q]))
    engine = Engine(
        kind="queued-banked",
        banks=draw(st.sampled_from([1, 2, 4, 8])),
        queues=queues,
        depth=draw(st.integers(1, 4)),
    )
    return draw(configs(**{"lanes": lanes, "engine": engine, **fixed}))


def keys_of(c: OfanConfig, batch: Batch) -> list[int | None]:
    return [None if packet is None else c.key(*packet) for packet in batch]


@given(queued_configs(), st.integers(0, 2**32))
def test_model_keeps_order_and_bound(config: OfanConfig, seed: int) -> None:
    """Packets of one key and of one lane leave in their order, a bank serves one key a cycle, and n
    packets leave within n cycles."""
    rng = random.Random(seed)
    model = Queued(config)
    inside: list[tuple[int, int]] = []  # (lane, key), as they came
    for batch in random_batches(config, rng, 30):
        if model.takes:
            keys = keys_of(config, batch)
            inside += [(lane, key) for lane, key in enumerate(keys) if key is not None]
            served = model.step(keys)
        else:
            served = model.step()
        by_bank = {place(key, config.engine.banks)[0]: key for key in served.values()}
        assert set(by_bank.values()) == set(served.values())
        if inside:
            assert inside[0][0] in served, "the oldest packet waits"
        for lane, key in sorted(served.items()):
            at = inside.index((lane, key))
            ahead = [p for p in inside[:at] if p[0] == lane or p[1] == key]
            assert all(served.get(p[0]) == p[1] and p[0] < lane for p in ahead), "overtaken"
        for packet in served.items():
            inside.remove(packet)
    for _ in range(len(inside)):
        model.step()
    assert model.takes
    assert model.slots.empty


def check(
    config: OfanConfig,
    batches: Sequence[Batch],
    seed: int,
    *,
    pipe: int = 0,
    changes: float = 0.05,
) -> None:
    """Serve the batches with pauses at both ends, half of them after a reset in mid-traffic;
    `changes` is how often a write of the masks comes."""
    rng = random.Random(seed)
    dut = pointer_engine(config, pipe)

    async def bench(ctx: Any) -> None:
        half = len(batches) // 2
        await Watch(config, dut, pipe, changes).run(ctx, rng, batches[:half], until_empty=False)
        ctx.set(dut.i.valid, 0)
        if config.masks:
            ctx.set(dut.write.valid, 0)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        await Watch(config, dut, pipe, changes).run(ctx, rng, batches[half:], until_empty=True)

    top = Module()
    top.domains.sync = domain = ClockDomain("sync")
    reset = domain.rst
    top.submodules.dut = dut
    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()


class Watch:
    """One pipe from a reset on: its schedule and its answers."""

    def __init__(self, config: OfanConfig, dut: Any, pipe: int, changes: float) -> None:
        self.config, self.dut, self.changes = config, dut, changes
        self.first = pipe * config.lanes_per_pipe
        self.schedule = Pipe(config, dut.latency)
        self.model = Reference(config)
        self.due: list[deque[int]] = [deque() for _ in range(config.lanes_per_pipe)]

    async def run(
        self, ctx: Any, rng: random.Random, batches: Sequence[Batch], *, until_empty: bool
    ) -> None:
        c, dut = self.config, self.dut
        queue = deque(batches)
        idle, stall = rng.choice([0, 0, 0.3]), rng.choice([0, 0.3, 0.7])
        offering = writing = False
        swept = max(rows(c.keys, c.engine.banks) + 1, c.masks)
        for cycle in range(LONGEST):
            if not queue and not (until_empty and (writing or any(self.due))):
                return
            if c.masks and not writing and rng.random() < self.changes:
                writing, change = True, random_write(c, rng)
                ctx.set(dut.write.payload, write_fields(change))
                self.model.write(change)
            offering = bool(queue) and (offering or rng.random() >= idle)
            fields = [request_fields(packet) for packet in queue[0]] if queue else None
            shape = dut.i.payload.shape()
            ctx.set(dut.i.payload.as_value(), bits_of(dut.i.payload, noise(shape, fields, rng)))
            ctx.set(dut.i.valid, offering)
            ready = rng.random() >= stall
            ctx.set(dut.o.ready, ready)
            sampled = [dut.i.ready, dut.o.valid, dut.o.payload]
            if c.masks:
                ctx.set(dut.write.valid, writing)
                sampled.append(dut.write.ready)
            _, _, taken, valid, beat, *written = await ctx.tick().sample(*sampled)
            leaving = set(self.schedule.leaving)
            assert valid == bool(leaving), f"cycle {cycle}: o.valid is {valid}"
            if valid:
                due = [self.due[n][0] if n in leaving else None for n in range(len(self.due))]
                want = [answer_fields(uplink) for uplink in due]
                assert not differences(want, beat, f"cycle {cycle}: o")
            held = Held(valid and not ready, cycle < swept, writing, any(written))
            takes = self.schedule.takes(held)
            assert taken == takes, f"cycle {cycle}: i.ready is {taken}"
            if valid and ready:
                for lane in leaving:
                    self.due[lane].popleft()
            batch = None
            if offering and taken:
                batch, offering = queue.popleft(), False
                self._serve(batch)
            self.schedule.tick(None if batch is None else keys_of(c, batch), held)
            writing = writing and not any(written)
        raise AssertionError(f"{len(queue)} batches left after {LONGEST} cycles")

    def _serve(self, batch: Batch) -> None:
        packets = [
            Packet(self.first + lane, *packet) for lane, packet in enumerate(batch) if packet
        ]
        answers = self.model.answer(packets)
        for packet, uplink in zip(answers.packets, answers.uplinks, strict=True):
            self.due[packet.lane - self.first].append(uplink)


@FEW
@given(queued_configs(), st.integers(0, 2**32))
def test_hardware_is_the_model(config: OfanConfig, seed: int) -> None:
    check(config, random_batches(config, random.Random(seed), 120), seed)


CASES = {
    # lanes, queues, banks, depth, uplinks
    "w-no-power-of-two": (6, 3, 2, 2, 5),
    "lanes-a-multiple-of-w": (8, 8, 2, 2, 4),
    "as-many-as-two-bits-hold": (4, 4, 2, 2, 3),
    "more-than-twice-w": (7, 7, 1, 2, 3),
    "one-bank": (4, 2, 1, 1, 3),
    "square": (4, 2, 4, 2, 4),
    "one-queue": (3, 1, 4, 3, 6),
    "fewer-lanes-than-w": (4, 4, 2, 2, 6),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("masks", [0, 2])
def test_named_batches(masks: int, name: str) -> None:
    lanes, queues, banks, depth, uplinks = CASES[name]
    engine = Engine(kind="queued-banked", banks=banks, queues=queues, depth=depth)
    config = OfanConfig(lanes=lanes, uplinks=uplinks, destinations=7, masks=masks, engine=engine)
    batches = [batch for some in named_batches(config).values() for batch in some]
    check(config, batches + random_batches(config, random.Random(name), 40), seed=2)


def test_links_fail_often() -> None:
    """All uplinks down and all up again, under traffic of two pointers."""
    engine = Engine(kind="queued-banked", banks=2)
    config = OfanConfig(lanes=4, uplinks=5, destinations=2, size_classes=1, masks=1, engine=engine)
    check(config, random_batches(config, random.Random(6), 200), seed=6, changes=0.2)


def test_masks_change_often() -> None:
    """Destinations that take another mask, for both size classes, and masks that are rewritten."""
    engine = Engine(kind="queued-banked", banks=2)
    config = OfanConfig(lanes=4, uplinks=5, destinations=3, masks=2, engine=engine)
    check(config, random_batches(config, random.Random(7), 200), seed=7, changes=0.2)


def test_ten_queues() -> None:
    """More than are looked at together."""
    engine = Engine(kind="queued-banked", banks=4, queues=10, depth=2)
    config = OfanConfig(lanes=20, uplinks=3, destinations=8, masks=0, engine=engine)
    check(config, random_batches(config, random.Random(5), 80), seed=5)


@pytest.mark.parametrize("seed", range(4))
def test_a_reset_under_traffic(seed: int) -> None:
    """What was in the pipeline is lost, also where the sweep is shorter than the pipeline."""
    engine = Engine(kind="queued-banked", banks=2)
    config = OfanConfig(lanes=2, uplinks=7, destinations=2, size_classes=1, masks=1, engine=engine)
    packets: Batch = [(0, 0), (1, 0)]
    check(config, [packets] * 12, seed)


def test_second_pipe_has_pointers_of_its_own() -> None:
    engine = Engine(kind="queued-banked", banks=2)
    config = OfanConfig(lanes=4, pipe_lanes=2, uplinks=5, destinations=4, masks=0, engine=engine)
    check(config, random_batches(config, random.Random(4), 40), seed=4, pipe=1)
