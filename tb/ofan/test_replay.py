"""Replay of the generated Verilog against the golden and the vectorized model."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from models.ofan.config import OfanConfig, preset
from models.ofan.engine import Engine
from models.ofan.masks import FailureEvent, LinkChange, MaskWrite
from models.ofan.switch import Ofan, Packet
from models.ofan.trace import Trace
from models.ofan.vectorized import route
from tb.ofan.replay import IDLE, Replay, ReplayError, replay, replay_batches

CONFIGS = {
    "six-uplinks": OfanConfig(lanes=6, uplinks=6, destinations=11, masks=16, init=3),
    "pipes-of-two": OfanConfig(lanes=6, uplinks=4, destinations=5, pipe_lanes=2, masks=16),
    "no-masks": OfanConfig(lanes=3, uplinks=5, destinations=4, masks=0, order="plain"),
    "one-of-all": OfanConfig(lanes=1, uplinks=1, destinations=1, size_classes=1, masks=16),
    "wide": OfanConfig(
        lanes=9, uplinks=33, destinations=300, size_classes=3, masks=16, init="zero"
    ),
    "queued": OfanConfig(
        lanes=4, uplinks=5, destinations=11, masks=16, engine=Engine(kind="queued-banked", banks=2)
    ),
    "queued-pipes": OfanConfig(
        lanes=6,
        uplinks=7,
        destinations=5,
        masks=0,
        pipe_lanes=3,
        engine=Engine(kind="queued-banked", banks=2, depth=1),
    ),
}


def random_trace(config: OfanConfig, batches: int, seed: int, load: float = 0.7) -> Trace:
    """Packets on random lanes, rows of a batch in any order, and some batch numbers left out."""
    rng = np.random.default_rng(seed)
    numbers = np.sort(rng.choice(2 * batches, batches, replace=False))
    slot, lane = np.nonzero(rng.random((batches, config.lanes)) < load)
    shuffled = np.lexsort((rng.random(len(slot)), slot))
    slot, lane = slot[shuffled], lane[shuffled]
    few = rng.integers(0, min(3, config.destinations), len(slot))  # many packets of one pointer
    any_of_all = rng.integers(0, config.destinations, len(slot))
    return Trace.of(
        numbers[slot],
        lane,
        np.where(rng.random(len(slot)) < 0.5, few, any_of_all),
        rng.integers(0, config.size_classes, len(slot)),
    )


def random_failures(config: OfanConfig, trace: Trace, seed: int) -> list[FailureEvent]:
    """Links that go down and come back, one destination cut off, one event in front of the trace,
    one in a gap of its batch numbers and one behind it."""
    rng = np.random.default_rng(seed)
    last = int(trace.batch[-1])
    missing = np.setdiff1d(np.arange(last), trace.batch)
    cut = tuple(LinkChange(0, uplink, False) for uplink in range(config.uplinks))
    healed = tuple(LinkChange(0, uplink, True) for uplink in range(config.uplinks))
    events = {
        0: (LinkChange(None, 0, False),),
        int(missing[len(missing) // 3]): (LinkChange(None, 0, True), *cut),
        int(missing[len(missing) // 2]): healed,
        last + 5: (LinkChange(None, 0, False),),
    }
    for batch in rng.choice(last, 6, replace=False).tolist():
        destination = None if rng.random() < 0.3 else int(rng.integers(config.destinations))
        uplink, up = int(rng.integers(config.uplinks)), bool(rng.random() < 0.5)
        events.setdefault(batch, (LinkChange(destination, uplink, up),))
    return [FailureEvent(batch, changes) for batch, changes in sorted(events.items())]


def golden(config: OfanConfig, trace: Trace, failures: list[FailureEvent]) -> np.ndarray:
    """What the golden model answers, packet by packet."""
    model, events = Ofan(config), list(failures)
    uplink = np.empty(len(trace), np.int16)
    rows = np.arange(len(trace)) if trace.lane_order is None else trace.lane_order
    for row in rows.tolist():
        while events and events[0].batch <= trace.batch[row]:
            for change in events.pop(0).changes:
                model.set_uplink(change.destination, change.uplink, change.up)
        packet = (trace.lane[row], trace.destination[row], trace.size_class[row])
        uplink[row] = model.serve(Packet(*map(int, packet)))
    return uplink


@pytest.mark.parametrize("name", CONFIGS)
def test_agrees_with_the_golden_model(name: str) -> None:
    config = CONFIGS[name]
    trace = random_trace(config, 400, seed=5)
    assert (replay(config, trace) == golden(config, trace, [])).all()


@pytest.mark.parametrize("name", [name for name in CONFIGS if CONFIGS[name].masks])
def test_agrees_with_the_golden_model_under_failures(name: str) -> None:
    config = CONFIGS[name]
    trace = random_trace(config, 400, seed=6)
    failures = random_failures(config, trace, seed=7)
    expected = golden(config, trace, failures)
    assert (expected == -1).any()
    for chunk in (1000, 37):
        assert (replay(config, trace, failures, chunk=chunk) == expected).all()


@pytest.mark.parametrize("name", ["edge-k8", "pofan4-k16", "edge-k64", "edge-k64-queued"])
def test_presets_agree_with_the_vectorized_model(name: str) -> None:
    config = preset(name)
    trace = random_trace(config, 3000, seed=8, load=0.9)
    failures = random_failures(config, trace, seed=9)
    got = replay(config, trace, failures, chunk=1024)
    assert (got == route(config, trace, failures)).all()


@cache
def small() -> tuple[OfanConfig, Trace]:
    config = replace(CONFIGS["six-uplinks"], masks=16)
    return config, random_trace(config, 200, seed=10)


def test_failure_at_a_chunk_boundary() -> None:
    config, trace = small()
    first_of_chunk = int(trace.batch[np.searchsorted(trace.slots, 100)])
    for batch in (first_of_chunk - 1, first_of_chunk, first_of_chunk + 1):
        failures = [FailureEvent(batch, (LinkChange(None, 1, False), LinkChange(None, 4, False)))]
        expected = golden(config, trace, failures)
        assert (replay(config, trace, failures, chunk=100) == expected).all()


def test_more_masks_where_failures_need_them() -> None:
    few, trace = replace(small()[0], masks=1), small()[1]
    changes = tuple(LinkChange(uplink, uplink, False) for uplink in range(6))
    failures = [FailureEvent(int(trace.batch[50]), changes)]
    assert (replay(few, trace, failures) == golden(few, trace, failures)).all()


def test_destinations_are_routed_whatever_the_lookup() -> None:
    config, trace = small()
    assert (replay(replace(config, lookup="table"), trace) == replay(config, trace)).all()


def test_progress_and_empty_trace() -> None:
    config, trace = small()
    seen: list[int] = []
    replay(config, trace, progress=seen.append, chunk=64)
    assert seen == [64, 128, 192, trace.batches]
    assert len(replay(config, Trace.of([], [], [], []))) == 0


def test_idle_lanes_and_pointers_between_calls() -> None:
    config, _ = small()
    rng = np.random.default_rng(3)
    keep = rng.random((50, config.lanes)) < 0.5
    keep[10:20] = False
    destination = rng.integers(0, config.destinations, keep.shape)
    whole = replay_batches(config, destination, np.zeros_like(destination), keep)
    assert ((whole == IDLE) == ~keep).all()
    with Replay(config) as switch:
        parts = [
            switch.run(destination[i : i + 5], np.zeros(1), keep[i : i + 5])
            for i in range(0, 50, 5)
        ]
    assert (np.concatenate(parts) == whole).all()


def test_one_batch_a_cycle() -> None:
    config, _ = small()
    ones = np.ones((1000, config.lanes))
    with Replay(config) as switch:
        switch.run(ones[:1], ones[:1], ones[:1])
        before = switch.cycles
        switch.run(ones, ones, ones)
        assert 1000 < switch.cycles - before < 1050


def test_writes_need_masks() -> None:
    with Replay(CONFIGS["no-masks"]) as switch, pytest.raises(ValueError, match="masks must be 1"):
        switch.run(np.zeros((1, 3)), np.zeros((1, 3)), np.ones((1, 3)), [(0, MaskWrite(1, 0, 1))])


def test_stuck_switch() -> None:
    one = np.ones((1, 6))
    with (
        Replay(small()[0], patience=3) as switch,  # the pointer file is still being swept
        pytest.raises(ReplayError, match="^nothing moved for 3 cycles with batch 0 waiting$"),
    ):
        switch.run(one, one, one)


BROKEN = """
module switch(input clk, input rst, input [5:0] s_axis_tdata, input [1:0] s_axis_tkeep,
              input s_axis_tvalid, output s_axis_tready, output [5:0] m_axis_tdata,
              output [1:0] m_axis_tkeep, output m_axis_tvalid, input m_axis_tready);
  reg [1:0] keep; reg valid;
  always @(posedge clk) begin keep <= s_axis_tkeep; valid <= s_axis_tvalid & ~rst; end
  assign s_axis_tready = 1, m_axis_tdata = 0;
  assign m_axis_tkeep = %s, m_axis_tvalid = %s;
