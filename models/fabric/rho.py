"""ρ_max: how fast hosts may send so that perfect balance would keep to every link (section 2.2)."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.network import Failures, tree_of

_NEAR = 1e-9
"""Links whose load in floating point is this near to the largest are worked out exactly."""
_PAIRS = 4096
"""Pairs of edge switches that are looked at in one go."""


def rho_max(config: FabricConfig, flows: Flows, failures: Failures | None) -> Fraction:
    """Return the highest share of the line rate at which all hosts could send, exactly, at most 1.

    A host splits its rate over its flows in proportion to their packets, and each flow is spread
    as `rate_balance` says: "paths", equally over all its valid shortest paths, or "hops", equally
    over the valid uplinks of each switch. ρ_max is the inverse of the largest load that this puts
    on a link between switches at line rate. ACKs do not count, as they do not where all links are
    up and ρ_max is 1; nor do links to hosts, which no load balancer can relieve.
    """
    if failures is None or not len(flows):
        return Fraction(1)
    spread = _Spread(config, flows, failures)
    loads = spread.loads()
    highest = max(float(load.max()) for load in loads)
    if highest <= 1 - _NEAR:
        return Fraction(1)
    exact = Fraction(0)
    for layer, load in enumerate(loads):
        for link in np.argwhere(load >= highest * (1 - _NEAR)):
            exact = max(exact, spread.exact(layer, *map(int, link)))
    return min(Fraction(1), 1 / exact)


class _Spread:
    """Traffic between pairs of edge switches, and how it spreads over the links."""

    def __init__(self, config: FabricConfig, flows: Flows, failures: Failures) -> None:
        self.tree = tree = tree_of(config)
        self.failures = failures
        self.by_hops = config.rate_balance == "hops"
        self.of_host = np.bincount(flows.source, flows.packets, tree.hosts).astype(np.int64)
        self.source, self.packets = flows.source, flows.packets
        one, other = tree.edge_of(flows.source), tree.edge_of(flows.destination)
        pair = one.astype(np.int64) * tree.edges + other
        pair[one == other] = -1  # these cross no link between switches
        self.flow_pair = pair
        self.pairs = np.unique(pair[pair >= 0])
        there = pair >= 0
        place = np.searchsorted(self.pairs, pair[there])
        weight = flows.packets / self.of_host[flows.source]
        self.weights = np.bincount(place, weight[there], len(self.pairs))

    def shares(self, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of each pair, int64 arrays: paths that begin with each uplink u and go on with each
        uplink v [pairs, w, w] (0 or 1; in two levels and inside a pod [pairs, w, 1]), paths
        through u, and uplinks u that have any."""
        tree, failures = self.tree, self.failures
        one, other = pairs // tree.edges, pairs % tree.edges
        bits = np.arange(tree.half, dtype=np.uint64)
        first = (failures.edge_valid[one, other][:, None] >> bits & np.uint64(1)).astype(np.int64)
        paths = first[:, :, None]
        if tree.levels == 3:
            here, there = tree.pod_of(one), tree.pod_of(other)
            agg = here[:, None] * tree.half + np.arange(tree.half)
            masks = failures.agg_valid[agg, there[:, None]]
            second = (masks[:, :, None] >> bits & np.uint64(1)).astype(np.int64)
            # Inside a pod the agg turns round: one path an uplink, through no core.
            second[here == there] = np.eye(1, tree.half, dtype=np.int64)
            paths = paths * second
        through = paths.sum(2)
        return paths, through, (through > 0).sum(1)

    def loads(self) -> list[np.ndarray]:
        """Loads in floating point: edges' uplinks [edges, w] and aggs' uplinks [aggs, w] on the way
        up, then the same links on the way down."""
        tree = self.tree
        shape = {0: (tree.edges, tree.half), 1: (max(1, tree.aggs), tree.half)}
        up, core_up, down, core_down = (np.zeros(shape[i % 2]) for i in range(4))
        uplinks = np.arange(tree.half)
        for at in range(0, len(self.pairs), _PAIRS):
            pairs = self.pairs[at : at + _PAIRS]
            paths, through, used = self.shares(pairs)
            weights = self.weights[at : at + _PAIRS]
            if self.by_hops:
                first = (through > 0) * (weights / used)[:, None]
            else:
                first = through * (weights / through.sum(1))[:, None]
            one, other = pairs // tree.edges, pairs % tree.edges
            np.add.at(up, one, first)
            np.add.at(down, other, first)
            far = tree.pod_of(one) != tree.pod_of(other)
            if tree.levels == 3 and far.any():
                second = paths[far] * (first[far] / np.maximum(1, through[far]))[:, :, None]
                for load, edge in ((core_up, one[far]), (core_down, other[far])):
                    agg = tree.pod_of(edge)[:, None] * tree.half + uplinks
                    np.add.at(load, agg, second)
        return [up, core_up, down, core_down]

    def exact(self, layer: int, switch: int, uplink: int) -> Fraction:
        """Load of one link, exactly; `layer` counts as in `loads`."""
        tree, w = self.tree, self.tree.half
        end = self.pairs % tree.edges if layer >= 2 else self.pairs // tree.edges
        if layer % 2:
            near = np.flatnonzero(tree.pod_of(end) == switch // w)
            u, v = switch % w, uplink
        else:
            near = np.flatnonzero(end == switch)
            u, v = uplink, None
        paths, through, used = self.shares(self.pairs[near])
        load = Fraction(0)
        for i, at in enumerate(near.tolist()):
            one, other = divmod(int(self.pairs[at]), tree.edges)
            if not through[i, u]:
                continue
            if v is not None and (tree.pod_of(one) == tree.pod_of(other) or not paths[i, u, v]):
                continue
            mine, every = int(through[i, u]), int(through[i].sum())
            share = Fraction(1, int(used[i])) if self.by_hops else Fraction(mine, every)
            if v is not None:
                share /= mine
            load += share * self._weight(at)
        return load

    def _weight(self, place: int) -> Fraction:
        """What a pair of edges is sent at line rate, exactly."""
        mine = np.flatnonzero(self.flow_pair == self.pairs[place])
        parts = zip(self.packets[mine], self.of_host[self.source[mine]], strict=True)
        return sum((Fraction(int(p), int(whole)) for p, whole in parts), Fraction(0))
