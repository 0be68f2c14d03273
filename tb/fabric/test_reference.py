"""The reference engine against times worked out by hand, and what it must refuse."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from models.fabric import reference
from models.fabric.config import FabricConfig
from models.fabric.network import failures_of, tree_of
from models.fabric.reference import ConservationError, Engine, simulate
from models.fabric.result import Result, differences
from models.fabric.schemes.base import Packet, SwitchScheme
from models.fabric.streams import Kind, Stream
from models.ofan.bound import completion_times
from tb.fabric.small import check_trace, flows, permutation

DATA, ACK, GAP, LATENCY = 4158, 64, 20, 50_000
TIME = DATA + GAP
"""T of a data packet, byte times of 10 ps."""

FAR = {"radix": 4, "jitter_ns": 0, "scheme": "rsq"}


def nanoseconds(config: FabricConfig, result: Result) -> Fraction:
    assert result.completion is not None
    return result.completion * config.byte_ps / 1000


@pytest.mark.parametrize(
    ("levels", "pair", "hops"),
    [(3, (0, 1), 2), (3, (0, 2), 4), (3, (0, 15), 6), (2, (0, 1), 2), (2, (0, 7), 4)],
)
def test_one_packet(levels: int, pair: tuple[int, int], hops: int) -> None:
    config = FabricConfig(**FAR, levels=levels)
    result = simulate(config, flows(config, [pair], 1), trace=True)
    there = hops * (DATA + LATENCY)
    assert result.last_data == there
    assert result.finish.tolist() == [there + hops * (ACK + LATENCY)]
    assert (result.first, result.begin.tolist()) == (0, [0])
    assert result.packet_hops == 2 * hops
    assert result.trace is not None
    data = np.sort(result.trace[~result.trace["ack"]]["start"])
    assert data.tolist() == [hop * (DATA + LATENCY) for hop in range(hops)]


def test_without_acks_a_flow_ends_with_its_data() -> None:
    config = FabricConfig(**FAR, acks=False)
    result = simulate(config, flows(config, [(0, 15)], 3))
    assert result.finish.tolist() == [2 * TIME + 6 * (DATA + LATENCY)]
    assert result.packet_hops == 18


def two_to_one(**changes: object) -> Result:
    """Hosts 0 and 1 send one packet each to host 2 of the same edge switch, at time 0."""
    config = FabricConfig(radix=6, jitter_ns=0, scheme="rsq", acks=False, **changes)  # pyright: ignore
    return simulate(config, flows(config, [(0, 2), (1, 2)], 1), trace=True)


def test_two_packets_for_one_link() -> None:
    result = two_to_one()
    first = 2 * (DATA + LATENCY)
    assert result.finish.tolist() == [first, first + TIME]
    assert result.largest[5].tolist() == [0, 0, 2 * TIME] + 51 * [0]
    assert result.area.tolist() == [0, 0, 0, 0, 0, 4 * TIME**2]
    assert result.data[5, 2] == result.packets[5, 2] == 2


def test_ties_by_a_shuffled_order_of_ports() -> None:
    winners = set()
    for seed in range(6):
        result = two_to_one(ties="shuffled", seed=seed)
        order = Stream(seed, Kind.TIES, 0).shuffled(6)
        assert result.finish.argmin() == (order.index(0) > order.index(1))
        winners.add(int(result.finish.argmin()))
    assert winners == {0, 1}


def test_loss_where_the_buffer_is_small() -> None:
    whole = two_to_one(buffer_bytes=2 * TIME)
    assert not whole.lost.any()
    result = two_to_one(buffer_bytes=2 * TIME - 1)
    assert result.lost.sum() == result.lost[5, 2] == 1
    assert result.finish.tolist() == [2 * (DATA + LATENCY), -1]
    assert result.completion is None
    assert result.end == result.last_data == 2 * (DATA + LATENCY)
    assert result.trace is not None
    assert result.trace["start"][-1] == -1
    assert result.largest[5, 2] == result.packets[5, 2] * TIME == TIME


def test_a_lost_packet_is_not_acknowledged() -> None:
    config = FabricConfig(radix=6, jitter_ns=0, scheme="rsq", buffer_bytes=TIME)
    result = simulate(config, flows(config, [(0, 2), (1, 2)], 4))
    sent, lost = result.packets[0].sum(), result.lost.sum()
    assert lost > 0
    assert sent == 8 + 8 - lost
    assert (result.finish[1], result.finish[0] > 0) == (-1, True)


@pytest.mark.parametrize("packets", [1, 10, 77, 78, 79, 120])
@pytest.mark.parametrize("scheme", ["rsq", "ofan"])
def test_the_bound_of_appendix_a_is_never_beaten(scheme: str, packets: int) -> None:
    config = FabricConfig(radix=4, jitter_ns=0, scheme=scheme)
    result = simulate(config, flows(config, [(0, 15), (15, 0)], packets))
    bound = completion_times(packets).bound
    assert bound <= nanoseconds(config, result) <= bound * Fraction(1001, 1000)
    assert nanoseconds(config, result) == bound or packets > 10


def test_the_bound_of_appendix_a_is_met() -> None:
    """As the appendix does: the best of many runs of two opposite flows, here three of them."""
    times = []
    for seed in (43, 44, 45):
        config = FabricConfig(**FAR, seed=seed)
        result = simulate(config, flows(config, [(0, 15), (15, 0)], 256))
        times.append(float(nanoseconds(config, result)))
    assert 17_056.94 <= min(times) <= 17_056.94 * (1 + 1e-4)


SCHEMES = ["simple-rr", "jsq", "conga", "choice", "drill", "dlb", "sglb", "rps", "rsq", "reps"]
SCHEMES += ["ar", "drb", "ethereal", "pofan1", "ofan"]


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_packet_takes_a_path_in_time(scheme: str, levels: int) -> None:
    config = FabricConfig(radix=4, levels=levels, scheme=scheme, ties="shuffled", seed=3)
    traffic = permutation(config, 12)
    result = simulate(config, traffic, trace=True)
    check_trace(config, traffic, result)
    assert result.completion is not None
    assert not differences(result, simulate(config, traffic, trace=True))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_no_packet_takes_a_link_that_is_down(scheme: str) -> None:
    config = FabricConfig(radix=4, scheme=scheme, seed=5)
    tree = tree_of(config)
    edge_up, agg_up = np.ones((8, 2), np.bool_), np.ones((8, 2), np.bool_)
    edge_up[0, 0] = agg_up[1, 1] = agg_up[6, 0] = False
    failures = failures_of(tree, edge_up, agg_up)
    traffic = permutation(config, 12, seed=1)
    result = simulate(config, traffic, failures=failures, trace=True)
    check_trace(config, traffic, result)
    down = [16 + 0, 32 + 2 * 1 + 1, 32 + 2 * 6 + 0]  # up
    down += [64 + 2 * 0 + 0, 48 + 4 * 3 + 0, 48 + 4 * 0 + 3]  # A→E of agg 0; C→A of cores 3, 0
    assert not result.packets.reshape(-1)[down].any()
    whole = simulate(config, traffic)
    assert whole.packets.reshape(-1)[down].all()


def test_failures_are_drawn_from_the_configuration() -> None:
    config = FabricConfig(radix=4, scheme="ofan", link_failure=0.2, seed=1)
    traffic = permutation(config, 8)
    result = simulate(config, traffic)
    assert (result.packets[1] == 0).any()
    assert result.completion is not None


class Stubborn(SwitchScheme):
    """Always takes uplink 0, valid or not."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        return 0


