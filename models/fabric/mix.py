"""Which switches run which of two load balancers (incremental deployment, seed section 6.4)."""

from __future__ import annotations

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.network import tree_of
from models.fabric.streams import Kind, Stream


def second_switches(config: FabricConfig) -> tuple[np.ndarray, np.ndarray]:
    """Which edge and which aggregation switches run `mix_scheme`: bool [edges], bool [aggs].

    "random": the first half of Stream(seed, MIX, 0).shuffled(edges + aggs), edges first, then
    aggregations. "pods": the first half of shuffled(pods) of the same stream, all their switches.
    """
    tree = tree_of(config)
    edges, aggs = np.zeros(tree.edges, np.bool_), np.zeros(tree.aggs, np.bool_)
    stream = Stream(config.seed, Kind.MIX, 0)
    if config.mix == "random":
        both = np.concatenate([edges, aggs])
        both[stream.shuffled(len(both))[: len(both) // 2]] = True
        edges, aggs = both[: tree.edges], both[tree.edges :]
    elif config.mix == "pods":
        chosen = np.zeros(tree.pods, np.bool_)
        chosen[stream.shuffled(tree.pods)[: tree.pods // 2]] = True
        edges = chosen[tree.pod_of(np.arange(tree.edges))]
        aggs = chosen[tree.pod_of(np.arange(tree.aggs))]
    elif config.mix == "edges":
        edges[:] = True
    elif config.mix == "aggs":
        aggs[:] = True
    return edges, aggs
