"""DRB: hosts rotate the packets for each destination over all paths (seed section 3.4, DRB).

Rule: with P valid paths between two hosts (`paths.valid_paths`), a flow has a pointer for its data
and one for its ACKs; both start at below(P) of the stream (seed, FLOW, flow), data's first. A
packet takes the valid path of the pointer's index, and the pointer moves on by one modulo P. The
paper has pointers a destination host; where two flows join the same hosts, each rotates on its own.
"""

from __future__ import annotations

from models.fabric.config import FabricConfig
from models.fabric.network import Failures, Tree
from models.fabric.schemes import paths
from models.fabric.schemes.base import HostScheme, Packet
from models.fabric.streams import Kind, Stream

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
