"""Benches in Amaranth's simulator: push beats into a block's stream, pull its answers out."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amaranth.hdl import ClockDomain, Module, Value
from amaranth.sim import Simulator

CLOCK = 1e-9


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """What happens at a block's ports in one phase of a bench; phases follow one another."""

    beats: Sequence[Any]
    """Payloads of `i`, in order: what the payload's shape takes as a constant."""
    writes: Mapping[int, Sequence[tuple[Any, Any]]] = field(default_factory=dict)
    """By beat number: (stream, payload) pairs that are offered, in order, before the beat is."""
    settle: bool = False
    """A beat waits until the writes before it are taken, not only offered."""
    stall: float = 0.0
    """Probability that the consumer pauses in a cycle."""
    idle: float = 0.0
    """Probability that the producer pauses before a beat, and again in each cycle after that."""
    wait: int = 0
    """Cycles before the first beat is offered."""
    reset: bool = False
    """The phase starts with one cycle of reset, whatever is in flight."""
    cut: int | None = None
    """Cycles after which the phase ends, whatever is in flight; None: when all is answered, and
    then nothing else may come out."""


@dataclass(frozen=True)
class Run:
    """What a phase did; cycle numbers count from the start of the bench."""

    answers: list[Any] = field(default_factory=list)
    """Payloads that left `o`, in order."""
    taken: list[int] = field(default_factory=list)
    """Cycle in which each beat was taken."""
    given: list[int] = field(default_factory=list)
    """Cycle in which each answer was."""

    def latencies(self) -> set[int]:
        """Return how many cycles the beats took from one end to the other."""
        return {out - into for into, out in zip(self.taken, self.given, strict=True)}


class Bench:
    """Runs phases of traffic through a component with streams `i` and `o`, and holds `o` to the
    stream rules: once valid, it stays valid with the same payload until it is taken.

    Args:
        dut: the component.
        ports: where its streams are, if not in the component itself.
        inputs: signals that keep a value throughout, with it.
        seed: of the pauses.
        quiet: cycles after the last answer in which nothing may come out.
        limit: cycles after which a phase that gets nowhere is an `AssertionError`.
    """

    def __init__(
        self,
        dut: Any,
        *,
        ports: Any = None,
        inputs: Sequence[tuple[Any, int]] = (),
        seed: int = 0,
        quiet: int = 8,
        limit: int = 3_000,
    ) -> None:
        self._dut = dut
        self._ports = ports or dut
        self._inputs = inputs
        self._rng = random.Random(seed)
        self._quiet = quiet
        self._limit = limit
        self._cycle = 0
        self._held: int | None = None

    def run(self, *phases: Traffic) -> list[Run]:
        """Simulate the phases, one after the other; return what each of them did."""
        runs = [Run() for _ in phases]
        top = Module()
        top.domains.sync = self._domain = ClockDomain("sync")
        top.submodules.dut = self._dut

        async def bench(ctx: Any) -> None:
            for signal, value in self._inputs:
                ctx.set(signal, value)
            for traffic, run in zip(phases, runs, strict=True):
                if traffic.reset:
                    await self._reset(ctx)
                await self._phase(ctx, traffic, run)

        simulator = Simulator(top)
        simulator.add_clock(CLOCK)
        simulator.add_testbench(bench)
        simulator.run()
        return runs

    async def _reset(self, ctx: Any) -> None:
        self._held = None
        ctx.set(self._domain.rst, 1)
        await ctx.tick()
        ctx.set(self._domain.rst, 0)
        self._cycle += 1

    async def _phase(self, ctx: Any, traffic: Traffic, run: Run) -> None:
        i, rng = self._ports.i, self._rng
        beats = [bits_of(i.payload, beat) for beat in traffic.beats]
        pending = {n: list(writes) for n, writes in traffic.writes.items()}
        streams = {id(stream): stream for writes in traffic.writes.values() for stream, _ in writes}
        offered: dict[int, bool] = dict.fromkeys(streams, False)
        offering = False
        still = 0
        for cycle in range(self._limit):
            number = len(run.taken)
            waiting = pending.get(number, [])
            while waiting and not offered[id(waiting[0][0])]:
                stream, payload = waiting.pop(0)
                ctx.set(Value.cast(stream.payload), bits_of(stream.payload, payload))
                ctx.set(stream.valid, 1)
                offered[id(stream)] = True
            may = (
                cycle >= traffic.wait
                and not waiting
                and not (traffic.settle and any(offered.values()))
            )
            done = number == len(beats)
            offering = not done and (offering or (may and rng.random() >= traffic.idle))
            if beats:
                shown = beats[number] if offering else rng.choice(beats)
                ctx.set(Value.cast(i.payload), shown)
            ctx.set(i.valid, offering)
            if traffic.cut == cycle:
                break
            if done and not any(offered.values()) and len(run.given) == len(beats):
                still += 1
                if still > self._quiet:
                    break
            assert len(run.given) <= len(beats), "more answers than beats"
            ready, taken = await self._tick(ctx, traffic, run, list(streams.values()))
            if offering and ready:
                run.taken.append(self._cycle - 1)
                offering = False
            for (name, stream), was_ready in zip(streams.items(), taken, strict=True):
                if offered[name] and was_ready:
                    ctx.set(stream.valid, 0)
                    offered[name] = False
        else:
            raise AssertionError(f"{len(run.given)} of {len(beats)} after {self._limit} cycles")
        for stream in streams.values():
            ctx.set(stream.valid, 0)

    async def _tick(
        self, ctx: Any, traffic: Traffic, run: Run, streams: list[Any]
    ) -> tuple[bool, list[bool]]:
        i, o = self._ports.i, self._ports.o
        ready = self._rng.random() >= traffic.stall
        ctx.set(o.ready, ready)
        sampled = [i.ready, o.valid, Value.cast(o.payload), *(stream.ready for stream in streams)]
        _, _, i_ready, valid, payload, *taken = await ctx.tick().sample(*sampled)
        self._cycle += 1
        assert self._held is None or (valid and payload == self._held), "o changed before its time"
        self._held = payload if valid and not ready else None
        if valid and ready:
            run.answers.append(constant(o.payload, payload))
            run.given.append(self._cycle - 1)
        return i_ready, taken


