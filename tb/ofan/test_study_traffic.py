"""The study's traffic: what each kind promises, counted."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from models.ofan.config import OfanConfig, aggregation, edge
from models.ofan.engine import Engine
from models.ofan.place import place
from models.ofan.study_traffic import LOADS, PERIOD, QUICK, TRAFFIC, Hosts, Size, at_line_rate

SMALL = Size(cases=6, periods=3, drifts=4, cycles=400)
LINE_RATE = ("permutation", "drift", "in-step", "all-to-all", "ring", "moe")
SWITCHES = {"edge": edge(8), "agg": aggregation(8), "edge-k12": edge(12)}


def made(name: str, config: OfanConfig, size: Size = SMALL) -> list[np.ndarray]:
    return list(TRAFFIC[name].cases(config, size))


def sums(keys: Iterable[np.ndarray], low: int, high: int) -> int:
    return sum(int(((case >= low) & (case < high)).sum()) for case in keys)


def test_the_period_is_that_of_the_paper_s_packets() -> None:
    """4,096 B of payload, 62 B of header and a gap of 20 B at 800 Gb/s and 1 GHz: 41.78 cycles."""
    assert PERIOD == (4096 + 62 + 20) * 8 // 800 == 41


@pytest.mark.parametrize("config", SWITCHES.values(), ids=SWITCHES)
@pytest.mark.parametrize("name", TRAFFIC)
def test_all_traffic_is_of_the_switch_and_the_same_each_time(name: str, config: OfanConfig) -> None:
    cases, again = made(name, config), made(name, config)
    assert cases
    for case, other in zip(cases, again, strict=True):
        assert case.shape[1] == config.lanes
        assert case.min() >= -1 and case.max() < config.keys
        assert (case == other).all()


@pytest.mark.parametrize("config", SWITCHES.values(), ids=SWITCHES)
@pytest.mark.parametrize("name", LINE_RATE)
def test_a_lane_brings_at_most_one_data_packet_and_one_ack_a_period(
    name: str, config: OfanConfig
) -> None:
    for case in made(name, config):
        assert len(case) % PERIOD == 0
        periods = case.reshape(-1, PERIOD, config.lanes)
        data = ((periods >= 0) & (periods < config.destinations)).sum(axis=1)
        acks = (periods >= config.destinations).sum(axis=1)
        assert data.max() <= 1 and acks.max() <= 1


@pytest.mark.parametrize("name", ["permutation", "drift", "in-step"])
def test_a_lane_of_an_edge_switch_has_one_flow_out_and_one_in(name: str) -> None:
    config = edge(16)
    cases = made(name, config)
    for case in cases:
        for lane in case.T:
            found = np.unique(lane[lane >= 0])
            assert sum(found < config.destinations) <= 1
            assert sum(found >= config.destinations) <= 1
    periods = sum(len(case) for case in cases) // PERIOD
    most = 2 * periods * config.lanes
    assert 0.97 * most < sums(cases, 0, config.keys) <= most, "few stay below the switch"


def test_phases() -> None:
    rng = np.random.default_rng(1)
    data, acks = np.full((50, 3), 7), np.full((50, 3), 9)

    def phases(key: int, **how: bool) -> np.ndarray:
        keys = at_line_rate(rng, data, acks, **how).reshape(50, PERIOD, 3)
        return (keys == key).argmax(axis=1)

    still, drift, step = phases(7), phases(7, drift=True), phases(9, in_step=True)
    assert (still == still[0]).all() and len(set(still[0])) == 3
    assert len(np.unique(drift)) > 30
    assert (step == step[0, 0]).all()


def test_no_host_sends_to_itself_and_none_is_left_out() -> None:
    for config in (edge(4), aggregation(4)):
        for seed in range(20):
            hosts = Hosts(config, np.random.default_rng(seed), 4)
            drawn = hosts.permutation()
            assert sorted(drawn) == list(range(16))
            assert (drawn[hosts.host] != hosts.host).all()


def test_an_aggregation_switch_sees_all_hosts_of_its_pod_in_turn() -> None:
    hosts = Hosts(aggregation(8), np.random.default_rng(3), 8)
    assert sorted(hosts.host[:4].ravel()) == list(range(hosts.own * 16, hosts.own * 16 + 16))
    assert (hosts.host[:4] == hosts.host[4:]).all()
    assert (hosts.host // 4 == hosts.own * 4 + np.arange(4)).all(), "a lane is an edge switch"


def test_keys_leave_out_what_does_not_go_up() -> None:
    config = aggregation(8)
    hosts = Hosts(config, np.random.default_rng(3), 1)
    pods = np.arange(8) * 16
    wanted = [-1 if p == hosts.own else p - (p > hosts.own) for p in range(8)]
    assert hosts.keys(pods, 0).tolist() == wanted
    assert hosts.keys(pods, 1).tolist() == [key if key < 0 else key + 7 for key in wanted]


def test_a_ring_has_two_keys_at_a_switch() -> None:
    for config in SWITCHES.values():
        for case in made("ring", config):
            found = np.unique(case[case >= 0])
            assert len(found) == 2
            assert found[0] < config.destinations <= found[1]


def test_all_to_all_moves_on_by_one_host_a_period() -> None:
    """All data of a period goes to 1 or 2 edge switches, and to each other one in its time."""
    config = edge(8)
    for case in made("all-to-all", config, Size(cases=2, periods=1, drifts=127, cycles=1)):
        data = case.reshape(127, PERIOD, 4)
        seen = set()
        for period in data:
            found = set(period[(period >= 0) & (period < 32)])
            assert len(found) <= 2
            seen |= found
        assert len(seen) == 31, "all edge switches but the own one"


def test_moe_is_skewed() -> None:
    """1,024 hosts: the most popular one of a case gets 10 % of data, ACKs are even."""
    config = edge(16)
    for case in made("moe", config, Size(cases=3, periods=1, drifts=200, cycles=1)):
        data = case[(case >= 0) & (case < config.destinations)]
        acks = case[case >= config.destinations]
        assert np.bincount(data).max() > 0.08 * len(data)
        assert np.bincount(acks).max() < 0.04 * len(acks)


@pytest.mark.parametrize("load", [LOADS[0], 50, LOADS[-1]])
def test_random_traffic_has_its_load(load: int) -> None:
    (case,) = made(f"random-{load}", edge(16), Size(cases=1, periods=1, drifts=1, cycles=4000))
    assert (case >= 0).mean() == pytest.approx(load / 100, abs=0.01)
    assert np.bincount(case[case >= 0]).min() > 0, "every key comes"


def test_storms_leave_no_gap() -> None:
    for case in made("storm", edge(16)):
        busy = (case >= 0).all(axis=0)
        assert busy.sum() >= 7, "all lanes but those whose flow stays below the switch"
        assert (case[:, busy] < edge(16).destinations).all()


@pytest.mark.parametrize("banks", [2, 4, 8])
def test_adversaries_know_the_banks(banks: int) -> None:
    config = edge(8, engine=Engine(kind="queued-banked", banks=banks))
    one, two, same = (made(name, config)[0][0] for name in ("one-bank", "alternating", "one-key"))
    assert len(set(one)) == config.lanes and len(set(place(one, banks)[0])) == 1
    assert len(set(two)) == 2 and len(set(place(two, banks)[0])) == 1
    assert (two[:-1] != two[1:]).all()
    assert len(set(same)) == 1


def test_quick_is_quick() -> None:
    packets = sum(sums(made(name, edge(64), QUICK), 0, 4096) for name in TRAFFIC)
    assert packets < 500_000
