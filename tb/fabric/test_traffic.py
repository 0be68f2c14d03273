"""Workloads: what they must be made of, that nothing favours a host, and bad settings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netweave
from models.fabric.config import FabricConfig
from models.fabric.network import tree_of
from models.fabric.traffic import all_to_all, permutation, ring
from models.fabric.traffic_moe import moe
from models.fabric.traffic_spec import Workload, parse_size

SMALL = FabricConfig(radix=4, levels=2)
"""Eight hosts in four pods of two."""


@pytest.mark.parametrize("inter_pod", [False, True])
@pytest.mark.parametrize("config", [FabricConfig(radix=6), FabricConfig(radix=2), SMALL])
def test_a_permutation_sends_and_receives_once(config: FabricConfig, inter_pod: bool) -> None:
    tree = tree_of(config)
    flows = permutation(config, 3, 5, inter_pod=inter_pod)
    assert sorted(flows.source) == sorted(flows.destination) == list(range(tree.hosts))
    assert (flows.source != flows.destination).all()
    assert (flows.packets == 5).all()
    if inter_pod:
        pods = [tree.pod_of(tree.edge_of(end)) for end in (flows.source, flows.destination)]
        assert (pods[0] != pods[1]).all()


@pytest.mark.parametrize(("inter_pod", "others"), [(False, range(1, 8)), (True, range(2, 8))])
def test_no_destination_is_likelier(inter_pod: bool, others: range) -> None:
    """Host 0's destination over 3,000 seeds, and that of host 1 given host 0's."""
    drawn = np.array(
        [permutation(SMALL, seed, 1, inter_pod=inter_pod).destination for seed in range(3000)]
    )
    counts = np.bincount(drawn[:, 0], minlength=8)
    expected = 3000 / len(others)
    assert set(np.flatnonzero(counts)) == set(others)
    assert np.abs(counts[others.start :] - expected).max() < 5 * expected**0.5
    if inter_pod:
        # Where host 0 sends to host 2, host 1 sends to 3, 4, 5, 6 or 7. Counted over all
        # permutations that leave their pods, 3 is less likely than the others: 4 of 28, not 6.
        given = np.bincount(drawn[drawn[:, 0] == 2][:, 1], minlength=8)
        share = given[3] / given.sum()
        assert abs(share - _share_of_three()) < 0.1


def _share_of_three() -> float:
    from itertools import permutations

    pods = [h // 2 for h in range(8)]
    fits = [
        p
        for p in permutations(range(8))
        if p[0] == 2 and all(pods[h] != pods[p[h]] for h in range(8))
    ]
    return sum(p[1] == 3 for p in fits) / len(fits)


def test_seeds_give_different_traffic_and_one_seed_the_same() -> None:
    config = FabricConfig(radix=8)
    for make in (permutation, lambda c, s, p: ring(c, s, p)):
        one, again, other = (make(config, seed, 1).destination for seed in (1, 1, 2))
        assert np.array_equal(one, again)
        assert not np.array_equal(one, other)


def test_a_large_permutation() -> None:
    flows = permutation(FabricConfig(radix=64), 0, 256)
    assert len(flows) == 65536
    assert len(set(flows.destination.tolist())) == 65536


@pytest.mark.parametrize("order", ["rotated", "random", "same"])
def test_all_to_all_has_every_pair_once(order: str) -> None:
    flows = all_to_all(FabricConfig(radix=4), 1, packets=2, order=order)
    pairs = set(zip(flows.source.tolist(), flows.destination.tolist(), strict=True))
    assert pairs == {(s, d) for s in range(16) for d in range(16) if s != d}
    assert len(flows) == 16 * 15
    first = flows.destination[flows.source == 3][:3].tolist()
    assert order == "random" or first == {"rotated": [4, 5, 6], "same": [0, 1, 2]}[order]


def test_all_to_all_orders_differ_by_host_and_seed() -> None:
    one, other = (all_to_all(FabricConfig(radix=4), s, packets=1, order="random") for s in (1, 2))
    rows = one.destination.reshape(16, 15)
    assert len({tuple(row) for row in rows.tolist()}) == 16
    assert not np.array_equal(one.destination, other.destination)


def test_a_hosts_packets_are_dealt_evenly() -> None:
    flows = all_to_all(FabricConfig(radix=4), 1, host_packets=100)
    sums = np.bincount(flows.source, flows.packets)
    assert (sums == 100).all()
    assert set(flows.packets.tolist()) == {6, 7}


def test_rings_go_through_servers_of_eight() -> None:
    config = FabricConfig(radix=8)
    flows = ring(config, 5, 119, steps=3)
    first = slice(0, 128)
    following = dict(
        zip(flows.source[first].tolist(), flows.destination[first].tolist(), strict=True)
    )
    host, seen = 0, []
    for _ in range(16):
        seen.append(host)
        assert host % 8 == 0  # the same rank of every server
        host = following[host]
    assert host == 0
    assert len(set(seen)) == 16
    # A step begins with the flow that brought the host the step before it.
    for number in range(128, 384):
        before = int(np.flatnonzero(flows.sent == flows.trigger[number])[0])
        assert flows.destination[before] == flows.source[number]
        assert before // 128 == number // 128 - 1
    assert (flows.trigger[first] == -1).all()


@pytest.mark.parametrize(("eplb", "skew"), [(False, 1.48), (True, 1.13)])
def test_the_moe_matrix_has_the_stated_skew(eplb: bool, skew: float) -> None:
    config = FabricConfig(radix=8, payload_bytes=65536)
    for seed in (0, 1):
        flows = moe(config, seed, eplb=eplb)
        received = np.bincount(flows.destination, flows.packets)
        assert received.max() / received.mean() == pytest.approx(skew, abs=0.002)
        assert received.mean() * 65536 == pytest.approx(492e6, rel=0.002)
        assert (flows.source % 8 == flows.destination % 8).all()
        assert (flows.source // 8 != flows.destination // 8).all()
        assert len(flows) == 128 * 15


def test_the_moe_matrix_scales_and_differs_by_seed() -> None:
    config = FabricConfig(radix=8)
    small, large = (moe(config, 1, scale=scale).packets.sum() for scale in (0.1, 1.0))
    assert large / small == pytest.approx(10, rel=0.01)
    assert not np.array_equal(moe(config, 1).packets, moe(config, 2).packets)


BAD: list[tuple[Any, str]] = [
    (lambda: permutation(SMALL, 0, 0), "packets must be an integer from 1 to"),
    (lambda: permutation(SMALL, -1, 1), "seed must be an integer from 0 to"),
    (lambda: all_to_all(SMALL, 0), "packets or host_packets must be given"),
    (lambda: all_to_all(SMALL, 0, packets=1, host_packets=7), "packets or host_packets must be"),
    (lambda: all_to_all(SMALL, 0, host_packets=6), "host_packets must be an integer from 7 to"),
    (lambda: all_to_all(SMALL, 0, packets=1, order="up"), "order must be one of rotated, random"),
    (lambda: ring(FabricConfig(radix=6), 0, 1), "radix must make a tree of whole servers of 8"),
    (lambda: ring(SMALL, 0, 1, stride=8), "stride must be an integer from 1 to 7, not 8"),
    (
        lambda: ring(SMALL, 0, 1, stride=1, steps=0),
        "steps must be an integer from 1 to 10000, not 0",
    ),
    (lambda: moe(SMALL, 0), "radix must make a tree of two or more whole servers of 8 hosts"),
    (lambda: moe(FabricConfig(radix=8), 0, skew=99), "skew must be at most "),
    (lambda: moe(FabricConfig(radix=8), 0, scale=0), "scale must be a number from 1e-09 to"),
    (lambda: Workload(traffic="permutatoin"), "not 'permutatoin'; did you mean permutation?"),
    (lambda: Workload(packets=1, size=3), "size must not be given beside packets"),
    (lambda: Workload(host_packets=1), "host_packets must be of all-to-all, not 'permutation'"),
    (lambda: Workload(stride=1), "stride must be of ring, not 1 for 'permutation'"),
    (lambda: Workload(scale=0.5), "scale must be of moe or moe-eplb, not 0.5 for 'permutation'"),
    (lambda: Workload(traffic="all-to-all"), "packets, size or host_packets must be given"),
    (lambda: Workload(traffic="moe", packets=1), "packets must not be given for 'moe'"),
    (lambda: Workload(size=()), "size must be a size from 1 to"),  # type: ignore[arg-type]
    (lambda: FabricConfig(scheme=[]), "scheme must be a name, not []"),  # type: ignore[arg-type]
    (lambda: FabricConfig(scheme={}), "scheme must be a name, not {}"),  # type: ignore[arg-type]
    (lambda: FabricConfig(scheme=None), "scheme must be a name, not None"),  # type: ignore[arg-type]
    (lambda: FabricConfig(scheme=""), "scheme must be one of simple-rr"),
    (lambda: FabricConfig(mix="edges", mix_scheme=""), "mix_scheme must be one of simple-rr"),
    (lambda: Workload(traffic=7), "traffic must be a name, not 7"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(("make", "message"), BAD)
def test_bad_settings_are_named(make: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        make()
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "size"),
    [("1MiB", 1 << 20), ("0.5 MB", 500_000), ("4096", 4096), (7, 7), ("2KiB", 2048)],
)
def test_sizes(text: str | int, size: int) -> None:
    assert parse_size("size", text) == size


@pytest.mark.parametrize("text", ["", "MiB", "1Mi", "0", "1.5", "x", "1e30", True, -1, [1], {}])
def test_bad_sizes(text: object) -> None:
    with pytest.raises((ValueError, TypeError), match="size must be a size from 1 to"):
        parse_size("size", text)


def test_sizes_round_up_to_whole_packets() -> None:
    assert Workload(size=4097).flow_packets(SMALL) == 2
    assert Workload().flow_packets(SMALL) == 256


def test_a_matrix_is_read_for_the_tree(tmp_path: Path) -> None:
    file = tmp_path / "m.cm"
    file.write_text("Nodes 8\nConnections 1\n0->7 start 0 size 9000\n")
    flows = Workload(traffic=str(file)).flows(SMALL)
    assert (flows.source[0], flows.destination[0], flows.packets[0]) == (0, 7, 3)
    file.write_text("Nodes 9\nConnections 1\n0->8 start 0 size 9000\n")
    with pytest.raises(ValueError, match="m.cm:1: Nodes: must be at most the 8 hosts of the tree"):
        Workload(traffic=str(file)).flows(SMALL)


BAD_MATRICES = {
    "empty": ("Nodes 8\nConnections 0\n", "2: Connections: must be at least one flow, not '0'"),
    "late": (
        f"Nodes 8\nConnections 2\n0->1 start 0 size 1\n0->7 start {10 * 2**54} size 1\n",
        f"4: start: must be below 2**54 byte times, not '{10 * 2**54}'",
    ),
    "large": (
        f"Nodes 8\nConnections 2\n0->7 start 0 size 1\n0->7 start 0 size {2**62}\n",
        f"4: size: must make at most {2**40} packets of all flows, not '{2**62}'",
    ),
    "started twice": (
        "Nodes 8\nConnections 3\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 7\n"
        "1->2 start 0 size 1 send_done_trigger 7\n2->3 trigger 7 size 1\n"
        "trigger id 7 oneshot\n",
        "5: send_done_trigger: must be one that line 4 does not activate, as once is all it takes, "
        "not '7'",
    ),
}


@pytest.mark.parametrize("bad", BAD_MATRICES)
@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_both_engines_refuse_the_same_matrices(
    tmp_path: Path, bad: str, engine: str, capfd: Any
) -> None:
    text, message = BAD_MATRICES[bad]
    file = tmp_path / "m.cm"
    file.write_text(text)
    words = ["fabric", "run", "--k", "4", "--traffic", str(file), "--engine", engine]
    assert netweave.main(words) == 2
    err = capfd.readouterr().err
    assert f"m.cm:{message}" in err
    assert err.count("\n") == 1


def test_the_latest_start_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "m.cm"
    file.write_text(f"Nodes 8\nConnections 1\n0->7 start {10 * (2**54 - 1)} size 9000\n")
    assert Workload(traffic=str(file)).flows(SMALL).start.tolist() == [2**54 - 1]


def test_large_packets_keep_to_the_range_of_times(tmp_path: Path) -> None:
    """A packet of 1 MiB takes more than 2**20 byte times, so fewer than 2**34 of them fit."""
    file = tmp_path / "m.cm"
    file.write_text(f"Nodes 8\nConnections 1\n0->7 start 0 size {2**54}\n")
    with pytest.raises(ValueError, match=r"m\.cm:3: size: must make at most 17178\d{6} packets"):
        Workload(traffic=str(file)).flows(FabricConfig(radix=4, levels=2, payload_bytes=2**20))
