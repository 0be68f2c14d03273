"""Who sends how many packets to whom: what an engine takes as its traffic."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.connections import Connections
from models.fabric.network import tree_of

MAX_PACKETS = 2**40
"""Most data packets of all flows together."""

MAX_TIME = 2**54
"""Starts are below this, and so is the time of all packets one after another, byte times: the
engines count times in 55 bits."""


@dataclass(frozen=True)
class Flows:
    """Messages in the order in which a host's round-robin takes them up.

    Arrays have one entry a flow. A flow begins at `start`, or with the flow `after` that fires it.
    """

    hosts: int
    source: np.ndarray
    """int32, hosts."""
    destination: np.ndarray
    """int32, hosts; never the source."""
    packets: np.ndarray
    """int64, data packets, at least 1."""
    start: np.ndarray
    """int64, byte times; the host's jitter comes on top. Of no meaning where `after` is not -1."""
    after: np.ndarray
    """int32, the flow whose last packet lets this one begin, or -1. It begins when that packet has
    left its host, and if that is another host one link latency later."""

    def __len__(self) -> int:
        return len(self.source)


def flows_of(config: FabricConfig, connections: Connections) -> Flows:
    """Turn a connection matrix into flows: sizes into whole packets, picoseconds into byte times
    (rounded up).

    Raises `ValueError` naming field and value if the matrix has more hosts than the tree, no flow,
    a start or sizes beyond the range of the engines, or several flows that fire one trigger: which
    of them does so first is known only while they run.
    """
    hosts = tree_of(config).hosts
    if connections.nodes > hosts:
        raise ValueError(
            f"nodes must be at most the {hosts} hosts of the tree, not {connections.nodes}"
        )
    if not connections.flows:
        raise ValueError("Connections must be at least one flow, not 0")
    firing: dict[int, int] = {}
    for number, flow in enumerate(connections.flows):
        if flow.fires is not None:
            if flow.fires in firing:
                raise ValueError(
                    f"send_done_trigger must be of one flow, not {flow.fires} of flows "
                    f"{firing[flow.fires] + 1} and {number + 1}"
                )
            firing[flow.fires] = number
    packets = [-(-flow.size // config.payload_bytes) for flow in connections.flows]
    most = min(MAX_PACKETS, MAX_TIME // math.ceil(config.data_time / config.exact_rate))
    if sum(packets) > most:
        raise ValueError(f"size must make at most {most} packets of all flows, not {sum(packets)}")
    ps = config.byte_ps
    start = [-(-(flow.start or 0) * ps.denominator // ps.numerator) for flow in connections.flows]
    if max(start) >= MAX_TIME:
        raise ValueError(f"start must be below 2**54 byte times, not {max(start)}")
    after = [-1 if flow.trigger is None else firing[flow.trigger] for flow in connections.flows]
    return Flows(
        hosts,
        np.array([flow.source for flow in connections.flows], np.int32),
        np.array([flow.destination for flow in connections.flows], np.int32),
        np.array(packets, np.int64),
        np.array(start, np.int64),
        np.array(after, np.int32),
    )
