"""The vectorized model gives the golden model's answers, packet by packet."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan import vectorized
from models.ofan.config import OfanConfig, preset
from models.ofan.masks import FailureEvent, LinkChange
from models.ofan.switch import UNROUTABLE, Ofan, Packet
from models.ofan.trace import Trace
from models.ofan.vectorized import VectorizedOfan, initial_pointers, route

Draw = Any


@st.composite
def configs(draw: Draw) -> OfanConfig:
    lanes = draw(st.integers(1, 6))
    uplinks = draw(st.integers(1, 9))
    pipes = [None, *(width for width in range(1, lanes + 1) if lanes % width == 0)]
    return OfanConfig(
        lanes=lanes,
        uplinks=uplinks,
        destinations=draw(st.integers(1, 5)),
        size_classes=draw(st.integers(1, 3)),
        pipe_lanes=draw(st.sampled_from(pipes)),
        order=draw(st.sampled_from([None, "plain", tuple(range(uplinks))[::-1]])),
        init=draw(st.one_of(st.just("zero"), st.integers(0, 2**64 - 1))),
    )


def changes_of(config: OfanConfig) -> st.SearchStrategy[LinkChange]:
    return st.builds(
        LinkChange,
        destination=st.one_of(st.none(), st.integers(0, config.destinations - 1)),
        uplink=st.integers(0, config.uplinks - 1),
        up=st.sampled_from([False, False, True]),
    )


@st.composite
def cases(draw: Draw) -> tuple[OfanConfig, Trace, list[FailureEvent]]:
    """A switch, a trace with idle lanes and missing batches in any order of lanes, failures."""
    config = draw(configs())
    rows = []
    for batch in sorted(draw(st.sets(st.integers(0, 40), max_size=12))):
        lanes = draw(st.permutations(range(config.lanes)))
        for lane in lanes[: draw(st.integers(1, config.lanes))]:
            destination = draw(st.integers(0, config.destinations - 1))
            rows.append((batch, lane, destination, draw(st.integers(0, config.size_classes - 1))))
    trace = Trace.of(*np.array(rows, np.int64).reshape(-1, 4).T)
    batches = sorted(draw(st.sets(st.integers(0, 45), max_size=4)))
    many = st.lists(changes_of(config), min_size=1, max_size=6)
    return config, trace, [FailureEvent(batch, tuple(draw(many))) for batch in batches]


def golden(config: OfanConfig, trace: Trace, failures: list[FailureEvent]) -> list[int]:
    """Serve one packet at a time; the uplink of each row."""
    switch = Ofan(config)
    uplink = [0] * len(trace)
    waiting = list(failures)
    for batch in sorted(set(trace.batch.tolist())):
        while waiting and waiting[0].batch <= batch:
            for change in waiting.pop(0).changes:
                switch.set_uplink(change.destination, change.uplink, change.up)
        rows = np.flatnonzero(trace.batch == batch)
        packets = [
            Packet(int(trace.lane[r]), int(trace.destination[r]), int(trace.size_class[r]))
            for r in rows
        ]
        answers = switch.serve_batch(packets)
        for row in rows:
            uplink[row] = answers[int(trace.lane[row])]
    return uplink


@given(cases())
def test_route_equals_the_golden_model(case: tuple[OfanConfig, Trace, list[FailureEvent]]) -> None:
    config, trace, failures = case
    uplink = route(config, trace, failures)
    assert uplink.dtype == np.int16
    assert uplink.tolist() == golden(config, trace, failures)


@given(configs())
def test_initial_pointers_equal_the_golden_model(config: OfanConfig) -> None:
    pointers = initial_pointers(config)
    for (pipe, key), position in Ofan(config).pointers.items():
        assert pointers[pipe, key] == position


def random_trace(config: OfanConfig, batches: int, load: float, seed: int) -> Trace:
    rng = np.random.default_rng(seed)
    batch, lane = np.nonzero(rng.random((batches, config.lanes)) < load)
    return Trace.of(
        batch,
        lane,
        rng.integers(0, config.destinations, len(batch)),
        rng.integers(0, config.size_classes, len(batch)),
    )


def random_failures(config: OfanConfig, batches: int, seed: int) -> list[FailureEvent]:
    rng = np.random.default_rng(seed)
    events = []
    for batch in range(0, batches, max(1, batches // 8)):
        changes = [
            LinkChange(
                None if rng.random() < 0.2 else int(rng.integers(config.destinations)),
                int(rng.integers(config.uplinks)),
                bool(rng.random() < 0.3),
            )
            for _ in range(30)
        ]
        events.append(FailureEvent(batch, tuple(changes)))
    return events


@pytest.mark.parametrize("name", ["edge-k64", "edge-k12", "agg-k16", "pofan4-k16", "pofan1-k64"])
@pytest.mark.parametrize("broken", [False, True])
def test_presets(name: str, broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, so that pointers are carried over block borders many times."""
    monkeypatch.setattr(vectorized, "_BLOCK", 1 << 9)
    config = preset(name, init=5)
    trace = random_trace(config, 400, 0.8, seed=1)
    failures = random_failures(config, 400, seed=2) if broken else []
    assert route(config, trace, failures).tolist() == golden(config, trace, failures)


