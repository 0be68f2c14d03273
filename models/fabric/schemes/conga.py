"""CONGA: the load along the path, told by acknowledgements, packet by packet (seed section 3.1).

CONGA balances flowlets between leaf switches: packets gather the largest quantized load on their
way, the destination leaf sends it back, and the source leaf takes the uplink with the least of its
own load and the load it was told. The paper adapts it to packets; a three-level tree has two
choices. Exactly, here:

Rule: an edge switch has a table of remote levels by destination edge switch and uplink, zeros at
the start. The metric of an uplink is the larger of its rate estimator's level
(`estimator.RateEstimator`) and, at an edge switch, the remote level. Of the valid uplinks of the
least metric one is drawn: index below(their number) in rising order. Then the packet counts in that
uplink's estimator. The links down from core (spine) and aggregation switches have estimators too,
which count every packet; those to hosts have none, since all paths end there. A data packet takes
along which uplink of the edge it went through and the largest level, itself counted, of all these
links on its way. Its ACK brings both back: where the ACK leaves an edge switch down to its host,
the table entry of (edge of the ACK's source, uplink) becomes that level, be it larger or smaller.
Entries do not age; without ACKs only the local levels are known. In a mix with another scheme all
links down are measured.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.engine_choice import one_below
from models.fabric.engine_host import flow_of
from models.fabric.engine_queues import time_of
from models.fabric.engine_state import (
    EDGE_BITS,
    EDGES_A_POD,
    END,
    HALF,
    HOSTS,
    POD_BITS,
    PODS,
    PORT_BITS,
    TAG_SHIFT,
    int64,
)
from models.fabric.kernel import Kernel, Memory, Setting
from models.fabric.schemes import estimator
from models.fabric.schemes.base import LinkScheme, Packet, Switch, SwitchScheme
from models.fabric.schemes.estimator import (
    ESTIMATOR_FIELDS,
    FIRST_ESTIMATOR,
    RateEstimator,
    count_packet,
    load_level,
)
from models.fabric.streams import Kind


class AtSwitch(SwitchScheme):
    """CONGA without flowlets. The tag of a data packet is (uplink of the edge, largest level)."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.estimators = [RateEstimator(switch.config) for _ in switch.uplinks]
        self.remote: dict[tuple[int, int], int] = {}
        """Level by (destination edge switch, uplink)."""

    def metric(self, uplink: int, packet: Packet, now: int) -> int:
        """The larger of the local and the remote level."""
        local = self.estimators[uplink].level(now)
        edge = self.switch.tree.edge_of(packet.destination)
        return max(local, self.remote.get((edge, uplink), 0))

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one of the least loaded and write its level on data."""
        uplink = self.switch.lowest([(self.metric(u, packet, now), u) for u in valid])
        self.estimators[uplink].add(now, packet.time)
        level = self.estimators[uplink].level(now)
        if not packet.ack and self.switch.kind == Kind.EDGE:
            packet.tag = (uplink, level)
        elif not packet.ack and packet.tag:
            packet.tag = (packet.tag[0], max(packet.tag[1], level))
        return uplink

    def passes(self, packet: Packet, now: int) -> None:
        """Learn from an ACK on its way down to its host."""
        if self.switch.kind == Kind.EDGE and packet.answers and packet.answers.tag:
            uplink, level = packet.answers.tag
            self.remote[self.switch.tree.edge_of(packet.source), uplink] = level


class AtDownlink(LinkScheme):
    """Raise the level that data has gathered to that of this link."""

    def __init__(self, config: FabricConfig) -> None:
        super().__init__(config)
        self.estimator = RateEstimator(config)

    def passes(self, packet: Packet, now: int) -> None:
        """Count the packet, then write the level."""
        self.estimator.add(now, packet.time)
        if not packet.ack and packet.tag:
            packet.tag = (packet.tag[0], max(packet.tag[1], self.estimator.level(now)))


UPLINK_BITS, LEVEL_BITS = 6, 8
WRITTEN = 1 << (UPLINK_BITS + LEVEL_BITS)
"""Bit of a tag that has something in it: a level above an uplink."""


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
    """The same for the fast engine; `own_bytes` has the remote levels by edge switch, code of the
    destination edge switch and uplink."""
    w = s.parameter[HALF]
    estimators = FIRST_ESTIMATOR + ESTIMATOR_FIELDS * w * switch
    edges = s.parameter[PODS] * s.parameter[EDGES_A_POD]
    remote = remote_place(s, switch, to)
    least = int64(END)
    for uplink in range(w):
        metric = int64(END)
        if valid >> uplink & 1:
            metric = load_level(own, estimators + ESTIMATOR_FIELDS * uplink, time)
            if switch < edges:
                metric = max(metric, int64(own_bytes[remote + uplink]))
        s.judged[uplink] = metric
        least = min(least, metric)
    uplink = one_below(s, switch, least + 1)
    takes = time_of(s, payload)
    count_packet(own, estimators + ESTIMATOR_FIELDS * uplink, time, takes)
    return uplink


def remote_place(s: Any, switch: int, to: int) -> int:
    """Where the remote levels of a destination begin in `own_bytes`."""
    codes = s.parameter[POD_BITS] + s.parameter[EDGE_BITS]
    return ((switch << codes) + to) * s.parameter[HALF]


def retag(s: Any, own: Any, switch: int, payload: int, uplink: int, time: int) -> int:
    """Write uplink and level on data."""
    shift = s.parameter[TAG_SHIFT]
    tag = payload >> shift
    at_edge = switch < s.parameter[PODS] * s.parameter[EDGES_A_POD]
    if not payload & 1 or (not at_edge and not tag):
        return payload
    if at_edge:
        tag = WRITTEN | uplink
    estimators = FIRST_ESTIMATOR + ESTIMATOR_FIELDS * s.parameter[HALF] * switch
    level = load_level(own, estimators + ESTIMATOR_FIELDS * uplink, time)
    return payload & (int64(1) << shift) - 1 | raised(tag, level) << shift


def raised(tag: int, level: int) -> int:
    """A tag with at least this level."""
    level = max(level, tag >> UPLINK_BITS & LEVELS_MASK)
    return tag & ~(LEVELS_MASK << UPLINK_BITS) | level << UPLINK_BITS


def descend(s: Any, own: Any, link: int, payload: int, time: int) -> int:
    """Count a packet on a link down, whose estimators follow those of the uplinks, and write the
    level on data."""
    place = FIRST_ESTIMATOR + ESTIMATOR_FIELDS * (link - s.parameter[HOSTS])
    takes = time_of(s, payload)
    count_packet(own, place, time, takes)
    shift = s.parameter[TAG_SHIFT]
    tag = payload >> shift
    if not payload & 1 or not tag:
        return payload
    level = load_level(own, place, time)
    return payload & (int64(1) << shift) - 1 | raised(tag, level) << shift


def passes(s: Any, own: Any, own_bytes: Any, switch: int, payload: int) -> None:
    """Learn from an ACK on its way down to its host."""
    tag = payload >> s.parameter[TAG_SHIFT]
    if payload & 1 or not tag:
        return
    source = s.flow_to[flow_of(s, payload)] >> (1 + s.parameter[PORT_BITS])
    codes = s.parameter[POD_BITS] + s.parameter[EDGE_BITS]
    place = remote_place(s, switch, source & (int64(1) << codes) - 1)
    own_bytes[place + (tag & (1 << UPLINK_BITS) - 1)] = tag >> UPLINK_BITS & LEVELS_MASK


def tag_data(s: Any, host: int, flow: int, number: int, time: int) -> int:
    """Leave data untagged."""
    return int64(0)


def tag_ack(s: Any, host: int, flow: int, tag: int, time: int) -> int:
    """Send back what is written on the data."""
    return tag


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """Make estimators of the links up and as many down, and remote levels of 0."""
    own = estimator.prepare(setting, streams)[0]
    down = np.zeros(len(own) - FIRST_ESTIMATOR, np.int64)
    return np.concatenate([own, down]), np.zeros(memory_bytes(setting), np.uint8)


def memory_bytes(setting: Setting) -> int:
    """The remote levels."""
    codes = 1 << (setting.pod_bits + setting.edge_bits)
    return setting.tree.edges * codes * setting.tree.half


LEVELS_MASK = (1 << LEVEL_BITS) - 1
KERNEL = Kernel(
    pick,
    prepare,
    memory_bytes,
    helpers=(*estimator.HELPERS, remote_place, raised),
    retag=retag,
    passes=passes,
    descend=descend,
    tag_data=tag_data,
    tag_ack=tag_ack,
    tag_bits=lambda tree: UPLINK_BITS + LEVEL_BITS + 1,
)
