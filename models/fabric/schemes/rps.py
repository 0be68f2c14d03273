"""RPS: hosts write a random entropy on every packet, and switches hash it (seed section 3.1).

Rule: the entropy of a packet, data or ACK, is the high 16 bits of a draw of its host, in order of
transmission. A switch takes the valid uplink of index ⌊(mix64(entropy xor salt) >> 32)·v / 2**32⌋
in rising order, v being their number and the salt `Switch.salt`, so that switches hash differently.
"""

from __future__ import annotations

from models.common.mix import mix64
from models.fabric.config import FabricConfig
from models.fabric.network import Failures, Tree
from models.fabric.schemes.base import HostScheme, Packet, SwitchScheme
from models.fabric.streams import Kind, Stream


class AtSwitch(SwitchScheme):
    """ECMP by entropy alone."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Hash the entropy."""
        return valid[(mix64(packet.tag ^ self.switch.salt) >> 32) * len(valid) >> 32]


class AtHost(HostScheme):
    """A new entropy for every packet."""

    def __init__(self, config: FabricConfig, tree: Tree, failures: Failures | None, host: int):
        super().__init__(config, tree, failures, host)
        self.stream = Stream(config.seed, Kind.HOST, host)

    def entropy(self) -> int:
        """Draw 16 bits."""
        return self.stream.draw() >> 48

    def tag(self, packet: Packet, now: int) -> None:
        """Write an entropy."""
        packet.tag = self.entropy()
