"""Flows and hosts as the fast engine keeps them."""

from __future__ import annotations

import numpy as np

from models.common.mix import GOLDEN, mix64
from models.fabric import engine_state as state
from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.kernel import Setting
from models.fabric.streams import Kind, Stream, stream_starts
from models.fabric.triggers import started

NEVER = 2**60
"""Before all times, with a minus."""


def arriving(flows: Flows) -> bool:
    """Whether any flow activates a trigger when it has arrived."""
    return len(flows.needs) > 0 and bool((flows.received >= 0).any())


def order_of(flows: Flows) -> np.ndarray:
    """Flows by source, those of a host in their order: the numbers that the engine uses."""
    return np.argsort(flows.source, kind="stable")


def start_jitter(config: FabricConfig, hosts: int) -> np.ndarray:
    """Jitter of each host, byte times, int64 [hosts]."""
    bound = config.jitter
    if bound > 2**32:  # no room for the product in 64 bits
        draws = [Stream(config.seed, Kind.JITTER, host).below(bound) for host in range(hosts)]
        return np.array(draws, np.int64)
    draws = mix64(stream_starts(config.seed, Kind.JITTER, hosts) + np.uint64(GOLDEN))
    return ((draws >> np.uint64(32)) * np.uint64(bound) >> np.uint64(32)).astype(np.int64)


def flow_buffers(setting: Setting, id_shift: int, trace: bool) -> dict[str, np.ndarray]:
    """All buffers of flows and hosts; `id_shift` is the place of a flow's number in a payload."""
    tree, flows = setting.tree, setting.flows
    n, count = tree.hosts, len(flows)
    order = order_of(flows)
    source, to = flows.source[order].astype(np.int64), flows.destination[order].astype(np.int64)
    packets = flows.packets[order].astype(np.int64)
    begin = flows.start[order] + start_jitter(setting.config, n)[source]
    waits = flows.trigger[order] >= 0
    following, coming = _coming(source, begin, waits, n)
    ids = np.arange(count, dtype=np.int64)
    owner = np.zeros(1, np.int64)
    rows = 1
    if trace:
        owner = np.repeat(ids, packets)
        ids = np.concatenate([[0], np.cumsum(packets)[:-1]]).astype(np.int64)
        rows = int((tree.hops(source, to) * packets).sum()) * (2 if setting.config.acks else 1)
    return {
        "host_next": np.zeros(n, np.int64),
        "host_part": np.zeros(n, np.int64),
        "host_sent_data": np.zeros(n, np.int64),
        "host_turn": np.full(n, -1, np.int64),
        "host_coming": coming,
        "flow_next": following,
        "flow_time": begin,
        "flow_left": packets,
        "flow_total": packets.copy(),
        "flow_open": packets.copy(),
        "flow_to": _address(setting, to) << 1 | 1 | ids << id_shift,
        "flow_back": _address(setting, source) << 1,
        "flow_host": source,
        "flow_begin": np.full(count, -1, np.int64),
        "flow_finish": np.full(count, -1, np.int64),
        "owner": owner,
        "row": np.empty(4 * rows, np.int64),
    } | _triggers(flows, order)


def _address(setting: Setting, host: np.ndarray) -> np.ndarray:
    """The code of hosts in packets: pod, edge switch in it, port."""
    edge = host // setting.tree.half
    return setting.edge_codes()[edge] << setting.port_bits | host % setting.tree.half


def _triggers(flows: Flows, order: np.ndarray) -> dict[str, np.ndarray]:
    """What flows activate, the flows that each trigger starts one after another, and triggers."""
    count = len(order)
    number = np.empty(count, np.int64)  # the engine's, by that of `Flows`
    number[order] = np.arange(count)
    waiting, place = started(flows.trigger)
    own = flows.trigger[waiting]
    # Multishot in their order; else the last one first, so that a host's list of those to come
    # takes each at its head.
    order_in = np.lexsort((np.where(flows.needs[own] > 0, -place, place), own))
    waiting = waiting[order_in]
    fellow = np.full(count, -1, np.int64)
    follows = np.flatnonzero(own[1:] == own[:-1]) + 1
    fellow[number[waiting[follows - 1]]] = number[waiting[follows]]
    first = np.setdiff1d(np.arange(len(own)), follows)
    triggers = np.full((max(1, len(flows.needs)), state.TRIGGER), -NEVER, np.int64)
    triggers[:, state.NEEDS] = flows.needs if len(flows.needs) else 0
    triggers[:, state.FIRST_WAITING] = -1
    triggers[own[first], state.FIRST_WAITING] = number[waiting[first]]
    named = {
        "flow_sent": flows.sent[order].astype(np.int64),
        "flow_received": np.zeros(1, np.int64),
        "flow_missing": np.zeros(1, np.int64),
        "flow_fellow": fellow,
        "trigger": triggers.ravel(),
    }
    if arriving(flows):
        named["flow_received"] = flows.received[order].astype(np.int64)
        named["flow_missing"] = flows.packets[order].astype(np.int64)
    return named


def _coming(
    source: np.ndarray, begin: np.ndarray, waits: np.ndarray, hosts: int
) -> tuple[np.ndarray, np.ndarray]:
    """Chain the flows of each host that may begin some day, by time and number: the next one of
    each, and the first of each host."""
    flows = np.flatnonzero(~waits)
    flows = flows[np.lexsort((begin[flows], source[flows]))]
    following, first = np.full(len(source), -1, np.int64), np.full(hosts, -1, np.int64)
    same = source[flows[1:]] == source[flows[:-1]]
    following[flows[:-1][same]] = flows[1:][same]
    heads = np.concatenate([[True], ~same]) if len(flows) else np.zeros(0, np.bool_)
    first[source[flows[heads]]] = flows[heads]
    return following, first
