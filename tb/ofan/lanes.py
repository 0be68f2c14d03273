"""A bench in Amaranth's simulator for the engines whose lanes leave out of step."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import ClockDomain, Module, Value
from amaranth.sim import Simulator

from models.ofan.config import OfanConfig
from models.ofan.masks import MaskWrite
from models.ofan.switch import UNROUTABLE
from tb.bench import CLOCK, bits_of
from tb.ofan.reference import (
    Batch,
    Reference,
    noisy,
    random_write,
    request_fields,
    write_fields,
)

Plan = Sequence[Batch | MaskWrite]


@dataclass(frozen=True, kw_only=True)
class Pass:
    """A plan, batches with changes of the masks between them, that an engine runs after a reset."""

    plan: Plan
    stall: float = 0.0
    """Probability that the consumer pauses in a cycle."""
    idle: float = 0.0
    """Probability that the producer pauses in a cycle before a batch."""
    freeze: bool = False
    """The consumer's pauses stall what leaves, also where nothing is valid."""
    cut: int | None = None
    """Cycles after which the pass ends, whatever is in flight; None: when all has left."""


@dataclass(frozen=True)
class Log:
    """What a pass did; cycles count from its start."""

    taken: list[int] = field(default_factory=list)
    """Cycle in which each batch was taken."""
    ready: list[int] = field(default_factory=list)
    """i.ready in each cycle."""
    left: dict[int, list[int]] = field(default_factory=dict)
    """By cycle: the lanes whose answers were taken."""


def run_lanes(dut: Any, *passes: Pass, seed: int = 0, limit: int = 4_000) -> list[Log]:
    """Run the passes through an engine; return what they did.

    Asserts that each lane gets the answers of the golden model in the order of its packets, that a
    beat has one at least, that `o` keeps a beat until it is taken, and that nothing is left over.
    """
    rng = random.Random(seed)
    logs = [Log() for _ in passes]
    top = Module()
    top.domains.sync = domain = ClockDomain("sync")
    top.submodules.dut = dut

    async def bench(ctx: Any) -> None:
        for run, log in zip(passes, logs, strict=True):
            ctx.set(domain.rst, 1)
            await ctx.tick()
            ctx.set(domain.rst, 0)
            await _pass(ctx, dut, run, log, rng, limit)

    simulator = Simulator(top)
    simulator.add_clock(CLOCK)
    simulator.add_testbench(bench)
    simulator.run()
    return logs


async def _pass(ctx: Any, dut: Any, run: Pass, log: Log, rng: random.Random, limit: int) -> None:
    c = dut.config
    reference = Reference(c, dut.pipe)
    plan = deque(run.plan)
    due: list[deque[int]] = [deque() for _ in range(c.lanes_per_pipe)]
    held: tuple[int, int] | None = None
    offered = writing = False
    for cycle in range(limit):
        write = plan[0] if plan else None
        if isinstance(write, MaskWrite) and not writing:
            plan.popleft()
            reference.write(write)
            ctx.set(Value.cast(dut.write.payload), bits_of(dut.write.payload, write_fields(write)))
            writing = True
        if c.masks:
            ctx.set(dut.write.valid, writing)
        batch = plan[0] if plan and not isinstance(plan[0], MaskWrite) else None
        offered = batch is not None and (offered or rng.random() >= run.idle)
        requests = [request_fields(packet) for packet in batch or [None] * c.lanes_per_pipe]
        ctx.set(Value.cast(dut.i.payload), bits_of(dut.i.payload, noisy(dut, [requests], rng)[0]))
        ctx.set(dut.i.valid, offered)
        ready = rng.random() >= run.stall
        ctx.set(dut.o.ready, ready)
        ctx.set(dut.stall, run.freeze and not ready)
        wrote = dut.write.ready if c.masks else dut.i.ready
        sampled = await ctx.tick().sample(dut.i.ready, wrote, dut.o.valid, dut.o.payload)
        _, _, taken, wrote, valid, beat = sampled
        log.ready.append(taken)
        if offered and taken:
            assert isinstance(batch, list)
            log.taken.append(cycle)
            plan.popleft()
            offered = False
            for lane, answer in enumerate(reference.pipeline.serve(batch)):
                if answer is not None:
                    due[lane].append(answer)
        writing = writing and not wrote
        shown = (valid, beat.as_bits() if valid else 0)
        assert held in (None, shown), "o changed before its time"
        held = shown if not ready and (valid or run.freeze) else None
        if valid and ready:
            log.left[cycle] = _judge(beat, due)
        if run.cut == cycle:
            return
        if not plan and not writing and not any(due) and cycle > max(log.left, default=0) + 8:
            return
    raise AssertionError(f"{sum(map(len, due))} answers are missing after {limit} cycles")


def _judge(beat: Any, due: list[deque[int]]) -> list[int]:
    """Hold a beat to what is due; return its lanes."""
    lanes = [lane for lane, answer in enumerate(beat) if answer.valid]
    assert lanes, "a beat without an answer"
    for lane in lanes:
        assert due[lane], f"lane {lane} has an answer too many"
        want = due[lane].popleft()
        got = UNROUTABLE if beat[lane].unroutable else beat[lane].uplink
        assert got == want, f"lane {lane} is {got}, not {want}"
    return lanes


def with_writes(config: OfanConfig, batches: Sequence[Batch], rng: random.Random) -> Plan:
    """Return the batches with changes of the masks between them, if the switch has failure
    logic."""
    plan: list[Batch | MaskWrite] = []
    for batch in batches:
        if config.masks and rng.random() < 0.3:
            plan += [random_write(config, rng) for _ in range(rng.choice([1, 1, 3]))]
        plan.append(batch)
    return plan


def follow(log: Log, model: Any, batches: Sequence[Batch], latency: int) -> None:
    """Hold a pass without pauses to the model of the schedule: what is taken when, and which lanes
    leave when."""
    c = model.config
    start = log.ready.index(1)
    todo = deque([packet and c.key(*packet) for packet in batch] for batch in batches)
    for cycle in range(start, len(log.ready)):
        batch = None
        if todo:
            assert log.ready[cycle] == model.takes, f"i.ready in cycle {cycle}"
            if model.takes:
                batch = todo.popleft()
        served = sorted(model.step(batch))
        if cycle + latency < len(log.ready):
            assert log.left.get(cycle + latency, []) == served, f"cycle {cycle}"
    assert not todo and model.empty
