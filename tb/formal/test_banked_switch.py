"""Proof of small switches with banked engines, whose lanes may leave out of step, against the naive
golden one; and of their stream rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from amaranth.hdl import Cat, Signal

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.place import rows
from tb.formal.golden import Golden
from tb.formal.prove import prove
from tb.formal.test_switch import SwitchBench

pytestmark = pytest.mark.formal


def small(engine: Engine, **fields: Any) -> OfanConfig:
    return OfanConfig(**{"lanes": 2, "size_classes": 1, "masks": 0, **fields}, engine=engine)


def queued(banks: int, queues: int, depth: int, **fields: Any) -> OfanConfig:
    return small(Engine(kind="queued-banked", banks=banks, queues=queues, depth=depth), **fields)


def matched(banks: int, group: int, depth: int, **fields: Any) -> OfanConfig:
    return small(Engine(kind="matched-banked", banks=banks, group=group, depth=depth), **fields)


def by_rounds(banks: int, depth: int, **fields: Any) -> OfanConfig:
    return small(Engine(kind="sorted-banked", banks=banks, depth=depth), **fields)


CASES = {
    "two-waves": queued(2, 1, 2, uplinks=3, destinations=3),
    "one-wave": queued(1, 2, 2, uplinks=3, destinations=2),
    "masks": queued(1, 2, 1, uplinks=2, destinations=2, masks=2),
    "pofan": queued(1, 1, 1, uplinks=2, destinations=2, pipe_lanes=1),
    "pofan-masks": queued(1, 1, 1, uplinks=2, destinations=1, pipe_lanes=1, masks=1),
    "matched-groups": matched(2, 1, 2, uplinks=3, destinations=3),
    "matched-masks": matched(1, 2, 1, uplinks=2, destinations=2, masks=2),
    "sorted-banked": by_rounds(1, 1, uplinks=3, destinations=2),
    "sorted-banked-masks": by_rounds(1, 1, uplinks=2, destinations=2, masks=1),
}


def lanes_bench(config: OfanConfig) -> SwitchBench:
    """A switch that must answer the packets of each lane as the golden one does, in their order;
    one packet of each lane, any of the first 4, is looked at."""
    bench = SwitchBench(config)
    dut, m = bench.dut, bench.m
    write = {"mask_tdata": dut.s_mask_tdata, "write": bench.write()} if config.masks else {}
    golden = Golden(
        m, config, tdata=dut.s_axis_tdata, tkeep=dut.s_axis_tkeep, take=bench.accepted, **write
    )
    number = bench.constant(2, "number")
    bench.check("some_lane", ~dut.m_axis_tvalid | dut.m_axis_tkeep.any())
    for lane, want in enumerate(golden.answers):
        sent, left = Signal(5, name=f"sent_{lane}"), Signal(5, name=f"left_{lane}")
        came = bench.accepted & dut.s_axis_tkeep[lane]
        there = dut.m_axis_tvalid & dut.m_axis_tkeep[lane]
        m.d.sync += [sent.eq(sent + came), left.eq(left + (there & dut.m_axis_tready))]
        kept = Signal(config.answer_bits, name=f"kept_{lane}")
        with m.If(came & (sent == number)):
            m.d.sync += kept.eq(want)
        answer = dut.m_axis_tdata.word_select(lane, config.answer_bits)
        bench.check(f"none_from_nothing_{lane}", ~there | (left < sent))
        same = (answer == kept) | (kept[-1] & answer[-1])
        bench.check(f"answer_{lane}", ~there | (left != number) | same)
    return bench


def depth_of(bench: SwitchBench) -> int:
    """Cycles: reset, the sweep, and then five batches and the latency. In `sorted-banked` batches
    come in during the sweep, and there are more stages to unroll."""
    c = bench.config
    if c.engine.kind == "sorted-banked":
        return bench.dut.latency + 5
    return 1 + rows(c.keys, c.engine.banks) + 1 + 5 + bench.dut.latency


@pytest.mark.parametrize("name", CASES)
def test_answers_as_if_one_by_one(name: str) -> None:
    bench = lanes_bench(CASES[name])
    prove(bench, f"banked-switch-{name}", depth=depth_of(bench), induction=False)


@pytest.mark.parametrize("engine", [queued, matched])
@pytest.mark.parametrize("pipes", [1, 2])
def test_switch_keeps_the_stream_rules(pipes: int, engine: Callable[..., OfanConfig]) -> None:
    """By 2-induction, also across resets."""
    config = engine(2, 1, 1, uplinks=3, destinations=2, pipe_lanes=2 // pipes)
    bench = SwitchBench(config, resets=True)
    dut = bench.dut
    payload = Cat(dut.m_axis_tdata, dut.m_axis_tkeep)
    bench.keeps_stream_rules(dut.m_axis_tvalid, dut.m_axis_tready, payload, "m_axis")
    prove(bench, f"{engine.__name__}-stream-rules-{pipes}", depth=2)
