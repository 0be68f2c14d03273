"""Load balancers that rotate or hash: Simple RR, RPS, REPS, DRB, Ethereal and Ofan."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from models.common.mix import mix64
from models.fabric.config import FabricConfig
from models.fabric.network import Failures, failures_of, tree_of
from models.fabric.options import SchemeOptions
from models.fabric.reference import simulate
from models.fabric.reference_links import build
from models.fabric.result import Result
from models.fabric.schemes import ofan, reps, rps, simple_rr
from models.fabric.schemes.base import Packet
from models.fabric.schemes.paths import valid_paths
from models.fabric.streams import Kind, Stream, stream_start
from models.ofan.config import OfanConfig
from models.ofan.switch import Ofan
from models.ofan.switch import Packet as Request
from tb.fabric.small import flows, permutation
from tb.fabric.test_schemes_queues import packet, switch_of


def cores(config: FabricConfig, result: Result, flow: int, ack: bool) -> list[int]:
    """The core switch of each packet of a flow, in the order of their numbers."""
    tree, rows = tree_of(config), result.trace
    assert rows is not None
    up = (rows["link"] // tree.hosts == 2) & (rows["flow"] == flow) & (rows["ack"] == ack)
    rows = np.sort(rows[up], order="packet")
    agg, uplink = np.divmod(rows["link"] - 2 * tree.hosts, tree.half)
    return (tree.half * (agg % tree.half) + uplink).tolist()


def some_failures(config: FabricConfig) -> Failures:
    """One link down at edge 0, two at aggregation switches 1 and 6 (k = 4)."""
    edge_up, agg_up = np.ones((8, 2), np.bool_), np.ones((8, 2), np.bool_)
    edge_up[2, 0] = agg_up[1, 1] = agg_up[6, 0] = False
    return failures_of(tree_of(config), edge_up, agg_up)


def test_simple_rr_rotates() -> None:
    switch = switch_of("simple-rr", seed=3)
    start = Stream(3, Kind.EDGE, 0).below(4)
    scheme = simple_rr.AtSwitch(switch)
    found = [scheme.pick(packet(ack=i % 3 == 0), 0, [0, 1, 2, 3]) for i in range(9)]
    assert found == [(start + i) % 4 for i in range(9)]


def test_simple_rr_passes_invalid_uplinks() -> None:
    scheme = simple_rr.AtSwitch(switch_of("simple-rr"))
    scheme.pointers = [1]
    assert [scheme.pick(packet(), 0, [0, 3]) for _ in range(4)] == [3, 0, 3, 0]
    assert scheme.pick(packet(), 0, [0, 1, 2, 3]) == 1


def test_simple_rr_with_two_pointers() -> None:
    stream = Stream(5, Kind.EDGE, 0)
    starts = [stream.below(4), stream.below(4)]
    scheme = simple_rr.AtSwitch(switch_of("simple-rr", seed=5, rr_pointers="split"))
    for ack in (False, True, True, False, False):
        assert scheme.pick(packet(ack=ack), 0, [0, 1, 2, 3]) == starts[ack]
        starts[ack] = (starts[ack] + 1) % 4


def test_rps_hashes_the_entropy() -> None:
    switch = switch_of("rps")
    scheme = rps.AtSwitch(switch)
    found = [scheme.pick(packet(tag=entropy), 0, [0, 1, 3]) for entropy in range(3000)]
    again = [scheme.pick(packet(tag=entropy), 9, [0, 1, 3]) for entropy in range(3000)]
    assert found == again
    assert set(Counter(found)) == {0, 1, 3}
    assert all(abs(count - 1000) < 5 * 26 for count in Counter(found).values())
    one = (mix64(7 ^ stream_start(0, Kind.EDGE, 0)) >> 32) * 3 >> 32
    assert scheme.pick(packet(tag=7), 0, [0, 1, 3]) == [0, 1, 3][one]


def test_rps_hosts_draw_for_every_packet() -> None:
    config = FabricConfig(radix=4, scheme="rps", seed=8)
    host = rps.AtHost(config, tree_of(config), None, 3)
    stream = Stream(8, Kind.HOST, 3)
    for ack in (False, True, False):
        sent = packet(ack=ack)
        host.tag(sent, 0)
        assert sent.tag == stream.draw() >> 48


def reps_host(**options: object) -> reps.AtHost:
    config = FabricConfig(radix=4, scheme="reps", options=SchemeOptions(**options))  # pyright: ignore
    return reps.AtHost(config, tree_of(config), None, 0)


def exchange(host: reps.AtHost, number: int, marked: bool = False) -> tuple[int, Packet]:
    """Send data packet `number`; return its entropy and the ACK that would come back."""
    sent = Packet(0, number, False, 0, 15, 4178, marked=marked)
    host.tag(sent, 0)
    ack = Packet(0, number, True, 15, 0, 84, answers=sent)
    reps_host().tag(ack, 0)  # the receiver
    return sent.tag, ack


def test_reps_recycles_the_oldest_entropy() -> None:
    host = reps_host(reps_warmup_packets=3)
    early = [exchange(host, number) for number in range(3)]
    for entropy, ack in early:
        assert ack.tag == entropy
        host.acknowledged(ack, 1)
    assert exchange(host, 2)[0] not in {entropy for entropy, _ in early}  # still exploring
    assert [exchange(host, number)[0] for number in (3, 4, 5)] == [e for e, _ in early]
    state = host.stream.state
    assert exchange(host, 6)[0] == mix64(host.stream.state) >> 48
    assert host.stream.state != state


def test_reps_forgets_marked_and_too_many_entropies() -> None:
    host = reps_host(reps_warmup_packets=5, reps_cache=2)
    sent = [exchange(host, number, marked=number in {1, 4}) for number in range(5)]
    for _, ack in sent:
        host.acknowledged(ack, 1)
    assert list(host.ring(0)) == [sent[2][0], sent[3][0]]
    assert exchange(host, 5)[0] == sent[2][0]


def test_reps_explores_for_one_bandwidth_delay_product() -> None:
    """The first ACK of an idle network is back after 625,332 byte times: 149.7 packets."""
    config = FabricConfig(radix=4, scheme="reps")
    assert reps.warmup_packets(config) == 150
    assert reps.warmup_packets(FabricConfig(radix=4, levels=2, scheme="reps")) == 100


def test_marks_come_from_long_queues() -> None:
    """Two hosts fill one downlink; from 2 packets of backlog on, data is marked."""
    config = FabricConfig(
        radix=6,
        jitter_ns=0,
        scheme="reps",
        options=SchemeOptions(buffer_bytes=83_560, ecn_percent=10),
    )
    seen: list[bool] = []

    class Watching(rps.AtSwitch):
        def passes(self, packet: Packet, now: int) -> None:
            if packet.ack and packet.answers:
                seen.append(packet.answers.marked)

    simulate(config, flows(config, [(0, 2), (1, 2)], 6), switches=Watching)
    assert sum(seen) == 12 - 3  # backlogs on arrival, in packets: 0, 1, 1, 2, 2, 3, …


@pytest.mark.parametrize("scheme", ["drb", "ethereal"])
def test_every_path_is_taken_equally(scheme: str) -> None:
    config = FabricConfig(radix=6, scheme=scheme, seed=1)
    traffic = flows(config, [(0, 50), (12, 3)], 27)
    result = simulate(config, traffic, trace=True)
    for flow in (0, 1):
        data = cores(config, result, flow, ack=False)
        acks = cores(config, result, flow, ack=True)
        assert data[:9] == data[9:18] == data[18:]
        assert sorted(data[:9]) == sorted(acks[:9]) == list(range(9))
        assert (data == acks) == (scheme == "ethereal")


def test_drb_follows_its_pointer() -> None:
    """Path j goes through core w·(j mod w) + ⌊j/w⌋."""
    config = FabricConfig(radix=6, scheme="drb", seed=1)
    result = simulate(config, flows(config, [(0, 50)], 12), trace=True)
    stream = Stream(1, Kind.FLOW, 0)
    for ack in (False, True):
        start = stream.below(9)
        paths = [(start + i) % 9 for i in range(12)]
        assert cores(config, result, 0, ack) == [3 * (j % 3) + j // 3 for j in paths]


def test_ethereal_follows_its_order() -> None:
    config = FabricConfig(radix=6, scheme="ethereal", seed=4)
    result = simulate(config, flows(config, [(0, 50)], 9), trace=True)
    order = Stream(4, Kind.FLOW, 0).shuffled(9)
    assert cores(config, result, 0, ack=False) == [3 * (j % 3) + j // 3 for j in order]


def test_valid_paths() -> None:
    config = FabricConfig(radix=4)
    tree = tree_of(config)
    assert valid_paths(tree, None, 0, 1) == [0]
    assert valid_paths(tree, None, 0, 2) == [0, 1]
    assert valid_paths(tree, None, 0, 4) == [0, 1, 2, 3]
    failures = some_failures(config)
    assert valid_paths(tree, failures, 4, 6) == [1]  # edge 2 has lost its uplink 0
    assert valid_paths(tree, failures, 4, 8) == [1, 3]
    assert valid_paths(tree, failures, 0, 8) == [0, 1, 2]  # agg 1 has lost its uplink 1
    assert valid_paths(tree, failures, 0, 12) == [1, 2]  # and agg 6 its uplink 0
    assert valid_paths(tree_of(FabricConfig(radix=4, levels=2)), None, 0, 7) == [0, 1]


@pytest.mark.parametrize("levels", [2, 3])
@pytest.mark.parametrize("name", ["ofan", "pofan1", "pofan2", "pofan3"])
def test_ofan_is_the_golden_switch(name: str, levels: int) -> None:
    """The switch of the test is set up by hand, with the numbers of section 4."""
    config = FabricConfig(radix=8, levels=levels, scheme=name, seed=6)
    fabric = build(config, None)
    tree = fabric.tree
    rng = np.random.default_rng(1)
    cases = [(fabric.edges[3], 3, tree.edges)]
    if levels == 3:
        cases.append((fabric.aggs[9], tree.edges + 9, 7))
    for switch, place, destinations in cases:
        golden = Ofan(
            OfanConfig(
                lanes=6 if name == "pofan3" else 4,
                uplinks=4,
                destinations=destinations,
                pipe_lanes=None if name == "ofan" else int(name[-1]),
                init=stream_start(6, Kind.POINTERS, place),
            )
        )
        scheme = ofan.AtSwitch(switch)
        for _ in range(300):
            host, port = int(rng.integers(tree.hosts)), int(rng.integers(4))
            if switch.is_above(host):
                continue
            there = host // 4 if destinations != 7 else host // 16 - (host // 16 > 2)
            ack = bool(rng.random() < 0.5)
            found = scheme.pick(packet(host, ack=ack, port=port), 0, [0, 1, 2, 3])
            assert found == golden.serve(Request(port, there, int(ack)))


def test_ofan_spreads_each_destination_over_all_uplinks() -> None:
    config = FabricConfig(radix=8, scheme="ofan", seed=2)
    traffic = permutation(config, 16)
    result = simulate(config, traffic, trace=True)
    rows, n = result.trace, 128
    assert rows is not None
    up = rows[rows["link"] // n == 1]
    host = np.where(up["ack"], traffic.source[up["flow"]], traffic.destination[up["flow"]])
    edge, uplink = np.divmod(up["link"] - n, 4)
    key = (edge * 32 + host // 4) * 2 + up["ack"]
    counts = np.bincount(key * 4 + uplink, minlength=32 * 32 * 2 * 4).reshape(-1, 4)
    assert counts.sum() == len(up)
    assert (counts.max(1) - counts.min(1)).max() <= 1


def test_ofan_knows_where_links_are_down() -> None:
    config = FabricConfig(radix=4, scheme="ofan", seed=3)
    failures = some_failures(config)
    fabric = build(config, failures)
    scheme = ofan.AtSwitch(fabric.edges[2])
    ports = {scheme.pick(packet(15), 0, [1]) for _ in range(4)}
    assert ports == {1}
    agg = ofan.AtSwitch(fabric.aggs[1])
    assert {agg.pick(packet(15), 0, [0]) for _ in range(4)} == {0}
    whole = ofan.AtSwitch(fabric.edges[3])
    assert {whole.pick(packet(15), 0, [0, 1]) for _ in range(4)} == {0, 1}
