"""Queue models: counts against the seed, the exact queue against random phases and against Ofan."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.queues import (
    QueueModel,
    aggregation_pointers,
    bridge_mean,
    drb_models,
    edge_flows,
    edge_pointers,
    edge_uplink_limit,
    exact_mean,
    hosts,
    ofan_models,
    pod_flows,
    tail,
    truncated_normal_mean,
)
from models.ofan.switch import Ofan, Packet

RADICES = (4, 8, 12, 16, 32, 64)


def simulate(sources: int, period: float, runs: int) -> tuple[float, float]:
    """Mean queue over `runs` draws of random phases, and its standard error.

    Two periods from an empty queue: the second one is already periodic. Each packet stays its
    wait and its service, and Little's law turns the sum of stays into a time average.
    """
    rng = np.random.default_rng(1)
    once = np.sort(rng.random((runs, sources)) * period, axis=1)
    ahead = np.arange(2 * sources) - np.concatenate([once, once + period], axis=1)
    wait = ahead - np.minimum.accumulate(ahead, axis=1)
    mean = (wait[:, sources:] + 1).sum(axis=1) / period
    return float(mean.mean()), float(mean.std() / math.sqrt(runs))


@pytest.mark.parametrize("radix", RADICES)
def test_flow_counts_are_the_seeds_equations(radix: int) -> None:
    w, n = Fraction(radix, 2), Fraction(radix**3, 4)
    assert hosts(radix) == n
    assert edge_flows(radix) == pytest.approx(float(w * (1 - (w - 1) / (n - 1))))
    assert pod_flows(radix) == pytest.approx(float(w * w * (1 - (w * w - 1) / (n - 1))))


@pytest.mark.parametrize("radix", RADICES)
def test_pointer_counts_are_the_seeds_equations(radix: int) -> None:
    w, bins = radix // 2, Fraction(radix * radix, 2)
    expected = float(bins * (1 - (1 - 1 / bins) ** w))
    assert edge_pointers(radix) == pytest.approx(expected, rel=1e-12)
    assert aggregation_pointers(radix) == radix - 1


def test_edge_pointers_are_about_w_less_a_quarter() -> None:
    assert edge_pointers(64) == pytest.approx(32 - 1 / 4, abs=0.01)
    assert edge_pointers(1024) == pytest.approx(512 - 1 / 4, abs=0.001)


@pytest.mark.parametrize("radix", [4, 8, 12])
def test_edge_counts_by_drawing_random_destinations(radix: int) -> None:
    rng = np.random.default_rng(2)
    w, runs = radix // 2, 4000
    drawn = rng.integers(0, radix * radix // 2, (runs, w))
    used = np.array([len(set(row)) for row in drawn.tolist()])
    assert abs(used.mean() - edge_pointers(radix)) < 4 * used.std() / math.sqrt(runs)


def test_northbound_flows_by_drawing_derangements() -> None:
    """Equations 14 and 15 on 128 hosts (k = 8): 4 hosts an edge switch, 16 a pod."""
    rng = np.random.default_rng(3)
    own, edge, pod = np.arange(128), [], []
    while len(edge) < 400:
        to = rng.permutation(128)
        if (to == own).any():
            continue
        edge.append((to // 4 != own // 4).sum() / 32)
        pod.append((to // 16 != own // 16).sum() / 8)
    for found, expected in ((edge, edge_flows(8)), (pod, pod_flows(8))):
        assert abs(np.mean(found) - expected) < 4 * np.std(found) / math.sqrt(len(found))


def test_pofan_pipes_of_section_5_and_appendix_h() -> None:
    assert aggregation_pointers(64, pipes=8) == 8 * 63
    assert edge_pointers(64) < edge_pointers(64, pipes=8) < edge_pointers(64, pipes=32)
    assert edge_pointers(64, pipes=32) == pytest.approx(32)


@pytest.mark.parametrize("radix", RADICES)
def test_loads_are_those_of_the_flows(radix: int) -> None:
    w = radix // 2
    for models in (drb_models(radix), ofan_models(radix), ofan_models(radix, pipes=w)):
        assert models["edge"].load == pytest.approx(edge_flows(radix) / w)
        assert models["aggregation"].load == pytest.approx(pod_flows(radix) / w**2)
    assert drb_models(radix)["edge"].period == pytest.approx(w)
    assert drb_models(radix)["aggregation"].period == pytest.approx(w * w)


def test_consolidation_shortens_the_modelled_aggregation_queue() -> None:
    drb, ofan, pofan = drb_models(64), ofan_models(64), ofan_models(64, pipes=8)
    for mean in ("exact", "bridge", "truncated_normal"):
        queues = [getattr(m["aggregation"], mean) for m in (ofan, pofan, drb)]
        assert queues == sorted(queues) and queues[0] < queues[1] / 2
    assert ofan_models(64, pipes=32)["aggregation"].sources == pod_flows(64)


@given(st.integers(1, 60), st.floats(1.0, 3.0))
def test_tail_at_zero_is_the_load(sources: int, slack: float) -> None:
    """P(Q > 0) = ρ is Abel's identity for the formula's sum; taken exactly in fractions."""
    period = Fraction(sources) * Fraction(slack).limit_denominator(50) + Fraction(1, 100)
    total = Fraction(0)
    for n in range(1, sources + 1):
        share = Fraction(n) / period
        weight = math.comb(sources, n) * share**n * (1 - share) ** (sources - n)
        total += weight * (period - sources) / (period - n)
    assert total == sources / period
    assert tail(sources, float(period), 0) == pytest.approx(float(total))


@given(st.integers(1, 25), st.integers(0, 30), st.integers(0, 26))
def test_tail_against_exact_fractions(sources: int, slack: int, queue: int) -> None:
    period = sources + slack
    total = Fraction(0)
    for n in range(queue + 1, sources + 1):
        share = Fraction(n - queue, period)
        weight = math.comb(sources, n) * share**n * (1 - share) ** (sources - n)
        total += weight * Fraction(period - sources + queue, max(1, period - n + queue))
    expected = Fraction(sources, period) if queue == 0 else total
    assert tail(sources, period, queue) == pytest.approx(float(expected), rel=1e-9, abs=1e-300)


def test_exact_mean_by_hand() -> None:
    assert exact_mean(0, 5) == 0
    assert exact_mean(1, 4) == 1 / 4
    # Two sources, D = 4: they meet within a packet time with probability 1/2 and then overlap for
    # half a packet time on average, once a period.
    assert exact_mean(2, 4) == pytest.approx(2 / 4 + 1 / 2 * 1 / 2 / 4)


@pytest.mark.parametrize(
    ("sources", "period"), [(2, 2), (5, 7.5), (8, 8), (8, 10), (16, 16.5), (64, 64), (100, 103)]
)
def test_exact_mean_against_random_phases(sources: int, period: float) -> None:
    found, error = simulate(sources, period, runs=10_000)
    assert abs(found - exact_mean(sources, period)) < 4 * error
    assert error < 0.02


def test_exact_mean_at_full_load_grows_as_the_root_of_the_sources() -> None:
    for sources in (16, 64, 256, 1024):
        expected = math.sqrt(math.pi * sources / 8) + 1 / 3
        assert exact_mean(sources, sources) == pytest.approx(expected, abs=0.02)


@pytest.mark.parametrize(("sources", "period"), [(6, 6), (32, 32.5), (63, 64), (500, 512), (4, 90)])
def test_gaussian_means_against_numeric_integrals(sources: int, period: float) -> None:
    c = period - sources
    x, step = np.linspace(0, sources, 400_001, retstep=True)
    above = np.exp(-2 * x * (x + c) / sources)
    integral = (above.sum() - above[0] / 2) * step
    assert bridge_mean(sources, period) == pytest.approx(integral, rel=1e-4)
    density = np.exp(-((x + c / 2) ** 2 - c * c / 4) / (2 * sources / 4))
    mean = (density * x).sum() / (density.sum() - density[0] / 2)
    assert truncated_normal_mean(sources, period) == pytest.approx(mean, rel=1e-4)


def test_gaussian_means_far_below_full_load_stay_finite_and_smooth() -> None:
    # c/√(2N) passes 20 here, where the asymptotic series takes over from erfc
    for mean in (bridge_mean, truncated_normal_mean):
        just_under = mean(2, 2 + 2 * 19.9999)
        just_over = mean(2, 2 + 2 * 20.0001)
        assert just_under == pytest.approx(just_over, rel=1e-4)
        assert just_under > just_over
        assert 0 < mean(2, 1e6) < 1e-5


def test_how_far_the_approximations_are() -> None:
    """The bridge lacks about 1/3 packet at ρ = 1; the truncated normal is 36 % below the bridge."""
    for sources in (32, 63, 1008):
        exact, bridge = exact_mean(sources, sources), bridge_mean(sources, sources)
        assert exact - bridge == pytest.approx(1 / 3, abs=0.02)
        assert truncated_normal_mean(sources, sources) / bridge == pytest.approx(2 / math.pi)


def test_mean_between_two_integers_is_interpolated_at_the_same_load() -> None:
    low, high = QueueModel(sources=6, load=0.9), QueueModel(sources=7, load=0.9)
    middle = QueueModel(sources=6.25, load=0.9)
    assert middle.exact == pytest.approx(0.75 * low.exact + 0.25 * high.exact)
    assert low.exact == exact_mean(6, 6 / 0.9)


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32),
    w=st.integers(1, 8),
    pipe=st.booleans(),
    destinations=st.integers(1, 6),
)
def test_no_edge_uplink_exceeds_w_plus_1(seed: int, w: int, pipe: bool, destinations: int) -> None:
    """Appendix F.4's deterministic bound on the golden model: w hosts at line rate, any phases."""
    rng = np.random.default_rng(seed)
    config = OfanConfig(
        lanes=w, uplinks=w, destinations=destinations, init=seed, pipe_lanes=1 if pipe else None
    )
    switch = Ofan(config)
    phases = rng.random(w).tolist()
    flows = rng.integers(0, destinations, w).tolist()
    free = [0.0] * w  # when each uplink has sent all it holds
    for period in range(40):
        for lane in sorted(range(w), key=phases.__getitem__):
            now = period + phases[lane]
            uplink = switch.serve(Packet(lane, flows[lane]))
            free[uplink] = max(free[uplink], now) + 1
            assert math.ceil(free[uplink] - now - 1e-9) <= edge_uplink_limit(w)


