"""Which link leads where, and in which order a switch looks at its input ports."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from models.common.mix import GOLDEN, mix64
from models.fabric.kernel import Setting
from models.fabric.network import Tree
from models.fabric.streams import Kind, stream_starts


@lru_cache(2)
def wiring(tree: Tree) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each link, int64 [links]: its slot (the same links by receiver, its links from below
    together and those from above together), the input port there, and the switch, counted over
    edges, aggs and tops (0 for hosts)."""
    n, w, k = tree.hosts, tree.half, tree.radix
    i = np.arange(n)
    sender, up = i // w, i % w
    if tree.levels == 2:
        top, pod = i // k, i % k
        stages = [
            (i, up, sender),
            (up * k + sender, sender, tree.edges + up),
            (pod * w + top, w + top, pod),
            (i, i * 0, i * 0),
        ]
    else:
        pod, place = sender // w, sender % w
        agg, top = pod * w + up, w * place + up
        core, down = i // k, i % k
        below, edge = down * w + core // w, pod * w + up
        tops = tree.edges + tree.aggs
        stages = [
            (i, up, sender),
            (agg * w + place, place, tree.edges + agg),
            (top * k + pod, pod, tops + top),
            (below * w + core % w, w + core % w, tree.edges + below),
            (edge * w + place, w + place, edge),
            (i, i * 0, i * 0),
        ]
    slot = np.concatenate([stage * n + one[0] for stage, one in enumerate(stages)])
    port = np.concatenate([one[1] for one in stages])
    return slot, port, np.concatenate([one[2] for one in stages])


def port_orders(setting: Setting) -> tuple[np.ndarray, np.ndarray]:
    """Input port of each rank (uint8, flat) and rank of each input port (int64), [switches, k]."""
    tree, config = setting.tree, setting.config
    switches, k = tree.edges + tree.aggs + tree.tops, tree.radix
    order = np.tile(np.arange(k), (switches, 1))
    if config.ties == "shuffled":
        state = stream_starts(config.seed, Kind.TIES, switches)
        rows = np.arange(switches)
        for i in range(k - 1, 0, -1):
            state = state + np.uint64(GOLDEN)
            drawn = (mix64(state) >> np.uint64(32)) * np.uint64(i + 1) >> np.uint64(32)
            j = drawn.astype(np.int64)
            order[rows, j], order[:, i] = order[:, i].copy(), order[rows, j]
    return order.astype(np.uint8).ravel(), np.argsort(order, 1)