endmodule
"""


NEXT = "with batch {} as the next to be answered$"


@pytest.mark.parametrize(
    ("order", "keep", "valid", "kind", "message"),
    [
        ((0, 1, 2, 3), "keep | {2{keep == 0}}", "valid", "sorted", "^tkeep of answer 2 differs"),
        ((1, 0, 2, 3), "keep", "~valid", "sorted", f"^an answer came .*, {NEXT.format(0)}"),
        ((0, 1, 3, 2), "keep", "valid", "queued-banked", f"^a beat .*, {NEXT.format(3)}"),
        ((3, 1, 2, 0), "2'd3", "valid", "queued-banked", f"^an answer came .*, {NEXT.format(3)}"),
        ((2, 1, 0, 3), "2'd1", "valid", "queued-banked", f"^an answer came .*, {NEXT.format(0)}"),
    ],
)
def test_wrong_answers_are_seen(
    monkeypatch: pytest.MonkeyPatch,
    order: tuple[int, ...],
    keep: str,
    valid: str,
    kind: str,
    message: str,
) -> None:
    config = OfanConfig(
        lanes=2,
        uplinks=4,
        destinations=4,
        size_classes=2,
        masks=0,
        order=order,
        engine=Engine(kind=kind),
    )
    monkeypatch.setattr("tb.ofan.replay.block_verilog", lambda *_: BROKEN % (keep, valid))
    lanes = np.ones((8, 2))
    lanes[2] = 0
    with Replay(config, patience=9) as switch, pytest.raises(ReplayError, match=message):
        switch.run(lanes, lanes, lanes)
