"""Ethereal: a flow is cut into one subflow a path, served in turn (seed section 3.4, Ethereal).

Rule: with P valid paths between two hosts (`paths.valid_paths`), the subflows of a flow are served
in the order Stream(seed, FLOW, flow).shuffled(P): data packet i takes the valid path of index
order[i mod P]. Its ACK takes the same path back, through the same aggregation and core switches.
"""

from __future__ import annotations

from models.fabric.config import FabricConfig
from models.fabric.network import Failures, Tree
from models.fabric.schemes import paths
from models.fabric.schemes.base import HostScheme, Packet
from models.fabric.streams import Kind, Stream

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
