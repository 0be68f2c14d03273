"""The trace of ring all-reduces: every packet against a plain simulation, and what must hold."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.symphony.config import SymphonyConfig, preset
from models.symphony.ring import MAX_PACKETS, Ring, ring_trace
from models.symphony.slots import orders
from models.symphony.trace import Trace
from models.symphony.vectorized import answer

RINGS = st.builds(
    Ring,
    nodes=st.integers(2, 5),
    jobs=st.integers(1, 3),
    packets=st.integers(1, 6),
    slow=st.one_of(st.none(), st.integers(0, 1)),
    slow_factor=st.sampled_from([1.0, 1.3, 5]),
    load=st.sampled_from([0.5, 1.0, 3.0]),
    jitter_ns=st.sampled_from([0, 1, 700, 100_000]),
    gbps=st.sampled_from([10, 400.0, 0.7]),
    packet_bytes=st.sampled_from([64, 1000]),
    seed=st.integers(0, 3),
)


def rows(trace: Trace) -> list[tuple[int, ...]]:
    names = ("time_ns", "job", "step", "psn", "last", "queue_bytes")
    return list(zip(*(getattr(trace, name).tolist() for name in names), strict=True))


def simulated(ring: Ring) -> list[tuple[int, ...]]:
    """Find the first packet that has not been served, and serve it; only what a step's packets need
    to come is shared with the code under test."""
    ends: dict[tuple[int, int], int] = {}  # (flow, step) to when its last packet has left
    begun: dict[tuple[int, int], int] = {}
    waiting: list[tuple[int, int, int, int]] = []  # time, flow, step, psn
    served, free = [], 0

    def begin(flow: int, step: int, start: int) -> None:
        begun[flow, step] = start
        times = ring.arrivals(flow, step, start)
        waiting.extend((time, flow, step, psn) for psn, time in enumerate(times))

    for flow in range(ring.flows):
        begin(flow, 0, flow * ring.packet_ps)
    while waiting:
        first = min(waiting)
        waiting.remove(first)
        time, flow, step, psn = first
        taken = max(time, free)
        free = taken + ring.packet_ps
        served.append((time, taken, flow, step, psn))
        if psn == ring.packets - 1:
            ends[flow, step] = free
        for node in range(ring.flows):
            ring_of = node - node % ring.nodes
            before = ring_of + (node - 1) % ring.nodes
            for s in range(1, ring.steps):
                needed = [(node, s - 1), (before, s - 1)]
                if (node, s) not in begun and all(key in ends for key in needed):
                    turn = begun[node, s - 1] + ring.packets * ring.pace(node)
                    begin(node, s, max(turn, *(ends[key] for key in needed)))
    answers = []
    for number, (_, taken, flow, step, psn) in enumerate(served):
        depth = sum(time <= taken for time, *_ in served[number + 1 :])
        last = int(psn == ring.packets - 1)
        depth_bytes = depth * ring.packet_bytes
        answers.append((taken // 1000, flow // ring.nodes, step, psn, last, depth_bytes))
    return answers


@given(RINGS)
def test_every_packet_equals_the_simulation(ring: Ring) -> None:
    assert rows(ring_trace(ring)) == simulated(ring)


def test_a_step_waits_for_its_own_and_its_predecessors_chunk() -> None:
    ring = Ring(nodes=4, packets=50, slow=1, slow_factor=3, jitter_ns=0)
    trace = ring_trace(ring)
    paced = ring.steps * ring.packets * ring.pace(0) / 1000
    assert 2.9 * paced < trace.time_ns[-1] < 3.1 * paced  # the ring is as slow as its slowest node
    place: dict[tuple[int, int], list[int]] = {}
    for time, _, step, psn, *_ in rows(trace):
        place.setdefault((step, psn), []).append(time)
    for step in range(1, ring.steps):
        assert min(place[step, 0]) >= sorted(place[step - 1, 49])[1]  # two nodes have finished
        assert max(place[step, 0]) >= max(place[step - 1, 49])


def test_without_a_slow_node_steps_stay_together() -> None:
    ring = Ring()
    trace = ring_trace(ring)
    assert len(trace) == ring.total == 8 * 14 * 1000
    assert (np.diff(trace.step) >= -1).all()
    paced = ring.steps * ring.packets * ring.pace(0) / 1000
    assert paced * 0.99 < trace.time_ns[-1] < paced * 1.01
    assert trace.queue_bytes.max() < 10_000
    c = preset("log-16k")
    assert answer(c, trace, orders(c, trace)).outpacing.mean() < 0.01


def test_a_slow_node_is_what_symphony_looks_for() -> None:
    trace = ring_trace(Ring(jobs=2, slow=3, slow_factor=1.5))
    c = preset("log-64")
    answers = answer(c, trace, orders(c, trace))
    slow, other = trace.job == 0, trace.job == 1
    assert answers.outpacing[slow].mean() > 0.3
    assert answers.symphony[slow].mean() > 0.01
    assert answers.outpacing[other].mean() < 0.01


def test_above_line_rate_red_marks_too() -> None:
    trace = ring_trace(Ring(load=1.5, packets=300))
    c = SymphonyConfig()
    red = answer(c, trace, orders(c, trace)).red
    assert 0.1 < red.mean() < 1


def test_seeds() -> None:
    traces = [rows(ring_trace(Ring(packets=40, seed=seed))) for seed in (1, 1, 2)]
    assert traces[0] == traces[1]
    assert traces[0] != traces[2]
    still = [rows(ring_trace(Ring(packets=40, seed=seed, jitter_ns=0))) for seed in (1, 2)]
    assert still[0] == still[1]


def test_jitter_is_even() -> None:
    """Mean and largest of 16,384 delays, within 4 standard errors."""
    ring = Ring(packets=2**14, jitter_ns=1000, seed=5)
    late = np.array(ring.arrivals(0, 1, 0)) - np.arange(2**14) * ring.pace(0)
    assert abs(late.mean() - 500_000) < 4 * 1_000_000 / 12**0.5 / 128
    assert 999_000 < late.max() <= 1_000_000


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nodes": 1}, "nodes must be an integer from 2 to 4096, not 1"),
        ({"jobs": 0}, "jobs must be an integer from 1 to 65536, not 0"),
        ({"packets": 0}, "packets must be an integer from 1 to 16777216, not 0"),
        ({"slow": 8}, "slow must be an integer from 0 to 7, not 8"),
        ({"slow_factor": 0.5}, "slow_factor must be a number from 1 to 1000, not 0.5"),
        ({"load": 0.0}, "load must be a number from 0.01 to 10, not 0.0"),
        ({"load": float("nan")}, "load must be a number from 0.01 to 10, not nan"),
        ({"jitter_ns": -1}, "jitter_ns must be an integer from 0 to 1000000000, not -1"),
        ({"gbps": 0}, "gbps must be a number from 0.001 to 100000, not 0"),
        ({"packet_bytes": 63}, "packet_bytes must be an integer from 64 to 65535, not 63"),
        ({"seed": 2**63}, f"seed must be an integer from 0 to {2**63 - 1}, not {2**63}"),
        ({"jobs": 150}, f"packets must be at most {MAX_PACKETS} in all flows and steps"),
    ],
)
def test_bad_rings(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        Ring(**change)
    with pytest.raises(TypeError, match="nodes must be an integer from 2 to 4096, not 2.5"):
        Ring(nodes=2.5)  # type: ignore[arg-type]