def bits_of(payload: Any, value: Any) -> int:
    """Return the bits of a constant of the payload's shape; an integer is its bits already."""
    return value if isinstance(value, int) else payload.shape().const(value).as_bits()


def constant(payload: Any, bits: int) -> Any:
    """Return the constant of the payload's shape that has these bits."""
    shape = payload.shape()
    return shape.from_bits(bits) if hasattr(shape, "from_bits") else bits


def exercise(
    dut: Any,
    first: Sequence[Any],
    second: Sequence[Any],
    *,
    ports: Any = None,
    inputs: Sequence[tuple[Any, int]] = (),
    seed: int = 0,
    wait: int = 0,
    **traffic: Any,
) -> tuple[list[Any], list[Any], list[Any]]:
    """Run `first` at full speed, `second` with pauses (and the `writes` in `traffic`), then
    `second` once more until a reset comes in its middle, and `first` again from there.

    Return the answers to each but the third; `wait` cycles pass before `first`. Asserts that at
    full speed every beat takes `dut.latency` cycles and one enters every cycle.
    """
    rng = random.Random(seed)
    paused = {"stall": rng.choice([0.1, 0.6]), "idle": rng.choice([0.1, 0.6]), **traffic}
    bench = Bench(dut, ports=ports, inputs=inputs, seed=seed, quiet=dut.latency + 2)
    fast, slow, _, after = bench.run(
        Traffic(beats=first, wait=wait),
        Traffic(beats=second, **paused),
        Traffic(beats=second, **paused, cut=rng.randrange(1, 2 * dut.latency + 8)),
        Traffic(beats=first, wait=wait, reset=True),
    )
    for run in (fast, after):
        assert run.latencies() == {dut.latency}
        assert run.taken == list(range(run.taken[0], run.taken[0] + len(first))), "bubbles"
    return fast.answers, slow.answers, after.answers


class _Any(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


ANY = _Any()
"""Equal to every number: what a field that means nothing may be."""
