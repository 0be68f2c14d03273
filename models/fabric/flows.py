"""Who sends how many packets to whom: what an engine takes as its traffic."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.flows_check import check, whole
from models.fabric.matrix import Connections
from models.fabric.network import tree_of

MAX_PACKETS = 2**40
"""Most data packets of all flows together."""

MAX_TIME = 2**54
"""Starts are below this, and so is the time of all packets one after another, byte times: the
engines count times in 55 bits."""


@dataclass(frozen=True)
class Flows:
    """Messages in the order in which a host's round-robin takes them up.

    Arrays but the last have one entry a flow. A flow begins at `start`, or when the trigger that it
    waits for starts it. Raises `ValueError` naming field, flow and value for whatever is wrong in
    the arrays, and for flows that can never begin.
    """

    hosts: int
    source: np.ndarray
    """int32, hosts."""
    destination: np.ndarray
    """int32, hosts; never the source."""
    packets: np.ndarray
    """int64, data packets, at least 1."""
    start: np.ndarray
    """int64, byte times; the host's jitter comes on top. Of no meaning for a flow that a trigger
    starts."""
    trigger: np.ndarray
    """int32, the trigger that starts the flow, or -1."""
    sent: np.ndarray
    """int32, the trigger that the flow activates when its last data packet has left its host, or
    -1. Other hosts know it one link latency later."""
    received: np.ndarray
    """int32, the trigger that the flow activates when all its data packets have arrived, or -1.
    Hosts but the receiver know it one link latency and the time of one data packet later."""
    needs: np.ndarray
    """int32 [triggers], how often a trigger is activated before it starts all its flows: as often
    as flows name it in `sent` and `received`. A flow begins when its host knows of all activations.
    0 for a multishot trigger: each activation starts one more of its flows, in their order. All
    that activate it are `sent` by one host, or `received` by one."""

    def __post_init__(self) -> None:
        check(self, MAX_PACKETS, MAX_TIME)

    def __len__(self) -> int:
        return len(self.source)


def flows_between(
    hosts: int,
    source: np.ndarray,
    destination: np.ndarray,
    packets: np.ndarray,
    after: np.ndarray | None = None,
    *,
    start: np.ndarray | None = None,
) -> Flows:
    """Return flows that begin at `start` (all at 0 if None), or when the flow `after` (its number,
    or -1) has sent its last packet."""
    count = len(source)
    trigger = sent = np.broadcast_to(np.int32(-1), count)
    received = sent
    causes = np.zeros(0, np.int64)
    if after is not None:
        whole("after", after, -1, count - 1)
        causes, of = np.unique(after[after >= 0], return_inverse=True)
        trigger, sent = trigger.copy(), sent.copy()
        trigger[after >= 0] = of
        sent[causes] = np.arange(len(causes))
    return Flows(
        hosts,
        source.astype(np.int32, copy=False),
        destination.astype(np.int32, copy=False),
        packets.astype(np.int64, copy=False),
        np.zeros(count, np.int64) if start is None else start.astype(np.int64, copy=False),
        trigger,
        sent,
        received,
        np.ones(len(causes), np.int32),
    )


def check_run(config: FabricConfig, flows: Flows) -> None:
    """Raise `ValueError` naming field and value unless the flows are of the tree of `config`, and
    their packets within the times of the engines."""
    hosts, most = tree_of(config).hosts, _most_packets(config)
    if flows.hosts != hosts:
        raise ValueError(f"hosts must be the {hosts} hosts of the tree, not {flows.hosts}")
    if (total := int(flows.packets.sum())) > most:
        raise ValueError(f"packets must be at most {most} in all flows, not {total}")


def _most_packets(config: FabricConfig) -> int:
    """Packets whose times, one after another, engines can count."""
    return min(MAX_PACKETS, MAX_TIME // math.ceil(config.data_time / config.exact_rate))


def flows_of(config: FabricConfig, matrix: Connections) -> Flows:
    """Turn a connection matrix into flows: sizes into whole packets, picoseconds into byte times
    (rounded up).

    Raises `ValueError` (of a file `InputError`) naming field and value if the matrix has more hosts
    than the tree, no flow, or a start or sizes beyond the range of the engines.
    """
    hosts = tree_of(config).hosts
    if matrix.nodes > hosts:
        reason = f"must be at most the {hosts} hosts of the tree"
        raise matrix.refused("Nodes", matrix.nodes, reason, None)
    if not matrix.flows:
        raise matrix.refused("Connections", 0, "must be at least one flow", matrix.line)
    packets = [-(-flow.size // config.payload_bytes) for flow in matrix.flows]
    most, total = _most_packets(config), 0
    for flow, count in zip(matrix.flows, packets, strict=True):
        total += count
        if total > most:
            reason = f"must make at most {most} packets of all flows"
            raise matrix.refused("size", flow.size, reason, flow.line)
    ps = config.byte_ps
    start = [-(-(flow.start or 0) * ps.denominator // ps.numerator) for flow in matrix.flows]
    if max(start) >= MAX_TIME:
        flow = matrix.flows[next(n for n, time in enumerate(start) if time >= MAX_TIME)]
        raise matrix.refused("start", flow.start, "must be below 2**54 byte times", flow.line)
    return Flows(
        hosts,
        np.array([flow.source for flow in matrix.flows], np.int32),
        np.array([flow.destination for flow in matrix.flows], np.int32),
        np.array(packets, np.int64),
        np.array(start, np.int64),
        *matrix.numbered(),
    )
