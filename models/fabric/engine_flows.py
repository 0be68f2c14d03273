"""Flows and hosts as the fast engine keeps them."""

from __future__ import annotations

import numpy as np

from models.common.mix import GOLDEN, mix64
from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.kernel import Setting
from models.fabric.streams import Kind, Stream, stream_starts


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
    fires, fellow, waits = _fired(flows, order)
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
        "flow_fires": fires,
        "flow_fellow": fellow,
        "flow_begin": np.full(count, -1, np.int64),
        "flow_finish": np.full(count, -1, np.int64),
        "owner": owner,
        "row": np.empty(4 * rows, np.int64),
    }


def _address(setting: Setting, host: np.ndarray) -> np.ndarray:
    """The code of hosts in packets: pod, edge switch in it, port."""
    edge = host // setting.tree.half
    return setting.edge_codes()[edge] << setting.port_bits | host % setting.tree.half


def _fired(flows: Flows, order: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each flow, in the engine's numbers: the first flow that waits for it, the next one that
    waits for the same flow, and whether it waits."""
    count = len(order)
    number = np.empty(count, np.int64)
    number[order] = np.arange(count)
    after = flows.after[order]
    waits = after >= 0
    fires, fellow = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    for flow in np.flatnonzero(waits):
        cause = number[after[flow]]
        fellow[flow] = fires[cause]
        fires[cause] = flow
    return fires, fellow, waits


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
