"""Tally: counters, ECN and the answers to orders, hardware against `models.symphony.tally`."""

from __future__ import annotations

import random

import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from models.common.ecn import CE, ECT0, ECT1, NOT_ECT, marked, may_mark
from models.symphony.beat import GIVE, PACKET, colored, counters, receipt
from models.symphony.config import SymphonyConfig
from models.symphony.tally import Tally as Model
from rtl.symphony.tally import Tally
from tb.bench import bits_of
from tb.symphony.blocks import beats, configs


@settings(max_examples=20, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16), jobs=st.sampled_from([1, 3]))
def test_hardware(config: SymphonyConfig, seed: int, jobs: int) -> None:
    """Packets and orders at any distance, with a consumer that stalls; an order waits until the
    answer to the one before it has been fetched, as it does in the marker."""
    made = beats(config, colored(config), 120, seed, 0.2, jobs)
    model, verdicts, answers = Model(config), [], []
    for beat in made:
        if beat["op"] == PACKET:
            flags = {name: bool(beat[name]) for name in ("known", "outpacing", "symphony", "red")}
            model.packet(beat["job"], ecn=beat["ecn"], **flags)
            chosen = flags["symphony"] or flags["red"]
            verdicts.append(
                {
                    "ecn": marked(beat["ecn"]) if chosen else beat["ecn"],
                    "mark": chosen and may_mark(beat["ecn"]),
                    "gap": beat["gap"],
                    **flags,
                }
            )
        else:
            found = model.order(beat["job"], beat["op"])
            answers.append({n: beat[n] for n in ("job", "op", "known")} | found)
    seen, told = simulate(config, made, seed)
    assert seen == verdicts
    assert told == answers


def simulate(config: SymphonyConfig, made: list, seed: int) -> tuple[list, list]:
    dut = Tally(config)
    top = Module()
    top.submodules.dut = dut
    seen, told = [], []
    rng = random.Random(seed)

    async def bench(ctx) -> None:
        waiting = False
        queue = list(made)
        for _ in range(4000):
            if not queue and len(seen) + len(told) == len(made):
                return
            beat = queue[0] if queue else made[0]
            offered = bool(queue) and not (waiting and beat["op"] != PACKET)
            ctx.set(dut.i.payload.as_value(), bits_of(dut.i.payload, beat))
            ctx.set(dut.i.valid, offered)
            ready, fetch = rng.random() < 0.7, rng.random() < 0.3
            ctx.set(dut.o.ready, ready)
            ctx.set(dut.answer.ready, fetch)
            ports = (dut.i.ready, dut.o.valid, dut.o.payload, dut.answer.valid, dut.answer.payload)
            _, _, taken, valid, verdict, done, answer = await ctx.tick().sample(*ports)
            if offered and taken:
                waiting |= queue.pop(0)["op"] != PACKET
            if valid and ready:
                seen.append({name: verdict[name] for name in dut.o.payload.shape().members})
            if done and fetch:
                told.append({name: answer[name] for name in receipt(config)})
                waiting = False

    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    return seen, told


@pytest.mark.parametrize(("ecn", "leaves"), [(NOT_ECT, NOT_ECT), (ECT0, CE), (ECT1, CE), (CE, CE)])
def test_ecn_of_a_chosen_packet(ecn: int, leaves: int) -> None:
    """RFC 3168: Not-ECT is never marked CE, and CE stays."""
    assert marked(ecn) == leaves
    assert may_mark(ecn) == (ecn != NOT_ECT)


def test_counters_wrap_and_start_anew() -> None:
    model = Model(SymphonyConfig(counter_bits=8, jobs=2))
    for _ in range(257):
        model.packet(1, known=True, outpacing=True, symphony=True, red=False, ecn=NOT_ECT)
    assert model.order(1, GIVE) == dict(zip(counters(model.config), (1, 1, 0, 0, 0), strict=True))
    assert set(model.order(1, GIVE).values()) == {0}
