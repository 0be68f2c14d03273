"""Paths by number, for hosts that choose the whole way up."""

from __future__ import annotations

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
