"""Batches and changes of the masks that both never pause: both get on, whatever the engine."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from amaranth.sim import Simulator

from models.ofan.config import OfanConfig
from models.ofan.engine import KINDS, Engine
from models.ofan.masks import MaskWrite
from models.ofan.switch import UNROUTABLE, Packet
from rtl.ofan.switch import Switch
from tb.ofan.reference import random_write
from tb.ofan.switch_reference import Reference, batch

CYCLES = 250

SHAPES: dict[str, dict[str, Any]] = {
    "one-pipe": {},
    "pipes": {"pipe_lanes": 1},
    "lookup": {"lookup": "aligned"},
}


def config_of(kind: str, shape: str) -> OfanConfig:
    c = OfanConfig(lanes=2, uplinks=3, destinations=4, masks=2, engine=Engine(kind=kind, banks=2))
    return replace(c, **SHAPES[shape])


class Run:
    """A switch whose s_axis and s_mask are valid in all cycles; every answer is looked at."""

    def __init__(self, c: OfanConfig, seed: int, stall: float) -> None:
        self.c, self.rng, self.stall = c, random.Random(seed), stall
        self.dut = Switch(c)
        self.batches: list[int] = []
        """Cycles in which a batch was taken, less those in which an answer waited before."""
        self.writes: list[int] = []
        """The same of writes."""
        self._model = Reference(c)
        self._due: list[deque[int]] = [deque() for _ in range(c.lanes)]
        simulator = Simulator(self.dut)
        simulator.add_clock(1e-9)
        simulator.add_testbench(self._bench)
        simulator.run()

    async def _bench(self, ctx: Any) -> None:
        dut, time = self.dut, 0
        ctx.set(dut.s_axis_tvalid, 1)
        ctx.set(dut.s_mask_tvalid, 1)
        self._write(ctx)
        offer = self._batch(ctx)
        for _ in range(CYCLES):
            ready = self.rng.random() >= self.stall
            ctx.set(dut.m_axis_tready, ready)
            sampled = (dut.s_axis_tready, dut.s_mask_tready, dut.m_axis_tvalid)
            beat = (dut.m_axis_tkeep, dut.m_axis_tdata)
            _, _, taken, written, valid, keep, data = await ctx.tick().sample(*sampled, *beat)
            if valid and ready:
                self._judge(keep, data)
            if taken:
                self.batches.append(time)
                answers = self._model.answer(self._model.look_up(offer))
                for packet, uplink in zip(answers.packets, answers.uplinks, strict=True):
                    self._due[packet.lane].append(uplink)
                offer = self._batch(ctx)
            if written:
                self.writes.append(time)
                self._write(ctx)
            time += ready or not valid

    def _write(self, ctx: Any) -> None:
        """Offer the next write; it holds for the batches taken from this cycle on."""
        change: MaskWrite = random_write(self.c, self.rng)
        self._model.write(change)
        ctx.set(self.dut.s_mask_tdata, change.tdata(self.c))

    def _batch(self, ctx: Any) -> list[Packet]:
        numbers = [self.rng.randrange(self.c.destinations) for _ in range(self.c.lanes)]
        if self.c.lookup == "aligned":  # prefix 0 is the switch's own
            numbers = [(number + self.c.skip_own) << self.c.host_bits for number in numbers]
        packets = [Packet(lane, number) for lane, number in enumerate(numbers)]
        beat = batch(self.c, packets)
        ctx.set(self.dut.s_axis_tdata, beat.tdata)
        ctx.set(self.dut.s_axis_tkeep, beat.tkeep)
        return packets

    def _judge(self, keep: int, data: int) -> None:
        c = self.c
        for lane in range(c.lanes):
            if keep >> lane & 1:
                answer = data >> lane * c.answer_bits & (1 << c.answer_bits) - 1
                got = UNROUTABLE if answer >> c.uplink_bits else answer
                assert got == self._due[lane].popleft()


def gap(times: list[int]) -> int:
    """The longest time between two."""
    return max(b - a for a, b in pairwise(times))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", KINDS)
def test_both_get_on(kind: str, shape: str) -> None:
    """Engines that drain for a write take a batch with each. Its n packets are served in n cycles,
    the last leaves as many later as the latency, and then a write takes a cycle a size class. In
    the others a write takes a slot or two between batches, and is done before its fence could
    leave."""
    c = config_of(kind, shape)
    for stall in (0.0, 0.4):
        run = Run(c, seed=1, stall=stall)
        latency = run.dut.latency
        if kind in ("matched-banked", "queued-banked"):
            longest = c.lanes_per_pipe + latency + c.size_classes - 1
            assert abs(len(run.batches) - len(run.writes)) <= 1
            assert max(gap(run.batches), gap(run.writes)) <= longest
        else:
            assert gap(run.batches) <= 5
            assert gap(run.writes) <= latency
        assert len(run.writes) >= CYCLES // 30
