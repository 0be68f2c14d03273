"""Tally: counters of ports and their readings in mid-traffic, hardware against
`models.csig.tally`."""

from __future__ import annotations

import random
from typing import Any

from amaranth.hdl import Module
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from models.csig.beat import COUNTERS, FLAGS, rebuilt
from models.csig.config import CsigConfig
from models.csig.tally import tally
from rtl.csig.tally import Tally
from tb.bench import bits_of
from tb.csig.blocks import beats, configs


@settings(max_examples=15, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_hardware(config: CsigConfig, seed: int) -> None:
    rng = random.Random(seed)
    packets = beats(config, rebuilt(config), 100, seed)
    model = tally(config)
    dut = Tally(config)
    top = Module()
    top.submodules.dut = dut
    left: list[int] = []
    expected: list[dict[str, int]] = []
    told: list[dict[str, int]] = []

    async def bench(ctx: Any) -> None:
        queue, reads = list(packets), 30
        reading: tuple[int, int] | None = None
        for _ in range(3000):
            if not queue and not reads and len(left) == len(packets) and len(told) == 30:
                return
            if reading is None and reads and rng.random() < 0.3:
                reading = rng.randrange(config.ports), rng.random() < 0.3
                reads -= 1
            beat = queue[0] if queue else packets[0]
            offered = bool(queue) and rng.random() < 0.8
            ctx.set(dut.i.payload.as_value(), bits_of(dut.i.payload, beat))
            ctx.set(dut.i.valid, offered)
            if reading:
                ctx.set(dut.read.p.port, reading[0])
                ctx.set(dut.read.p.clear, reading[1])
            ctx.set(dut.read.valid, reading is not None)
            ready, fetch = rng.random() < 0.8, rng.random() < 0.4
            ctx.set(dut.o.ready, ready)
            ctx.set(dut.answer.ready, fetch)
            _, _, taken, read, valid, out, answered, answer = await ctx.tick().sample(
                dut.i.ready,
                dut.read.ready,
                dut.o.valid,
                dut.o.payload.as_value(),
                dut.answer.valid,
                dut.answer.payload,
            )
            if reading and read:
                port, clear = reading
                expected.append({"port": port, **model.read(port, clear=bool(clear))})
                reading = None
            elif offered and taken:
                sent = queue.pop(0)
                steps = {name: bool(sent[name]) for name in FLAGS}
                model.count(sent["port"], {"packets": True, **steps})
            if valid and ready:
                left.append(out)
            if answered and fetch:
                told.append({name: answer[name] for name in ("port", *COUNTERS)})

    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    assert left == [bits_of(dut.i.payload, beat) for beat in packets]
    assert told == expected
