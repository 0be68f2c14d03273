"""DRB: hosts rotate the packets for each destination over all paths (seed section 3.4, DRB).

Rule: with P valid paths between two hosts (`paths.valid_paths`), a flow has a pointer for its data
and one for its ACKs; both start at below(P) of the stream (seed, FLOW, flow), data's first. A
packet takes the valid path of the pointer's index, and the pointer moves on by one modulo P. The
paper has pointers a destination host; where two flows join the same hosts, each rotates on its own.
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
    """Destination-based rotation."""

    def __init__(self, config: FabricConfig, tree: Tree, failures: Failures | None, host: int):
        super().__init__(config, tree, failures, host)
        self.paths: dict[int, list[int]] = {}
        self.pointers: dict[int, int] = {}
        """By flow; a host sends data or ACKs of a flow, never both."""

    def tag(self, packet: Packet, now: int) -> None:
        """Write the next path in turn."""
        flow = packet.flow
        if flow not in self.paths:
            self.paths[flow] = paths.valid_paths(
                self.tree, self.failures, packet.source, packet.destination
            )
            stream = Stream(self.config.seed, Kind.FLOW, flow)
            starts = [stream.below(len(self.paths[flow])) for _ in ("data", "ACKs")]
            self.pointers[flow] = starts[packet.ack]
        pointer = self.pointers[flow]
        packet.tag = self.paths[flow][pointer]
        self.pointers[flow] = (pointer + 1) % len(self.paths[flow])


FLOW_FIELDS = 4
"""Of each flow in `host_own`: place of its first path, their number, data's and ACKs' pointer."""


def tag_data(s: Any, host: int, flow: int, number: int, time: int) -> int:
    """The same for the fast engine; `host_own` has the fields of all flows, then the paths."""
    return next_path(s, flow, 2)


def tag_ack(s: Any, host: int, flow: int, tag: int, time: int) -> int:
    """The same for ACKs."""
    return next_path(s, flow, 3)


def next_path(s: Any, flow: int, field: int) -> int:
    """Take the next path in turn by the pointer that stands in `field`."""
    fields = flow * FLOW_FIELDS
    pointer = s.host_own[fields + field]
    following = pointer + 1
    s.host_own[fields + field] = following if following < s.host_own[fields + 1] else 0
    return s.host_own[s.host_own[fields] + pointer]


def prepare_hosts(setting: Setting) -> np.ndarray:
    """Draw the pointers."""
    tags, place, count = paths.flow_paths(setting)
    fields = np.zeros((len(place), FLOW_FIELDS), np.int64)
    fields[:, 0], fields[:, 1] = place + fields.size, count
    streams = stream_starts(setting.config.seed, Kind.FLOW, len(place)).view(np.int64)
    streams = streams[order_of(setting.flows)]
    for field in (2, 3):
        fields[:, field] = drawn_below(streams, count)
    return np.concatenate([fields.ravel(), tags])


KERNEL = Kernel(
    paths.pick,
    helpers=(next_path,),
    tag_data=tag_data,
    tag_ack=tag_ack,
    prepare_hosts=prepare_hosts,
    tag_bits=paths.tag_bits,
    memory_bytes=lambda setting: 8 * FLOW_FIELDS * len(setting.flows),
)
