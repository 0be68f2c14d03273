"""The nodes and links of the reference engine, wired up as `models.fabric.network` numbers them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.mix import second_switches
from models.fabric.network import Failures, Tree, tree_of
from models.fabric.reference_queue import Queue
from models.fabric.schemes.base import Switch, Top
from models.fabric.streams import Kind, Stream


@dataclass
class Fabric:
    """All nodes: hosts 0 to n - 1, then edges, aggregations and tops; and all links."""

    tree: Tree
    links: list[Queue]
    """By link number."""
    edges: list[Switch]
    aggs: list[Switch]
    tops: list[Top]
    ranks: list[list[int]] = field(default_factory=list)
    """[switch][input port]: which of two packets that arrive at one time comes first."""

    def __post_init__(self) -> None:
        self.switches: list[Switch | Top] = [*self.edges, *self.aggs, *self.tops]

    def rank(self, link: Queue) -> int:
        """Rank of the input port at the end of a link (0 at a host)."""
        switch = link.end - self.tree.hosts
        return self.ranks[switch][link.port] if switch >= 0 else 0

    def each(self, name: str) -> np.ndarray:
        """An attribute of all links, int64 [stages, n]."""
        values = [getattr(link, name) for link in self.links]
        return np.array(values, np.int64).reshape(len(self.tree.stages), self.tree.hosts)

    def is_balanced(self) -> bool:
        """Whether every switch has sent on, or lost, as many packets as came in."""
        balance = [0] * (self.tree.hosts + len(self.switches))
        for link in self.links:
            balance[link.end] += link.packets
        for node, switch in enumerate(self.switches, self.tree.hosts):
            ways = switch.downlinks + (switch.uplinks if isinstance(switch, Switch) else [])
            balance[node] -= sum(link.packets + link.lost for link in ways)
        return not any(balance[self.tree.hosts :])


def build(config: FabricConfig, failures: Failures | None) -> Fabric:
    """Make the nodes and links of a configuration."""
    tree = tree_of(config)
    second = second_switches(config)

    def switches(kind: Kind, chosen: np.ndarray) -> list[Switch]:
        names = [config.mix_scheme if other else config.scheme for other in chosen.tolist()]
        return [
            Switch(config, tree, failures, kind, number, str(name))
            for number, name in enumerate(names)
        ]

    fabric = Fabric(
        tree,
        [Queue(config, link, link // tree.hosts) for link in range(tree.links)],
        switches(Kind.EDGE, second[0]),
        switches(Kind.AGG, second[1]),
        [Top(tree, number) for number in range(tree.tops)],
    )
    for number in range(len(fabric.switches)):
        rank = list(range(tree.radix))
        if config.ties == "shuffled":
            order = Stream(config.seed, Kind.TIES, number).shuffled(tree.radix)
            for place, port in enumerate(order):
                rank[port] = place
        fabric.ranks.append(rank)
    _wire(fabric)
    return fabric


def _wire(fabric: Fabric) -> None:
    """Say where each link begins and ends."""
    tree = fabric.tree
    n, w, k, three = tree.hosts, tree.half, tree.radix, tree.levels == 3
    first_agg, first_top = n + tree.edges, n + tree.edges + tree.aggs

    def lead(stage: int, index: int, end: int, port: int) -> Queue:
        link = fabric.links[stage * n + index]
        link.end, link.port = end, port
        return link

    for number, edge in enumerate(fabric.edges):
        pod = tree.pod_of(number)
        for port in range(w):
            host = w * number + port
            lead(0, host, n + number, port)
            edge.downlinks.append(lead(len(tree.stages) - 1, host, host, 0))
            agg = w * pod + port
            end = first_agg + agg if three else first_top + port
            edge.uplinks.append(lead(1, host, end, number % w if three else number))
            edge.above.append(fabric.aggs[agg] if three else fabric.tops[port])
    for number, agg in enumerate(fabric.aggs):
        pod, u = divmod(number, w)
        for port in range(w):
            agg.downlinks.append(lead(4, w * number + port, n + w * pod + port, w + u))
            core = w * u + port
            agg.uplinks.append(lead(2, w * number + port, first_top + core, pod))
            agg.above.append(fabric.tops[core])
    for number, top in enumerate(fabric.tops):
        for pod in range(k):
            if three:
                u, v = divmod(number, w)
                link = lead(3, k * number + pod, first_agg + w * pod + u, w + v)
            else:
                link = lead(2, k * number + pod, n + pod, w + number)
            top.downlinks.append(link)