def test_an_uplink_that_is_not_valid_is_refused() -> None:
    config = FabricConfig(**FAR)
    up = np.ones((8, 2), np.bool_)
    up[0, 0] = False
    failures = failures_of(tree_of(config), up, np.ones((8, 2), np.bool_))
    traffic = flows(config, [(0, 15)], 1)
    simulate(config, traffic, switches=Stubborn)
    with pytest.raises(ValueError, match=r"^uplink of edge switch 0 must be one of \[1\], not 0$"):
        simulate(config, traffic, failures=failures, switches=Stubborn)


def test_the_hook_replaces_one_switch() -> None:
    config = FabricConfig(**FAR)
    traffic = flows(config, [(0, 15), (4, 11)], 16)
    result = simulate(
        config, traffic, switches=lambda switch: Stubborn(switch) if not switch.number else None
    )
    assert result.data[1, :2].tolist() == [16, 0]  # edge 0
    assert result.data[1, 4:6].all()  # edge 2


def test_packets_that_vanish_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    config = FabricConfig(**FAR)
    monkeypatch.setattr(Engine, "_receive", lambda *_: None)
    with pytest.raises(ConservationError, match="^1 packets sent, but 0 received, 0 lost and 0 "):
        simulate(config, flows(config, [(0, 15)], 1))


def test_packets_that_double_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    config = FabricConfig(**FAR)
    once = Engine._put

    def twice(self: Engine, packet: Packet, *rest: object) -> None:
        once(self, packet, *rest)  # pyright: ignore
        once(self, packet, *rest)  # pyright: ignore

    monkeypatch.setattr(Engine, "_put", twice)
    with pytest.raises(ConservationError, match="^1 packets sent, but 0 received, 0 lost and 2 "):
        simulate(config, flows(config, [(0, 15)], 1))


def test_progress() -> None:
    config = FabricConfig(radix=4, scheme="rsq", acks=False)
    seen: list[int] = []
    simulate(config, permutation(config, 200), progress=seen.append)
    assert seen == [reference.PROGRESS_STEP * step for step in (1, 2, 3)]
