"""Load balancers that estimate rates: the estimator, DLB, SGLB and CONGA."""

from __future__ import annotations

from fractions import Fraction

import pytest

from models.fabric.config import FabricConfig
from models.fabric.network import draw_failures, tree_of
from models.fabric.options import SchemeOptions
from models.fabric.reference import simulate
from models.fabric.reference_links import build
from models.fabric.schemes import conga, dlb, sglb
from models.fabric.schemes.base import Packet, Switch, SwitchScheme
from models.fabric.schemes.estimator import RateEstimator, queue_level
from models.fabric.streams import Kind
from tb.fabric.small import flows
from tb.fabric.test_schemes_queues import fill, packet, switch_of

TIME, LATENCY = 4178, 50_000
TAU = 1_000_000
"""10 µs in byte times."""


def estimator(**options: object) -> RateEstimator:
    return RateEstimator(FabricConfig(options=SchemeOptions(**options)))  # pyright: ignore


def test_a_register_decays_by_a_sixteenth() -> None:
    found = estimator()
    found.add(0, 1000)
    found.add(TAU // 16 - 1, 600)
    assert found.register == 1600
    found.add(TAU // 16, 0)
    assert found.register == 1500
    found.add(3 * (TAU // 16), 0)
    assert found.register == 15 * (15 * 1500 // 16) // 16
    found.add(259 * (TAU // 16), 10**6)
    assert 10**6 <= found.register < 10**6 + 2
    found.add((259 + 257) * (TAU // 16), 1)
    assert found.register == 1


@pytest.mark.parametrize("share", [Fraction(1), Fraction(1, 2), Fraction(1, 4)])
def test_a_register_comes_near_rate_times_constant(share: Fraction) -> None:
    """In the steady state X is 15·τ·rate/16 after a decay and τ·rate before one."""
    found, now = estimator(), 0
    for _ in range(3000):
        found.add(now, TIME)
        now += int(TIME / share)
    assert 15 / 16 * 0.98 * share <= Fraction(found.register, TAU) <= 1.02 * share


def test_levels_of_load_and_queue() -> None:
    found = estimator(levels=8)
    for register, level in ((0, 0), (124_999, 0), (125_000, 1), (999_999, 7), (2_000_000, 7)):
        found.register = register
        assert found.level(0) == level
    config = FabricConfig()
    lengths = (0, 99_999, 100_000, 799_999, 10**7)
    assert [queue_level(config, length, 800_000) for length in lengths] == [0, 0, 1, 7, 7]


def test_dlb_adds_load_and_queue() -> None:
    switch = switch_of("dlb")
    scheme = dlb.AtSwitch(switch)
    for found, register in zip(scheme.estimators, (250_000, 0, 125_000, 0), strict=True):
        found.register = register
    fill(switch, [0, 300_000, 100_000, 250_000])
    assert [scheme.badness(u, packet(), 0) for u in range(4)] == [2, 3, 2, 2]
    assert {scheme.pick(packet(), 0, [0, 1]) for _ in range(20)} == {0}
    assert scheme.estimators[0].register == 250_000 + 20 * TIME
    assert scheme.estimators[1].register == 0


def sglb_at(levels: int, **changes: object) -> tuple[list[Switch], sglb.AtSwitch]:
    config = FabricConfig(radix=8, levels=levels, scheme="sglb", **changes)  # pyright: ignore
    failures = draw_failures(config) if config.link_failure else None
    edges = build(config, failures).edges
    return edges, sglb.AtSwitch(edges[0])


def test_sglb_knows_a_spine_one_latency_late() -> None:
    """Spines tell at 0, 50,000, …; what they told at 50,000 is known from 100,000 on."""
    edges, scheme = sglb_at(2)
    above = edges[0].above[1]
    above.downlink_to(21).put(40_000, 300_000, ack=False)  # edge 5
    times = (0, LATENCY - 1, 2 * LATENCY - 1, 2 * LATENCY, 3 * LATENCY, 8 * LATENCY)
    assert [scheme.told(1, 21, now) for now in times] == [0, 0, 0, 290_000, 240_000, 0]
    assert scheme.told(0, 21, 2 * LATENCY) == scheme.told(1, 3 * 4, 2 * LATENCY) == 0
    assert scheme.badness(1, packet(21), 2 * LATENCY) == 2
    assert scheme.pick(packet(21), 2 * LATENCY, [1, 2]) == 2


def test_sglb_does_not_know_what_came_at_the_very_time() -> None:
    edges, scheme = sglb_at(2)
    edges[0].above[1].downlink_to(21).put(LATENCY, 300_000, ack=False)
    assert scheme.told(1, 21, 2 * LATENCY) == 0
    assert scheme.told(1, 21, 3 * LATENCY) == 250_000


def test_sglb_is_told_less_often_if_so_configured() -> None:
    edges, scheme = sglb_at(2, options=SchemeOptions(telemetry_ns=1500))
    edges[0].above[1].downlink_to(21).put(10_000, 400_000, ack=False)
    times = (4 * LATENCY - 1, 4 * LATENCY, 7 * LATENCY - 1, 7 * LATENCY)
    assert [scheme.told(1, 21, now) for now in times] == [0, 260_000, 260_000, 110_000]


def test_sglb_at_an_aggregation_switch() -> None:
    """Within the pod the downlink counts, between pods the mean of the uplinks."""
    edges, scheme = sglb_at(3)
    above = edges[0].above[2]
    assert isinstance(above, Switch)
    above.downlink_to(4).put(0, 200_000, ack=False)
    for uplink, length in enumerate((100_000, 200_000, 60_001, 70_000)):
        above.uplinks[uplink].put(0, length, ack=False)
    assert scheme.told(2, 4, 2 * LATENCY) == 150_000
    assert scheme.told(2, 100, 2 * LATENCY) == (50_000 + 150_000 + 10_001 + 20_000) // 4
    agg = sglb.AtSwitch(above)
    above.above[1].downlink_to(100).put(0, 90_000, ack=False)
    assert agg.told(1, 100, 2 * LATENCY) == 40_000


def test_conga_takes_the_worse_of_local_and_remote() -> None:
    switch = switch_of("conga")
    scheme = conga.AtSwitch(switch)
    for found, register in zip(scheme.estimators, (0, 500_000, 125_000, 0), strict=True):
        found.register = register
    scheme.remote = {(25, 0): 3, (25, 2): 1, (24, 3): 7}
    assert [scheme.metric(u, packet(100), 0) for u in range(4)] == [3, 4, 1, 0]
    assert [scheme.metric(u, packet(99), 0) for u in range(4)] == [0, 4, 1, 7]
    assert scheme.pick(packet(100), 0, [0, 1, 2]) == 2


def test_conga_gathers_on_the_way_up_and_learns_from_acks() -> None:
    config = FabricConfig(radix=8, scheme="conga")
    fabric = build(config, None)
    edge, agg = conga.AtSwitch(fabric.edges[0]), conga.AtSwitch(fabric.aggs[2])
    agg.estimators[1].register = 380_000
    data = packet(100)
    assert edge.pick(data, 0, [2]) == 2
    assert data.tag == (2, 0)
    assert agg.pick(data, 0, [1]) == 1
    assert data.tag == (2, 3)
    ack = Packet(0, 0, True, 100, 0, 84, answers=data)
    agg.passes(ack, 5)
    assert not agg.remote
    edge.passes(ack, 5)
    assert edge.remote == {(25, 2): 3}
    other = packet(101)
    agg.estimators[1].register = 0
    edge.pick(other, 6, [2])
    agg.pick(other, 6, [1])
    edge.passes(Packet(0, 1, True, 101, 0, 84, answers=other), 7)
    assert edge.remote == {(25, 2): 0}


@pytest.mark.parametrize(("scheme", "low", "high"), [("conga", 0.25, 0.42), ("dlb", 0.45, 0.55)])
def test_conga_avoids_a_path_that_others_load(scheme: str, low: float, high: float) -> None:
    """The neighbour in the pod sends all it has through aggregation switch 0. Host 0 sends a share
    x there and makes its uplinks (1 + x)/2 busy, against 1 - x on its own other uplink: equal at
    1/3. DLB sees its own uplinks alone."""
    config = FabricConfig(radix=4, scheme=scheme, seed=2)
    traffic = flows(config, [(0, 14), (2, 10)], [1500, 1500])
    result = simulate(
        config, traffic, switches=lambda switch: First(switch) if is_edge(switch, 1) else None
    )
    assert result.data[1, 2] == 1500  # edge 1, uplink 0
    assert low < result.data[1, 0] / 1500 < high


def test_conga_gathers_on_links_down_too() -> None:
    config = FabricConfig(radix=8, scheme="conga")
    down, data = conga.AtDownlink(config), packet(100)
    down.passes(data, 0)
    assert data.tag is None
    down.passes(Packet(0, 0, True, 100, 0, 84, answers=data), 0)
    assert down.estimator.register == TIME + 84
    for register, before, after in ((500_000, 1, 4), (250_000, 3, 3)):
        down.estimator.register = register - TIME
        data.tag = (2, before)
        down.passes(data, 0)
        assert data.tag == (2, after)


@pytest.mark.parametrize(("levels", "others"), [(2, (4,)), (3, (4, 8))])
@pytest.mark.parametrize(("scheme", "low", "high"), [("conga", 0.0, 0.2), ("dlb", 0.45, 0.55)])
def test_conga_avoids_links_down_that_others_load(
    scheme: str, low: float, high: float, levels: int, others: tuple[int, ...]
) -> None:
    """Other edges send all they have over uplinks 0 to the edge that host 0 sends to. Where it goes
    there too only a link down is busy, all of the time (C→A or A→E, S→E)."""
    config = FabricConfig(radix=4, levels=levels, scheme=scheme, seed=2)
    last = tree_of(config).hosts - 2
    traffic = flows(
        config, [(0, last)] + [(o, last + 1) for o in others], [1500] * (1 + len(others))
    )
    edges = {other // 2 for other in others}
    result = simulate(
        config,
        traffic,
        switches=lambda s: First(s) if s.kind == Kind.EDGE and s.number in edges else None,
    )
    assert low <= result.data[1, 0] / 1500 < high


class First(SwitchScheme):
    """Uplink 0, always."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        return 0


def is_edge(switch: Switch, number: int) -> bool:
    return (switch.kind, switch.number) == (Kind.EDGE, number)