def test_edge_limits_by_hand() -> None:
    assert [edge_uplink_limit(w) for w in (1, 6, 32)] == [2, 7, 33]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: hosts(3), "radix must be an integer from 4 to 1024, not 3"),
        (lambda: hosts(7), "radix must be even, not 7"),
        (lambda: edge_pointers(12, pipes=4), "pipes must divide the lanes (6), not 4"),
        (lambda: edge_pointers(12, pipes=7), "pipes must be an integer from 1 to 6, not 7"),
        (lambda: tail(8, 7.5, 1), "period must be 8 (sources) or more, not 7.5"),
        (lambda: tail(8, 9, -1), "queue must be an integer from 0 to 1000000, not -1"),
        (lambda: tail(0, 9, 1), "sources must be an integer from 1 to 1000000, not 0"),
        (lambda: bridge_mean(8, 7.5), "period must be 8 (sources) or more, not 7.5"),
        (lambda: truncated_normal_mean(8, 7.5), "period must be 8 (sources) or more, not 7.5"),
        (lambda: QueueModel(sources=0, load=1), "sources must be more than 0, not 0"),
        (
            lambda: QueueModel(sources=4, load=1.5),
            "load must be more than 0 and at most 1, not 1.5",
        ),
        (lambda: QueueModel(sources=4, load=0), "load must be more than 0 and at most 1, not 0"),
        (lambda: edge_uplink_limit(65), "uplinks must be an integer from 1 to 64, not 65"),
    ],
)
def test_bad_values(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
