"""Hosts, switches, ports and links of a two- or three-level k-ary fat tree, with failures.

    level 0 hosts     n = k³/4 (two levels: k²/2), w = k/2 to an edge switch
    level 1 edges     e; host h on downlink port h mod w of edge h // w
    level 2 aggs      a = w·pod + u; the edge's uplink u leads to agg u of its pod, and comes in on
                      downlink port e mod w
    level 3 cores     c = w·u + v; uplink v of every agg number u of a pod leads to core (u, v), and
                      comes in on port pod
    two levels: edges below k/2 spines; uplink u of edge e leads to spine u and comes in on port e

Ports of edge and aggregation switches: downlinks 0 to w - 1, uplinks w to k - 1. A queue stands at
the sending end of each link. Links are numbered stage by stage, n to each stage:

    three levels   0 H→E   1 E→A   2 A→C   3 C→A   4 A→E   5 E→H
    two levels     0 H→E   1 E→S   2 S→E   3 E→H
    within a stage w·(sender) + (its up- or downlink number), a core or spine k·(sender) + port
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.streams import Kind, draws, stream_start

STAGES = {3: ("H→E", "E→A", "A→C", "C→A", "A→E", "E→H"), 2: ("H→E", "E→S", "S→E", "E→H")}


@dataclass(frozen=True)
class Tree:
    """The shape of a fat tree; all methods take integers or arrays of them."""

    radix: int
    levels: int

    @property
    def half(self) -> int:
        """w = k/2."""
        return self.radix // 2

    @property
    def pods(self) -> int:
        """k; in a two-level tree each edge switch is a pod of its own."""
        return self.radix

    @property
    def edges(self) -> int:
        """Edge switches."""
        return self.radix * (self.half if self.levels == 3 else 1)

    @property
    def aggs(self) -> int:
        """Aggregation switches; a two-level tree has none."""
        return self.edges if self.levels == 3 else 0

    @property
    def tops(self) -> int:
        """Core switches, or spines."""
        return self.half**2 if self.levels == 3 else self.half

    @property
    def hosts(self) -> int:
        """n, also the links of every stage."""
        return self.edges * self.half

    @property
    def stages(self) -> tuple[str, ...]:
        """Names of the stages of links."""
        return STAGES[self.levels]

    @property
    def links(self) -> int:
        """Links in one direction, of all stages."""
        return len(self.stages) * self.hosts

    def edge_of(self, host):
        """Edge switch above a host."""
        return host // self.half

    def pod_of(self, edge):
        """Pod of an edge or aggregation switch."""
        return edge // self.half if self.levels == 3 else edge

    def hops(self, source, destination):
        """Links from one host to another: 2, 4 or 6 (two levels: 2 or 4)."""
        one, other = self.edge_of(source), self.edge_of(destination)
        far = np.where(self.pod_of(one) == self.pod_of(other), 4, 2 * self.levels)
        return np.where(one == other, 2, far)


def tree_of(config: FabricConfig) -> Tree:
    """The tree of a configuration."""
    return Tree(config.radix, config.levels)


@dataclass(frozen=True)
class Failures:
    """Which links between switches are up, both ways, and which uplinks are therefore valid.

    A switch's valid uplinks towards an edge switch are those that begin a shortest path to it that
    is up from end to end (section 4.1, Failures).
    """

    edge_up: np.ndarray
    """bool [edges, w]: the link of each edge's uplink u."""
    agg_up: np.ndarray
    """bool [aggs, w]: the link of each agg's uplink v; [0, w] in a two-level tree."""
    edge_valid: np.ndarray
    """uint64 [edges, edges]: bit u set if uplink u of edge E is valid towards edge F. Every pair
    E ≠ F has one: instances that cut a pair off are drawn again."""
    agg_valid: np.ndarray
    """uint64 [aggs, pods]: bit v set if uplink v of the agg is valid towards a pod; an edge only
    sends to an agg whose link down to the destination edge, behind that pod's agg, is up."""


def all_up(config: FabricConfig) -> bool:
    """Whether no link can be down."""
    return config.link_failure == 0


def draw_failures(config: FabricConfig) -> Failures:
    """Draw a topology instance: each link is down with probability `link_failure`.

    Draw d of stream (seed, FAILURE, attempt) decides link d, edges' uplinks first, then aggs', each
    switch by switch; it is down if its draw is below link_failure·2**64. The first attempt of at
    most 1,000 that leaves every pair of edges connected counts. Raises `ValueError` if none does.
    """
    tree = tree_of(config)
    count = (tree.edges + tree.aggs) * tree.half
    limit = np.uint64(min(int(config.link_failure * 2**64), 2**64 - 1))
    for attempt in range(1000):
        up = draws(stream_start(config.seed, Kind.FAILURE, attempt), count) >= limit
        edge_up = up[: tree.edges * tree.half].reshape(-1, tree.half)
        agg_up = up[tree.edges * tree.half :].reshape(-1, tree.half)
        failures = failures_of(tree, edge_up, agg_up)
        cut = failures.edge_valid == 0
        np.fill_diagonal(cut, False)
        if not cut.any():
            return failures
    raise ValueError(
        f"link_failure must leave every pair of edge switches a path, not {config.link_failure!r}"
    )


def failures_of(tree: Tree, edge_up: np.ndarray, agg_up: np.ndarray) -> Failures:
    """Work out which uplinks are valid; see `Failures` for the arrays."""
    w, edges = tree.half, tree.edges
    bit = np.uint64(1) << np.arange(w, dtype=np.uint64)
    ups = (edge_up * bit).sum(1, dtype=np.uint64)  # an edge's uplinks that are up
    edge_valid = ups[:, None] & ups[None, :]
    agg_valid = np.zeros((tree.aggs, tree.pods), np.uint64)
    if tree.levels == 3:
        cores = (agg_up * bit).sum(1, dtype=np.uint64).reshape(tree.pods, w)  # [pod, u]
        shared = cores[:, :, None] & cores.T[None, :, :]  # [pod, u, other pod]: cores in common
        agg_valid[:] = shared.reshape(tree.aggs, tree.pods)
        reach = ((shared != 0) * bit[None, :, None]).sum(1, dtype=np.uint64)  # [pod, other]
        pod = tree.pod_of(np.arange(edges))
        other = pod[:, None] != pod[None, :]
        edge_valid = np.where(other, edge_valid & reach[pod[:, None], pod[None, :]], edge_valid)
    return Failures(edge_up, agg_up, edge_valid, agg_valid)
