"""Paths by number, for hosts that choose the whole way up."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.engine_state import EDGES_A_POD, PODS, PORT_BITS, TAG_SHIFT, int64
from models.fabric.kernel import Setting
from models.fabric.network import Failures, Tree
from models.fabric.schemes.base import Packet, SwitchScheme
from models.fabric.streams import Kind


def valid_paths(tree: Tree, failures: Failures | None, source: int, destination: int) -> list[int]:
    """Numbers of the paths between two hosts that are up, rising.

    Path j takes uplink j mod w of the edge switch and, between pods of a three-level tree, uplink
    ⌊j/w⌋ of the aggregation switch: w² paths, else w; under one edge switch there is path 0 alone.
    A path there and back has one number.
    """
    w, edge, other = tree.half, tree.edge_of(source), tree.edge_of(destination)
    pod, other_pod = tree.pod_of(edge), tree.pod_of(other)
    if edge == other:
        return [0]
    far = tree.levels == 3 and pod != other_pod
    paths = range(w * w if far else w)
    if failures is None:
        return list(paths)
    edge_mask = int(failures.edge_valid[edge, other])
    up = [j for j in paths if edge_mask >> j % w & 1]
    if not far:
        return up
    masks = failures.agg_valid[w * pod : w * (pod + 1), other_pod].tolist()
    return [j for j in up if masks[j % w] >> j // w & 1]


class AtSwitch(SwitchScheme):
    """Follow the path whose number is the packet's tag."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Take the path's uplink at this switch."""
        w = self.switch.tree.half
        return packet.tag % w if self.switch.kind == Kind.EDGE else packet.tag // w


def pick(
    s: Any,
    own: Any,
    own_bytes: Any,
    switch: int,
    first: int,
    to: int,
    payload: int,
    rank: int,
    time: int,
    valid: int,
) -> int:
    """The same for the fast engine: a tag is the edge's uplink, and above it the aggregation's."""
    tag = payload >> s.parameter[TAG_SHIFT]
    bits = s.parameter[PORT_BITS]
    if switch >= s.parameter[PODS] * s.parameter[EDGES_A_POD]:
        tag >>= bits
    return tag & (int64(1) << bits) - 1


def tag_bits(tree: Tree) -> int:
    """Width of such a tag."""
    return (tree.levels - 1) * (tree.half - 1).bit_length()


def flow_paths(setting: Setting) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Tags of the valid paths of flows in the order of the engine: all tags (int64), and of each
    flow the place of its first one and their number."""
    tree, flows, failures = setting.tree, setting.flows, setting.failures
    w, bits = tree.half, (tree.half - 1).bit_length()
    order = np.argsort(flows.source, kind="stable")
    source, to = flows.source[order], flows.destination[order]
    if failures is None:
        path = np.arange(w ** (tree.levels - 1))
        hops = tree.hops(source, to)
        count = np.where(hops == 2, 1, np.where(hops == 4, w, len(path)))
        return path % w | path // w << bits, np.zeros(len(flows), np.int64), count.astype(np.int64)
    known: dict[tuple[int, int], tuple[int, int]] = {}
    tags: list[int] = []
    places = np.zeros((len(flows), 2), np.int64)
    for row, (one, other) in enumerate(zip(source.tolist(), to.tolist(), strict=True)):
        pair = tree.edge_of(one), tree.edge_of(other)
        if pair not in known:
            found = valid_paths(tree, failures, one, other)
            known[pair] = len(tags), len(found)
            tags += [path % w | path // w << bits for path in found]
        places[row] = known[pair]
    return np.array(tags, np.int64), places[:, 0].copy(), places[:, 1].copy()
