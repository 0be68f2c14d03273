"""ρ_max against a walk over every path of small trees."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction

import numpy as np
import pytest

from models.fabric.config import FabricConfig
from models.fabric.flows import Flows, flows_between
from models.fabric.network import Failures, draw_failures, failures_of, tree_of
from models.fabric.rho import rho_max
from models.fabric.traffic import all_to_all, permutation
from models.fabric.traffic_moe import moe


def paths(config: FabricConfig, failures: Failures, source: int, destination: int):
    """Every shortest path that is up, as tuples of links, by trying all."""
    tree = tree_of(config)
    w = tree.half
    one, other = tree.edge_of(source), tree.edge_of(destination)
    if one == other:
        return []
    found = []
    for u in range(w):
        if not (failures.edge_up[one, u] and failures.edge_up[other, u]):
            continue
        ends = (("up", one, u), ("down", other, u))
        if tree.levels == 2 or tree.pod_of(one) == tree.pod_of(other):
            found.append(ends)
            continue
        here, there = (int(tree.pod_of(e)) * w + u for e in (one, other))
        found += [
            (ends[0], ("core up", here, v), ("core down", there, v), ends[1])
            for v in range(w)
            if failures.agg_up[here, v] and failures.agg_up[there, v]
        ]
    return found


def walked(config: FabricConfig, flows: Flows, failures: Failures) -> Fraction:
    sent = np.bincount(flows.source, flows.packets)
    load: dict[object, Fraction] = defaultdict(Fraction)
    for source, destination, packets in zip(
        flows.source.tolist(), flows.destination.tolist(), flows.packets.tolist(), strict=True
    ):
        weight = Fraction(packets, int(sent[source]))
        ways = paths(config, failures, source, destination)
        firsts = {way[0] for way in ways}
        for way in ways:
            share = Fraction(1, len(ways))
            if config.rate_balance == "hops":
                share = Fraction(1, len(firsts)) / sum(other[0] == way[0] for other in ways)
            for link in way:
                load[link] += share * weight
    return min(Fraction(1), 1 / max(load.values()))


@pytest.mark.parametrize("balance", ["paths", "hops"])
@pytest.mark.parametrize(("radix", "levels"), [(4, 3), (6, 3), (8, 3), (6, 2)])
def test_agrees_with_all_paths(radix: int, levels: int, balance: str) -> None:
    below = 0
    for seed in range(1 if radix == 8 else 3):
        config = FabricConfig(
            radix=radix, levels=levels, link_failure=0.2, seed=seed, rate_balance=balance
        )
        failures = draw_failures(config)
        traffics = [permutation(config, seed, 7)]
        if radix == 8:
            traffics.append(moe(config, seed, scale=0.01))
        else:
            traffics.append(all_to_all(config, seed, host_packets=99))
        for flows in traffics:
            rho = rho_max(config, flows, failures)
            assert rho == walked(config, flows, failures)
            below += rho < 1
    assert below


def test_all_links_up_is_line_rate() -> None:
    config = FabricConfig(radix=6)
    flows = permutation(config, 1, 9)
    tree = tree_of(config)
    up = failures_of(tree, np.ones((tree.edges, 3), bool), np.ones((tree.aggs, 3), bool))
    assert rho_max(config, flows, up) == rho_max(config, flows, None) == 1


def test_one_link_of_an_edge_down() -> None:
    """Three hosts of an edge share two uplinks, and the path through each is one of two."""
    config = FabricConfig(radix=6, levels=2)
    tree = tree_of(config)
    edge_up = np.ones((tree.edges, 3), bool)
    edge_up[0, 0] = False
    failures = failures_of(tree, edge_up, np.ones((0, 3), bool))
    hosts = np.arange(tree.hosts)
    shift = flows_between(tree.hosts, hosts, np.roll(hosts, -3), np.full(tree.hosts, 5))
    assert rho_max(config, shift, failures) == Fraction(2, 3)
