"""REPS: entropies that met no congestion are used again (seed section 3.1, Table 1).

Rule: switches are those of RPS. An ACK carries the entropy of its data packet, uses it itself, and
echoes the data packet's mark (option `ecn_percent`; marks are put on data alone). An ACK without a
mark puts its entropy into its flow's ring of `reps_cache` places, where it overwrites the oldest if
all are taken. A data packet takes the oldest entropy out of its flow's ring; if there is none, or
fewer than `reps_warmup_packets` data packets of the flow have been sent, it has the high 16 bits of
a draw of its host. Warm-up 0 stands for the data packets that leave at line rate before the first
ACK of an idle longest path is back: ⌈H·(Sd + Sa + 2·L) / Td'⌉ with H = 2·levels links.

REPS's freezing mode, in which a timeout stops the search for new entropies, is left out: nothing is
sent again in this model, so there is no timeout.
"""

from __future__ import annotations

from collections import deque

from models.fabric.config import FabricConfig
from models.fabric.network import Failures, Tree
from models.fabric.schemes import rps
from models.fabric.schemes.base import Packet

AtSwitch = rps.AtSwitch


def warmup_packets(config: FabricConfig) -> int:
    """Data packets of a flow that explore."""
    if config.options.reps_warmup_packets:
        return config.options.reps_warmup_packets
    both = config.data_bytes + config.ack_bytes + 2 * config.latency
    return -(-2 * config.levels * both // config.data_time)


class AtHost(rps.AtHost):
    """Recycled entropies, flow by flow."""

    def __init__(self, config: FabricConfig, tree: Tree, failures: Failures | None, host: int):
        super().__init__(config, tree, failures, host)
        self.rings: dict[int, deque[int]] = {}
        self.warmup = warmup_packets(config)

    def ring(self, flow: int) -> deque[int]:
        """A flow's cached entropies, the oldest first."""
        return self.rings.setdefault(flow, deque(maxlen=self.config.options.reps_cache))

    def tag(self, packet: Packet, now: int) -> None:
        """Write a cached or a new entropy on data, that of the data on an ACK."""
        if packet.answers:
            packet.tag = packet.answers.tag
        elif packet.number >= self.warmup and self.ring(packet.flow):
            packet.tag = self.ring(packet.flow).popleft()
        else:
            packet.tag = self.entropy()

    def acknowledged(self, ack: Packet, now: int) -> None:
        """Keep an entropy that met no congestion."""
        if ack.answers and not ack.answers.marked:
            self.ring(ack.flow).append(ack.tag)
