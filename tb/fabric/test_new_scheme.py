"""The worked example of docs/fabric/schemes.md, a load balancer that the paper does not have."""

from __future__ import annotations

import numpy as np
import pytest

from models.fabric import engine
from models.fabric.config import FabricConfig
from models.fabric.reference import simulate
from models.fabric.reference_links import build
from models.fabric.result import differences
from models.fabric.schemes import SCHEMES
from models.fabric.streams import Kind, Stream
from tb.fabric.shuffled_rr import AtSwitch
from tb.fabric.small import check_trace, permutation
from tb.fabric.test_schemes_queues import packet


def test_its_rule() -> None:
    scheme = AtSwitch(build(FabricConfig(radix=8, seed=2), None).edges[5])
    stream = Stream(2, Kind.EDGE, 5)
    for _ in range(10):
        picks = [scheme.pick(packet(), 0, [0, 1, 2, 3]) for _ in range(4)]
        assert picks == stream.shuffled(4)


def test_its_rule_where_links_are_down() -> None:
    scheme = AtSwitch(build(FabricConfig(radix=8), None).edges[5])
    scheme.left = [3, 1]
    assert scheme.pick(packet(), 0, [0, 1]) == 1
    assert scheme.left == [3]
    assert scheme.pick(packet(), 0, [0, 1]) in {0, 1}
    assert len(scheme.left) == 3  # a new round


def test_it_runs_through_the_hook() -> None:
    config = FabricConfig(radix=4, scheme="simple-rr", seed=1)
    traffic = permutation(config, 12)
    result = simulate(config, traffic, trace=True, switches=AtSwitch)
    check_trace(config, traffic, result)


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give the scheme a name, as a line in `SCHEMES` would."""
    monkeypatch.setitem(SCHEMES, "shuffled-rr", ("tb.fabric.shuffled_rr", "switch"))


@pytest.mark.usefixtures("named")
def test_it_runs_by_name() -> None:
    config = FabricConfig(radix=4, scheme="shuffled-rr", seed=1)
    other = FabricConfig(radix=4, scheme="rsq", seed=1)
    traffic = permutation(config, 12)
    by_name = simulate(config, traffic)
    assert not differences(by_name, simulate(other, traffic, switches=AtSwitch))


@pytest.mark.usefixtures("named")
@pytest.mark.parametrize("failure", [0, 0.2])
def test_its_kernel_is_its_class(failure: float) -> None:
    config = FabricConfig(radix=6, scheme="shuffled-rr", seed=4, link_failure=failure)
    traffic = permutation(config, 30)
    one = engine.simulate(config, traffic, trace=True)
    assert differences(one, simulate(config, traffic, trace=True)) == []


def test_it_unsticks_flows() -> None:
    """Where no ACKs come between, Simple RR's queues grow with the message, and these do not."""
    largest = {}
    for hook in (None, AtSwitch):
        for packets in (16, 64):
            config = FabricConfig(radix=8, scheme="simple-rr", acks=False)
            result = simulate(config, permutation(config, packets), switches=hook)
            largest[hook, packets] = result.largest.max()
    assert largest[None, 64] > 3 * largest[None, 16]
    assert largest[AtSwitch, 64] < 2.5 * largest[AtSwitch, 16]
    assert largest[AtSwitch, 64] < 0.7 * largest[None, 64]


def test_uplinks_of_an_edge_switch_differ_by_one_packet_a_round() -> None:
    config = FabricConfig(radix=8, scheme="simple-rr", acks=False)
    result = simulate(config, permutation(config, 16), switches=AtSwitch)
    assert np.ptp(result.data[1].reshape(32, 4), axis=1).max() <= 1
