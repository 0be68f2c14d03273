"""The northbound packets that reach one switch of a fat tree, as a trace: batch = slot."""

from __future__ import annotations

from typing import Literal

import numpy as np

from models.common.check import integer
from models.fabric.connections import Connections
from models.fabric.fattree import FatTree
from models.fabric.hosts import DELAY, MAX_PACKETS, Hosts
from models.ofan.config import edge
from models.ofan.order import Order
from models.ofan.trace import Trace
from models.ofan.vectorized import route


def switch_trace(
    tree: FatTree,
    connections: Connections,
    layer: str,
    number: int,
    *,
    packets: int | None = None,
    delay: int = DELAY,
    init: int | Literal["zero"] = 0,
    order: Order | None = None,
) -> Trace:
    """Return the trace of edge (`layer` "edge") or aggregation switch ("agg") `number`.

    Hosts send as `models.fabric.hosts` says, with `packets` data packets a flow, or enough for the
    flow's size. At an edge switch the lane is that of the host and the destination is the number
    of the destination's edge switch; local packets are left out.

    An aggregation switch, the a-th of its pod, gets what the pod's edge switches send to their
    uplink a: each of them routes as Ofan with `order`, edge switch e starting from seed init + e
    (modulo 2**64; or "zero"), and sends one packet a slot and uplink, first come, first served.
    The lane is the number of the edge switch in the pod and the destination is the pod, the own
    one left out; packets to the own pod are left out.

    Raises `ValueError` naming what is out of range, or saying that no packet comes by.
    """
    if packets is not None:
        integer("packets", packets, 1, MAX_PACKETS)
    integer("delay", delay, 0, 2**20)
    integer("switch", number, 0, tree.edges - 1)
    integer("nodes", connections.nodes, 2, tree.hosts)
    if layer == "edge":
        trace = _edge_traces(tree, connections, [number], packets, delay)[0]
    else:
        trace = _aggregation(tree, connections, number, packets, delay, init, order)
    if not len(trace):
        raise ValueError(
            f"switch must be one that a northbound packet passes, not {layer}:{number}"
        )
    return trace


def _edge_traces(
    tree: FatTree,
    connections: Connections,
    edges: list[int],
    packets: int | None,
    delay: int,
) -> list[Trace]:
    """Traces of edge switches that are numbered one after the other."""
    lowest = min(edges[0] * tree.half, connections.nodes)
    beyond = (edges[-1] + 1) * tree.half
    slots, rows = [], []
    for slot, sent in Hosts(connections, packets, delay):
        slots.append(slot)
        rows.append(sent[lowest:beyond].copy())
    sent = np.array(rows, np.int64).reshape(len(slots), min(beyond, connections.nodes) - lowest)
    at, column = np.nonzero(sent >= 0)
    batch = np.array(slots, np.int64)[at]
    code = sent[at, column]
    host = column + lowest
    source, destination = tree.edge_of(host), tree.edge_of(code >> 1)
    traces = []
    for number in edges:
        mine = (source == number) & (destination != number)
        traces.append(
            Trace.of(batch[mine], tree.lane_of(host[mine]), destination[mine], code[mine] & 1)
        )
    return traces


def _aggregation(
    tree: FatTree,
    connections: Connections,
    number: int,
    packets: int | None,
    delay: int,
    init: int | Literal["zero"],
    order: Order | None,
) -> Trace:
    own = tree.pod_of(number)
    edges = [own * tree.half + lane for lane in range(tree.half)]
    columns = []
    traces = _edge_traces(tree, connections, edges, packets, delay)
    for lane, (edge_switch, trace) in enumerate(zip(edges, traces, strict=True)):
        start = init if init == "zero" else (init + edge_switch) % 2**64
        uplink = route(edge(tree.radix, init=start, order=order), trace)
        taken = uplink == number % tree.half
        leaves = departures(trace.batch[taken])
        pod = tree.pod_of(trace.destination[taken].astype(np.int64))
        away = pod != own
        columns.append(
            np.stack(
                (
                    leaves[away],
                    np.full(away.sum(), lane),
                    tree.other_pod(pod[away], own),
                    trace.size_class[taken][away],
                )
            )
        )
    batch, lane, destination, size_class = np.concatenate(columns, axis=1)
    by_batch = np.lexsort((lane, batch))
    return Trace.of(*(c[by_batch] for c in (batch, lane, destination, size_class)))


def departures(arrivals: np.ndarray) -> np.ndarray:
    """Slots in which packets leave a queue that sends one a slot, first come, first served.

    `arrivals` are their slots in order; a packet leaves in the slot it came in if none is ahead:
    d(i) = max(arrival(i), d(i-1) + 1), which is i plus the running maximum of arrival(j) - j.
    """
    number = np.arange(len(arrivals))
    return np.maximum.accumulate(arrivals - number) + number
