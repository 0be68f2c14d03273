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
from typing import Any

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.engine_choice import draw
from models.fabric.engine_queues import MARK_BIT
from models.fabric.engine_state import int64, uint64
from models.fabric.kernel import Kernel, Setting
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


FLOW_FIELDS = 2
"""Of each flow in `host_own`: place of its oldest entropy, their number, and then its ring."""


def tag_data(s: Any, host: int, flow: int, number: int, time: int) -> int:
    """The same for the fast engine; `host_own` has the warm-up and the places of a ring, then all
    flows."""
    room = s.host_own[1]
    ring = 2 + flow * (room + FLOW_FIELDS)
    if number < s.host_own[0] or s.host_own[ring + 1] == 0:
        return int64(draw(s.host_stream, host) >> uint64(48))
    oldest = s.host_own[ring]
    s.host_own[ring] = (oldest + 1) % room
    s.host_own[ring + 1] -= 1
    return s.host_own[ring + FLOW_FIELDS + oldest]


def tag_ack(s: Any, host: int, flow: int, tag: int, time: int) -> int:
    """Send entropy and mark back."""
    return tag


def acknowledged(s: Any, host: int, flow: int, tag: int) -> None:
    """Keep an entropy that met no congestion."""
    if tag >> MARK_BIT & 1:
        return
    room = s.host_own[1]
    ring = 2 + flow * (room + FLOW_FIELDS)
    oldest, count = s.host_own[ring], s.host_own[ring + 1]
    s.host_own[ring + FLOW_FIELDS + (oldest + count) % room] = tag & rps.ENTROPIES
    if count < room:
        s.host_own[ring + 1] = count + 1
    else:
        s.host_own[ring] = (oldest + 1) % room


def prepare_hosts(setting: Setting) -> np.ndarray:
    """Make empty rings."""
    room = setting.config.options.reps_cache
    rings = np.zeros(len(setting.flows) * (room + FLOW_FIELDS), np.int64)
    return np.concatenate([[warmup_packets(setting.config), room], rings])


KERNEL = Kernel(
    rps.pick,
    rps.prepare,
    tag_data=tag_data,
    tag_ack=tag_ack,
    acknowledged=acknowledged,
    prepare_hosts=prepare_hosts,
    tag_bits=lambda tree: MARK_BIT + 1,
    memory_bytes=lambda setting: (
        8 * len(setting.flows) * (setting.config.options.reps_cache + FLOW_FIELDS)
    ),
    marked=True,
)
