"""Ethereal: a flow is cut into one subflow a path, served in turn (seed section 3.4, Ethereal).

Rule: with P valid paths between two hosts (`paths.valid_paths`), the subflows of a flow are served
in the order Stream(seed, FLOW, flow).shuffled(P): data packet i takes the valid path of index
order[i mod P]. Its ACK takes the same path back, through the same aggregation and core switches.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.engine_flows import order_of
from models.fabric.kernel import Kernel, Setting, drawn_below
from models.fabric.network import Failures, Tree
from models.fabric.schemes import paths
from models.fabric.schemes.base import HostScheme, Packet
from models.fabric.streams import Kind, Stream, stream_starts

AtSwitch = paths.AtSwitch


class AtHost(HostScheme):
    """One queue pair a path, served round-robin."""

    def __init__(self, config: FabricConfig, tree: Tree, failures: Failures | None, host: int):
        super().__init__(config, tree, failures, host)
        self.orders: dict[int, list[int]] = {}
        """Paths of a flow in the order in which they are taken."""

    def tag(self, packet: Packet, now: int) -> None:
        """Write the subflow's path."""
        if packet.answers:
            packet.tag = packet.answers.tag
            return
        flow = packet.flow
        if flow not in self.orders:
            valid = paths.valid_paths(self.tree, self.failures, packet.source, packet.destination)
            order = Stream(self.config.seed, Kind.FLOW, flow).shuffled(len(valid))
            self.orders[flow] = [valid[index] for index in order]
        packet.tag = self.orders[flow][packet.number % len(self.orders[flow])]


FLOW_FIELDS = 2
"""Of each flow in `host_own`: place of its first subflow, in quarters of a word, and their
number."""
TAGS_A_WORD = 4
AT_ONCE = 4096
"""Flows shuffled together."""


def tag_data(s: Any, host: int, flow: int, number: int, time: int) -> int:
    """The same for the fast engine; `host_own` has the fields of all flows, then four paths of 16
    bits in a word."""
    subflow = number % s.host_own[FLOW_FIELDS * flow + 1] + s.host_own[FLOW_FIELDS * flow]
    return s.host_own[subflow >> 2] >> 16 * (subflow & 3) & 0xFFFF


def tag_ack(s: Any, host: int, flow: int, tag: int, time: int) -> int:
    """The same path back."""
    return tag


def prepare_hosts(setting: Setting) -> np.ndarray:
    """Shuffle the paths of each flow, and keep as many as it has packets."""
    tags, place, count = paths.flow_paths(setting)
    order = order_of(setting.flows)
    kept = np.minimum(count, setting.flows.packets[order])
    end = np.cumsum(kept)
    fields = np.stack([end - kept + TAGS_A_WORD * FLOW_FIELDS * len(order), count], 1)
    shuffled = np.zeros(-(-int(end[-1]) // TAGS_A_WORD) * TAGS_A_WORD, np.uint16)
    streams = stream_starts(setting.config.seed, Kind.FLOW, len(order)).view(np.int64)[order]
    for size in np.unique(count):
        same = np.flatnonzero(count == size)
        for i in range(0, len(same), AT_ONCE):
            some = same[i : i + AT_ONCE]
            rows = _shuffled(streams[some], int(size))
            chosen = tags[place[some][:, None] + rows]
            for flow, row in zip(some, chosen, strict=True):
                shuffled[end[flow] - kept[flow] : end[flow]] = row[: kept[flow]]
    return np.concatenate([fields.ravel(), shuffled.view(np.int64)])


def _shuffled(streams: np.ndarray, count: int) -> np.ndarray:
    """`Stream.shuffled` of each stream, int64 [streams, count]."""
    items = np.tile(np.arange(count), (len(streams), 1))
    rows = np.arange(len(streams))
    for i in range(count - 1, 0, -1):
        j = drawn_below(streams, i + 1)
        items[rows, j], items[:, i] = items[:, i].copy(), items[rows, j]
    return items


def memory_bytes(setting: Setting) -> int:
    """Fields, and a tag of two bytes for each path or packet of a flow."""
    most = setting.tree.half ** (setting.tree.levels - 1)
    return int(8 * FLOW_FIELDS * len(setting.flows) + 2 * setting.flows.packets.clip(0, most).sum())


KERNEL = Kernel(
    paths.pick,
    tag_data=tag_data,
    tag_ack=tag_ack,
    prepare_hosts=prepare_hosts,
    tag_bits=paths.tag_bits,
    memory_bytes=memory_bytes,
)
