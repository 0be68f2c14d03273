"""Ofan and pOfan: a rotating pointer a destination and size class (seed sections 4 and 5).

Rule: `models.ofan.switch.Ofan`, the golden model that the hardware is held against, with one lane
a downlink port. An edge switch has a pointer for each edge switch, an aggregation switch for each
other pod; class 0 is data, 1 are ACKs. Invalid uplinks are passed by further increments. pOfan has
pointers of its own in each pipe of W lanes.
"""

from __future__ import annotations

import numpy as np

from models.fabric.network import Failures, Tree
from models.fabric.schemes import parse_scheme
from models.fabric.schemes.base import Packet, Switch, SwitchScheme
from models.fabric.streams import Kind, stream_start
from models.ofan.config import OfanConfig, aggregation, edge
from models.ofan.switch import Ofan
from models.ofan.switch import Packet as Request


def switch_config(switch: Switch) -> OfanConfig:
    """Parameters of the Ofan or pOfan of a switch; its initial pointers come from the stream (seed,
    POINTERS, its number with edges first, then aggregations)."""
    tree, at_edge = switch.tree, switch.kind == Kind.EDGE
    place = switch.number + (0 if at_edge else tree.edges)
    init = stream_start(switch.config.seed, Kind.POINTERS, place)
    pipe_lanes = parse_scheme(switch.scheme)[1]
    if at_edge:
        return edge(tree.radix, pipe_lanes=pipe_lanes, init=init, destinations=tree.edges)
    return aggregation(tree.radix, pipe_lanes=pipe_lanes, init=init)


def uplink_sets(tree: Tree, failures: Failures | None, kind: Kind, number: int) -> np.ndarray:
    """Which uplinks reach each destination of the switch, uint64 [destinations], bit u for u."""
    if failures is None:
        count = tree.edges if kind == Kind.EDGE else tree.pods - 1
        return np.full(count, 2**tree.half - 1, np.uint64)
    if kind == Kind.EDGE:
        return failures.edge_valid[number]
    return np.delete(failures.agg_valid[number], tree.pod_of(number))


def destination_of(tree: Tree, kind: Kind, number: int, host: int) -> int:
    """Number by which the switch knows where a host is: its edge switch, or its pod with the
    switch's own left out."""
    there = tree.edge_of(host)
    if kind == Kind.EDGE:
        return there
    pod = tree.pod_of(there)
    return pod - (pod > tree.pod_of(number))


class AtSwitch(SwitchScheme):
    """The golden switch, asked one packet at a time."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.golden = Ofan(switch_config(switch))
        sets = uplink_sets(switch.tree, switch.failures, switch.kind, switch.number).tolist()
        for destination, valid in enumerate(sets):
            for uplink in range(switch.tree.half):
                if not valid >> uplink & 1:
                    self.golden.set_uplink(destination, uplink, False)

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Ask the golden switch; `valid` is what it knows already."""
        switch = self.switch
        destination = destination_of(switch.tree, switch.kind, switch.number, packet.destination)
        return self.golden.serve(Request(packet.port, destination, int(packet.ack)))