@pytest.mark.parametrize("name", ["edge-k16", "pofan4-k16"])
def test_batches_and_flat_packets_are_served_alike(name: str) -> None:
    config = preset(name)
    rng = np.random.default_rng(3)
    key = rng.integers(0, config.keys, (20_000, config.lanes)).astype(np.uint16)
    keep = rng.random(key.shape) < 0.7
    pipe = np.broadcast_to(np.arange(config.lanes) // config.lanes_per_pipe, key.shape)
    flat, whole = VectorizedOfan(config), VectorizedOfan(config)
    expected = flat.serve(key.ravel(), pipe.ravel()).reshape(key.shape)
    assert (whole.serve_batches(key) == expected).all()
    served = whole.serve_batches(key, keep)
    assert (served[keep] == flat.serve(key[keep], pipe[keep])).all()
    assert (served[~keep] == UNROUTABLE).all()
    assert (whole.pointers() == flat.pointers()).all()


def test_the_worked_example_of_appendix_i() -> None:
    """A pointer at 1 serves three packets of one batch with ports 1, 2, 3 and is left at 4."""
    config = preset("edge-k64", order="plain", init="zero")
    model = VectorizedOfan(config)
    assert model.serve(np.array([7])).tolist() == [0]
    key = np.zeros((1, 32), np.int64)
    keep = np.zeros((1, 32), bool)
    key[0, [3, 9, 30]] = 7
    keep[0, [3, 9, 30]] = True
    assert model.serve_batches(key, keep)[0, [3, 9, 30]].tolist() == [1, 2, 3]
    assert model.pointers()[0, 7] == 4


def test_a_destination_out_of_reach_leaves_its_pointer_alone() -> None:
    config = OfanConfig(lanes=1, uplinks=3, destinations=2, order="plain", init="zero")
    model = VectorizedOfan(config)
    model.serve(np.array([0]))
    model.apply([LinkChange(0, u, False) for u in range(3)])
    assert model.serve(np.array([0, 1, 0])).tolist() == [UNROUTABLE, 0, UNROUTABLE]
    model.apply([LinkChange(0, u, True) for u in range(3)])
    assert model.serve(np.array([0, 1])).tolist() == [1, 1]


def test_two_halves_sort_wide_pointer_numbers() -> None:
    index = np.random.default_rng(0).integers(0, 2**20, 50_000).astype(np.uint32)
    order = vectorized._stable_order(index)
    assert (order == np.argsort(index, kind="stable")).all()


def test_progress_counts_batches() -> None:
    config = preset("edge-k8")
    seen: list[int] = []
    trace = random_trace(config, 50, 1.0, seed=0)
    failures = [FailureEvent(batch, (LinkChange(None, 0, False),)) for batch in (10, 20)]
    route(config, trace, failures, seen.append)
    assert seen == [10, 20, 50]
