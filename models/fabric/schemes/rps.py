"""RPS: hosts write a random entropy on every packet, and switches hash it (seed section 3.1).

Rule: the entropy of a packet, data or ACK, is the high 16 bits of a draw of its host, in order of
transmission. A switch takes the valid uplink of index ⌊(mix64(entropy xor salt) >> 32)·v / 2**32⌋
in rising order, v being their number and the salt `Switch.salt`, so that switches hash differently.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.common.mix import mix64
from models.fabric.config import FabricConfig
from models.fabric.engine_choice import draw, mixed, valid_at, valid_count
from models.fabric.engine_state import TAG_SHIFT, int64, uint64
from models.fabric.kernel import NOTHING, Kernel, Memory, Setting
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
    """The same for the fast engine; `own` has the salts."""
    entropy = payload >> s.parameter[TAG_SHIFT] & ENTROPIES
    high = mixed(uint64(entropy ^ own[switch])) >> uint64(32)
    count = valid_count(s, valid)
    return valid_at(s, valid, int64(high * uint64(count) >> uint64(32)))


def tag_data(s: Any, host: int, flow: int, number: int, time: int) -> int:
    """Draw an entropy."""
    return int64(draw(s.host_stream, host) >> uint64(48))


def tag_ack(s: Any, host: int, flow: int, tag: int, time: int) -> int:
    """Draw an entropy."""
    return int64(draw(s.host_stream, host) >> uint64(48))


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """Keep the states before the first draw of the streams, which are the salts."""
    return streams.copy(), NOTHING[1]


ENTROPY_BITS = 16
ENTROPIES = 2**ENTROPY_BITS - 1
KERNEL = Kernel(
    pick, prepare, tag_data=tag_data, tag_ack=tag_ack, tag_bits=lambda tree: ENTROPY_BITS
)
