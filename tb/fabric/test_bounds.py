"""Bounds by hand, and that no run beats them; queue models against drawn phases."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from models.fabric.bounds import bound_of, is_permutation, naive_bounds
from models.fabric.bounds_queues import (
    bridge_mean,
    expected_sources,
    mean_queue,
    modelled_queue,
    tail,
    truncated_normal_mean,
)
from models.fabric.config import FabricConfig
from models.fabric.reference import simulate
from models.fabric.run import case_of, run_case
from models.fabric.traffic import all_to_all, flows_between, permutation

T, A, L = 4178, 84, 50_000
"""Times of a data packet and an ACK with their gaps, and of a link, in byte times."""


def pair(hosts: int, one: int, other: int, packets: int):
    ends = np.array([one, other])
    return flows_between(hosts, ends, ends[::-1], np.full(2, packets))


def test_the_papers_number() -> None:
    config = FabricConfig()
    bound = bound_of(config, permutation(config, 0, 256))
    assert bound.name == "appendix A"
    assert bound.microseconds(config) == pytest.approx(17.05694, abs=1e-9)
    assert bound.increase_percent(1705694 * 2) == pytest.approx(100)


def test_hops_are_those_of_the_longest_flow() -> None:
    config = FabricConfig(radix=4)
    near = bound_of(config, pair(16, 0, 1, 256))
    far = bound_of(config, pair(16, 0, 15, 256))
    assert near.name == far.name == "appendix A"
    assert near.times < far.times - 8 * L


def test_naive_bounds_by_hand() -> None:
    """Hosts 0 and 1 send 10 packets each to host 15: 6 links, 20 packets to receive."""
    config = FabricConfig(radix=4)
    flows = flows_between(16, np.array([0, 1]), np.array([15, 15]), np.array([10, 10]))
    found = {bound.name: bound.times for bound in naive_bounds(config, flows)}
    way, back = 6 * (4158 + L), 6 * (64 + L)
    assert found["sender"] == 9 * T + way + back
    assert found["receiver"] == 19 * T + way + back
    assert found["sender's link"] == 10 * T - 20 + L + 5 * (64 + L)
    assert found["receiver's link"] == 5 * (64 + L) + 20 * T - 20 + L
    assert not is_permutation(flows)
    assert bound_of(config, flows).name == "receiver"
    silent = FabricConfig(radix=4, acks=False)
    assert bound_of(silent, flows).times == 19 * T + way


@pytest.mark.parametrize("host_order", ["ack-first", "data-first"])
def test_appendix_a_is_for_hosts_that_take_turns(host_order: str) -> None:
    config = FabricConfig(radix=4, host_order=host_order)
    assert bound_of(config, permutation(config, 0, 256)).name != "appendix A"


def test_lone_opposite_flows_meet_the_bound() -> None:
    """The paper's minimum over 1,000 runs of all schemes is 1.03·10⁻⁴ above it, less than a packet.

    ACKs take less time at each hop than the data before them, and where they take another uplink
    they overtake it: four ACKs come in between before the last data packet does, 316 byte times.
    """
    config = FabricConfig(radix=4, jitter_ns=0, scheme="simple-rr")
    flows = pair(16, 0, 15, 256)
    result = simulate(config, flows)
    assert result.completion is not None
    over = result.completion / bound_of(config, flows).times - 1
    assert 0 <= over < 2e-4


@pytest.mark.parametrize("scheme", ["ofan", "jsq", "drb"])
@pytest.mark.parametrize("host_order", ["alternate", "ack-first", "data-first"])
def test_no_run_beats_its_bound(scheme: str, host_order: str) -> None:
    base = {"k": 4, "scheme": scheme, "host_order": host_order, "engine": "reference"}
    for traffic in (
        {"packets": 100},
        {"packets": 3},
        {"packets": 50, "acks": False},
        {"packets": 40, "load": 0.7},
        {"packets": 40, "failures": 0.1},
        {"traffic": "all-to-all", "packets": 2},
        {"traffic": "ring", "packets": 9, "steps": 3},
    ):
        run = run_case(case_of(base | traffic))
        assert run.result.completion is not None
        assert run.result.completion >= run.bound.times, traffic


def test_no_flow_has_no_bound() -> None:
    none = np.zeros(0, np.int64)
    with pytest.raises(ValueError, match="flows must be at least one, not 0"):
        bound_of(FabricConfig(), flows_between(432, none, none, none))


def test_all_to_all_is_bound_by_its_links() -> None:
    config = FabricConfig(radix=4)
    bound = bound_of(config, all_to_all(config, 0, packets=8))
    assert bound.name in ("sender", "receiver")
    assert bound.times >= 119 * T


def drawn_queue(sources: int, period: float, rounds: int) -> tuple[float, float]:
    """Mean queue of N·D/D/1 over drawn phases, and its standard error."""
    rng = np.random.Generator(np.random.PCG64(1))
    means = []
    for _ in range(rounds):
        arrivals = np.sort(rng.random(sources)) * period
        free, area = -1.0, 0.0
        for turn in (0, 1):  # one period to fill, one to count
            for at in arrivals + turn * period:
                waiting = max(0.0, free - at)
                free = at + waiting + 1
                area += turn * (waiting + 0.5)
        means.append(area / period)
    return float(np.mean(means)), float(np.std(means) / math.sqrt(rounds))


@pytest.mark.parametrize(
    ("sources", "period"), [(1, 3), (2, 2), (5, 5), (8, 8), (8, 9.5), (20, 21)]
)
def test_the_closed_form_is_what_phases_give(sources: int, period: float) -> None:
    """Within four standard errors: one chance in 16,000 to fail where the form is right."""
    mean, error = drawn_queue(sources, period, 3000)
    assert mean_queue(sources, period) == pytest.approx(mean, abs=4 * error + 1e-12)


def test_the_tail_is_a_probability() -> None:
    values = [tail(6, 6, x / 10) for x in range(-2, 70)]
    assert values[0] == values[2] == 1
    assert values == sorted(values, reverse=True)
    assert values[-1] == 0
    assert tail(1, 4, 0.5) == pytest.approx(0.125)


def test_approximations_of_many_sources() -> None:
    assert bridge_mean(300, 1) == pytest.approx(mean_queue(300, 300), rel=0.03)
    assert bridge_mean(300, 0.95) == pytest.approx(mean_queue(300, 300 / 0.95), rel=0.1)
    x = np.linspace(0, 30, 300_001)
    density = np.exp(-((x + 0.4) ** 2) / (2 * 4))
    mean = float((x * density).sum() / density.sum())
    assert truncated_normal_mean(16, 0.95) == pytest.approx(mean, rel=1e-3)


def test_expected_sources_of_the_appendices() -> None:
    config = FabricConfig(radix=16, scheme="drb")
    (edge, load), (core, far) = (expected_sources(config)[stage] for stage in ("E→A", "A→C"))
    assert edge == pytest.approx(8 * (1 - 7 / 1023))
    assert core == pytest.approx(64 * (1 - 63 / 1023))
    assert (load, far) == pytest.approx((edge / 8, core / 64))
    ofan = expected_sources(FabricConfig(radix=64, scheme="ofan"))
    assert ofan["A→E"][0] == pytest.approx(32 - 0.25, abs=0.01)  # w - 1/4
    assert ofan["C→A"][0] == 63  # k - 1
    four = expected_sources(FabricConfig(radix=64, scheme="pofan4"))
    assert ofan["A→E"][0] < four["A→E"][0] < 32
    assert four["C→A"][0] == 8 * 63
    assert modelled_queue(8, 1.0) == pytest.approx(mean_queue(8, 8))
    assert mean_queue(8, 8) < modelled_queue(8.5, 1.0) < mean_queue(9, 9)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mean_queue(3, 2), "period must be at least the 3 sources, not 2"),
        (lambda: mean_queue(0, 2), "sources must be an integer from 1 to 4096, not 0"),
        (
            lambda: expected_sources(FabricConfig(scheme="ar")),
            "scheme must be drb, ethereal, pofanW or ofan, not 'ar'",
        ),
        (
            lambda: expected_sources(FabricConfig(levels=2)),
            "levels must be 3 for the queue models, not 2",
        ),
    ],
)
def test_bad_models_are_named(make, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        make()
    assert str(caught.value) == message


REAL = Path(__file__).parents[3] / "shared" / "data" / "connections"


@pytest.mark.skipif(not REAL.exists(), reason="htsim's matrices are not at hand")
@pytest.mark.parametrize("name", ["outcast_incast.cm", "alltoall_serial_16n.cm"])
def test_real_matrices_keep_to_their_bounds(name: str) -> None:
    k = 4 if "16n" in name else 8
    config = {"k": k, "traffic": str(REAL / name), "engine": "reference", "payload_bytes": 65536}
    run = run_case(case_of(config))
    assert run.result.completion is not None
    assert run.result.completion >= run.bound.times
