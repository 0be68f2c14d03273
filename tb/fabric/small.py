"""Small traffic for tests of the network, and what must be true of every trace of packets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.flows import Flows, flows_between
from models.fabric.network import tree_of
from models.fabric.result import Result


def flows(
    config: FabricConfig,
    pairs: Iterable[tuple[int, int]],
    packets: int | Sequence[int],
    start: int | Sequence[int] = 0,
    after: int | Sequence[int] = -1,
) -> Flows:
    """Flows between pairs of (source, destination)."""
    source, destination = np.array(list(pairs), np.int32).T

    def each(values: int | Sequence[int], kind: type) -> np.ndarray:
        return np.ascontiguousarray(np.broadcast_to(np.array(values, kind), source.shape))

    return flows_between(
        tree_of(config).hosts,
        source,
        destination,
        each(packets, np.int64),
        each(after, np.int32),
        start=each(start, np.int64),
    )


def triggered(
    config: FabricConfig,
    pairs: Iterable[tuple[int, int]],
    packets: int | Sequence[int],
    needs: Sequence[int],
    **triggers: Sequence[int],
) -> Flows:
    """The same with `trigger`, `sent`, `received` (-1 for all if left out) and `needs`."""
    plain = flows(config, pairs, packets)
    arrays = {name: np.array(values, np.int32) for name, values in triggers.items()}
    return replace(plain, needs=np.array(needs, np.int32), **arrays)


def permutation(config: FabricConfig, packets: int, seed: int = 0) -> Flows:
    """Every host sends to the next one in a random circle of all hosts."""
    hosts = tree_of(config).hosts
    circle = np.random.default_rng(seed).permutation(hosts)
    pairs = sorted(zip(circle.tolist(), np.roll(circle, 1).tolist(), strict=True))
    return flows(config, pairs, packets)


def check_trace(config: FabricConfig, flows: Flows, result: Result) -> None:
    """Every packet goes from its source to its destination link by link, in time, and no link sends
    two packets at once or out of order; raises `AssertionError`. The run must have a trace and no
    loss."""
    tree, trace = tree_of(config), result.trace
    assert trace is not None
    frame = np.where(trace["ack"], config.ack_bytes, config.data_bytes)
    there = trace["start"] + frame + config.latency
    ways: dict[tuple[int, int, bool], list[tuple[int, int, int]]] = {}
    for row, end in zip(trace.tolist(), there.tolist(), strict=True):
        ways.setdefault(row[:3], []).append((row[4], row[3], end))
    kinds = 2 if config.acks else 1
    assert len(ways) == kinds * int(flows.packets.sum())
    for (flow, _, ack), way in ways.items():
        ends = [int(flows.source[flow]), int(flows.destination[flow])]
        source, destination = ends[::-1] if ack else ends
        way.sort()
        assert len(way) == int(tree.hops(source, destination))
        assert (way[0][1], way[-1][1] - (tree.links - tree.hosts)) == (source, destination)
        for (_, _, end), (arrival, _, _) in pairwise(way):
            assert end == arrival
    for one, other in pairwise(range(len(trace))):
        if trace["link"][one] == trace["link"][other]:
            gone = trace["start"][one] + frame[one] + config.gap_bytes
            assert trace["arrival"][one] <= trace["arrival"][other]
            assert trace["start"][other] == max(trace["arrival"][other], gone)
