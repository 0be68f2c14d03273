"""Ofan and pOfan: a rotating pointer a destination and size class (seed sections 4 and 5).

Rule: `models.ofan.switch.Ofan`, the golden model that the hardware is held against, with one lane
a downlink port. An edge switch has a pointer for each edge switch, an aggregation switch for each
other pod; class 0 is data, 1 are ACKs. Invalid uplinks are passed by further increments. pOfan has
pointers of its own in each pipe of W lanes; what W leaves over is a narrower pipe.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.common.mix import GOLDEN, mix64
from models.fabric.engine_state import HALF
from models.fabric.kernel import Kernel, Memory, Setting
from models.fabric.network import Failures, Tree
from models.fabric.schemes import parse_scheme
from models.fabric.schemes.base import Packet, Switch, SwitchScheme
from models.fabric.streams import Kind, stream_start, stream_starts
from models.ofan.config import OfanConfig, aggregation, edge
from models.ofan.order import default_permutation, order_table
from models.ofan.switch import Ofan, class_offset
from models.ofan.switch import Packet as Request


def switch_config(switch: Switch) -> OfanConfig:
    """Parameters of the Ofan or pOfan of a switch; its initial pointers come from the stream (seed,
    POINTERS, its number with edges first, then aggregations)."""
    tree, at_edge = switch.tree, switch.kind == Kind.EDGE
    place = switch.number + (0 if at_edge else tree.edges)
    init = stream_start(switch.config.seed, Kind.POINTERS, place)
    pipe_lanes = parse_scheme(switch.scheme)[1]
    lanes = tree.half
    if pipe_lanes:
        lanes = -(-lanes // pipe_lanes) * pipe_lanes  # lanes of no port fill up the last pipe
    shape = {"lanes": lanes, "pipe_lanes": pipe_lanes, "init": init}
    if at_edge:
        return edge(tree.radix, destinations=tree.edges, **shape)
    return aggregation(tree.radix, **shape)


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


SWITCH_FIELDS = 4
"""Of each switch in `own`: where its pointers and its table of orders begin in `own_bytes`, its own
number among the destinations if that is left out, and the pointers of one pipe."""
NOT_LEFT_OUT = 2**40


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
    """The same for the fast engine: `own_bytes` has the pipe of each input port, then all pointers
    (pipe, destination, class) and the orders of the pointers by (destination, class)."""
    w, fields = s.parameter[HALF], SWITCH_FIELDS * switch
    key = 2 * (to - (to > own[fields + 2])) + (~payload & 1)
    place = own[fields] + key
    if own[fields + 3]:
        place += own_bytes[s.port[2 * w * switch + rank]] * own[fields + 3]
    order = own[fields + 1] + key * w
    while True:
        position = own_bytes[place]
        own_bytes[place] = position + 1 if position + 1 < w else 0
        uplink = own_bytes[order + position]
        if valid >> uplink & 1:
            return uplink


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """Initial pointers (`models.ofan.switch.initial_pointer`) and orders of all switches."""
    tree, w = setting.tree, setting.tree.half
    width = parse_scheme(setting.scheme)[1]
    pipes = 1 if width is None else -(-w // width)
    starts = stream_starts(setting.config.seed, Kind.POINTERS, tree.edges + tree.aggs)
    own = np.zeros((tree.edges + tree.aggs, SWITCH_FIELDS), np.int64)
    parts = [(np.arange(w) // (width or w)).astype(np.uint8)]
    used = w
    layers = [(0, tree.edges, setting.edge_codes()), (tree.edges, tree.aggs, np.arange(w * 2 - 1))]
    for before, count, codes in layers:
        if not count:
            continue
        room = int(codes.max()) + 1
        pointers = np.zeros((count, pipes, room, 2), np.uint8)
        for pipe in range(pipes):
            data = _initial(starts[before : before + count], pipe, len(codes), w)
            pointers[:, pipe, codes, 0] = data
            pointers[:, pipe, codes, 1] = (data + class_offset(1, w)) % w
        orders = np.zeros((room, 2, w), np.uint8)
        table = order_table(default_permutation(w), w, 2 * len(codes)).reshape(2, -1, w)
        orders[codes] = table.swapaxes(0, 1)
        here = own[before : before + count]
        here[:, 0] = used + pointers[0].size * np.arange(count)
        here[:, 1] = used + pointers.size
        here[:, 2] = NOT_LEFT_OUT if before == 0 else tree.pod_of(np.arange(count))
        here[:, 3] = 2 * room if pipes > 1 else 0
        parts += [pointers.ravel(), orders.ravel()]
        used += pointers.size + orders.size
    return own.ravel(), np.concatenate(parts)


def _initial(starts: np.ndarray, pipe: int, destinations: int, w: int) -> np.ndarray:
    """Data pointers of one pipe of some switches, uint8 [switches, destinations]."""
    state = mix64(starts + np.uint64(GOLDEN))[:, None]
    number = np.uint64((pipe << 32) + 1) + np.arange(destinations, dtype=np.uint64)
    high = mix64(state + np.uint64(GOLDEN) * number) >> np.uint64(32)
    return (high * np.uint64(w) >> np.uint64(32)).astype(np.uint8)


def memory_bytes(setting: Setting) -> int:
    """Two pointers a destination, pipe and switch."""
    width = parse_scheme(setting.scheme)[1]
    pipes = 1 if width is None else -(-setting.tree.half // width)
    return 2 * pipes * (setting.tree.edges + setting.tree.pods) * setting.tree.edges


KERNEL = Kernel(pick, prepare, memory_bytes)
