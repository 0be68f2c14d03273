"""Flows of the collectives of section 2.1: permutations, all-to-all and ring steps.

Random choices come from streams (seed, TRAFFIC, n) of `models.fabric.streams`, whole arrays at a
time; one drawn array takes one stream. Every flow may start at 0, jitter comes from the engine.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from models.common.check import choice, integer
from models.fabric.config import FabricConfig
from models.fabric.flows import MAX_PACKETS, Flows, flows_between
from models.fabric.network import tree_of
from models.fabric.streams import Kind, draws, stream_start

ORDERS = ("rotated", "random", "same")
SERVER = 8
"""GPUs of a server, each with a host's link of its own (sections 6.6 and 6.7)."""
STEP_PACKETS = {"llama3-8b": 119, "llama3-70b": 418, "llama3-405b": 1533}
"""Packets of a flow and layer in the training scenario of section 6.7."""


def permutation(config: FabricConfig, seed: int, packets: int, inter_pod: bool = False) -> Flows:
    """Every host sends `packets` to one other host and receives from one.

    Uniform among the permutations without a fixed point: hosts are sorted by a random number each,
    again until no host stands at its own place (2.7 times on average).

    With `inter_pod` every flow leaves its pod (its edge switch in two levels). Such permutations
    are too rare to wait for, so one is mixed: from "to the host of the same place in the next pod"
    on, hosts are paired at random 3·⌈log2 n⌉ times, and a pair swaps destinations where both still
    leave their pods. Each round is its own inverse, so the only law that stays is the uniform one.
    """
    hosts = tree_of(config).hosts
    _packets("packets", packets, hosts)
    draws = arrays(seed, hosts)
    source = np.arange(hosts)
    if inter_pod:
        drawn = _inter_pod(config, draws)
    else:
        if hosts < 2:
            raise ValueError(f"radix must make a tree of at least 2 hosts, not {config.radix!r}")
        drawn = source
        while (drawn == source).any():
            drawn = np.argsort(next(draws), kind="stable")
    return flows_between(hosts, source, drawn, np.full(hosts, packets))


def _inter_pod(config: FabricConfig, draws: Iterator[np.ndarray]) -> np.ndarray:
    tree = tree_of(config)
    pod = tree.pod_of(tree.edge_of(np.arange(tree.hosts)))
    drawn = np.roll(np.arange(tree.hosts), -(tree.hosts // tree.pods))
    for _ in range(3 * (tree.hosts - 1).bit_length()):
        pairs = np.argsort(next(draws), kind="stable")[: tree.hosts // 2 * 2]
        one, other = pairs[::2], pairs[1::2]
        leaves = (pod[one] != pod[drawn[other]]) & (pod[other] != pod[drawn[one]])
        one, other = one[leaves], other[leaves]
        drawn[one], drawn[other] = drawn[other], drawn[one]
    return drawn


def all_to_all(
    config: FabricConfig,
    seed: int,
    *,
    packets: int | None = None,
    host_packets: int | None = None,
    order: str = "rotated",
) -> Flows:
    """Every host sends to every other one: `packets` a flow, or `host_packets` in all, which are
    dealt over its flows as evenly as whole packets allow (at least one each).

    `order` is that of a host's destinations, in which its round-robin takes them up †: "rotated",
    host i begins with i + 1 and goes on in a circle, as NCCL and MPI do, so that each turn of the
    rounds is a permutation; "random", each host has an order of its own; "same", all begin with
    host 0, an incast. Flows are numbered source by source in that order.
    """
    hosts = tree_of(config).hosts
    choice("order", order, ORDERS)
    if (packets is None) == (host_packets is None):
        raise ValueError(
            f"packets or host_packets must be given, one of the two, not {packets!r} and "
            f"{host_packets!r}"
        )
    source = np.repeat(np.arange(hosts, dtype=np.int32), hosts - 1)
    turns = np.tile(np.arange(1, hosts, dtype=np.int32), hosts)
    if order == "rotated":
        destination = (source + turns) % hosts
    else:
        destination = turns - (turns <= source)  # 0, 1, … without the source
        if order == "random":
            place = np.argsort(next(arrays(seed, len(source))).reshape(hosts, -1), axis=1)
            rows = destination.reshape(hosts, -1)
            destination = np.take_along_axis(rows, place, axis=1).ravel()
    if packets is not None:
        _packets("packets", packets, len(source))
        sizes = np.full(len(source), packets)
    else:
        assert host_packets is not None
        integer("host_packets", host_packets, hosts - 1, MAX_PACKETS // hosts)
        dealt = np.arange(hosts) * host_packets // (hosts - 1)
        sizes = np.tile(np.diff(dealt), hosts)
    return flows_between(hosts, source, destination, sizes)


def ring(
    config: FabricConfig, seed: int, packets: int, *, stride: int = SERVER, steps: int = 1
) -> Flows:
    """Parallel rings over servers of 8 GPUs that stand at random places (section 6.7).

    GPU i sends `packets` to GPU i + stride (mod n). GPU i is rank i mod 8 of server ⌊i / 8⌋, and
    server s is at hosts 8·place(s) to 8·place(s) + 7, `place` a uniform permutation. With several
    `steps`, step t + 1 of GPU i begins when step t of GPU i - stride has sent its last packet, one
    link latency later: htsim's trigger, earlier than a receiver could know.
    """
    hosts = tree_of(config).hosts
    if hosts % SERVER:
        raise ValueError(
            f"radix must make a tree of whole servers of {SERVER} hosts, not {config.radix!r}"
        )
    integer("stride", stride, 1, hosts - 1)
    integer("steps", steps, 1, 10_000)
    _packets("packets", packets, hosts * steps)
    place = np.argsort(next(arrays(seed, hosts // SERVER)), kind="stable")
    gpu = np.arange(hosts)
    at = place[gpu // SERVER] * SERVER + gpu % SERVER
    source, destination = np.tile(at, steps), np.tile(at[(gpu + stride) % hosts], steps)
    step = np.repeat(np.arange(steps), hosts)
    before = (step - 1) * hosts + np.tile((gpu - stride) % hosts, steps)
    after = np.where(step == 0, -1, before)
    return flows_between(hosts, source, destination, np.full(len(source), packets), after)


def arrays(seed: int, count: int) -> Iterator[np.ndarray]:
    """Give draws 1 to count of streams (seed, TRAFFIC, 0), (seed, TRAFFIC, 1), …, uint64."""
    integer("seed", seed, 0, 2**64 - 1)
    for number in itertools.count():
        yield draws(stream_start(seed, Kind.TRAFFIC, number), count)


def _packets(name: str, packets: int, flows: int) -> None:
    """Check packets a flow, so that all flows together keep to `MAX_PACKETS`."""
    integer(name, packets, 1, max(1, MAX_PACKETS // max(1, flows)))
