"""Lower bounds of the completion time: appendix A for permutations, simple ones for the rest.

Times are byte times from the first transmission of all. All bounds assume hosts at line rate and
every link up: under failures or at a lower rate they are the fully connected baseline that figure
9 counts from.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.network import tree_of
from models.ofan.bound import BoundSettings, completion_times


@dataclass(frozen=True)
class Bound:
    """No run of the model ends sooner."""

    name: str
    """Where it comes from: "appendix A", or a host's "sender", "receiver", "sender's link",
    "receiver's link"."""
    times: Fraction
    """Byte times."""

    def microseconds(self, config: FabricConfig) -> float:
        """The bound in µs."""
        return float(self.times * config.byte_ps / 10**6)

    def increase_percent(self, completion: int) -> float:
        """What a completion time, byte times, is above the bound, %."""
        return float((completion / self.times - 1) * 100)


def bound_of(config: FabricConfig, flows: Flows) -> Bound:
    """Return the largest bound that applies; raises `ValueError` if there is no flow."""
    if not len(flows):
        raise ValueError("flows must be at least one, not 0")
    bounds = naive_bounds(config, flows)
    if is_permutation(flows) and config.acks and config.host_order == "alternate":
        bounds.insert(0, permutation_bound(config, flows))
    return max(bounds, key=lambda bound: bound.times)


def is_permutation(flows: Flows) -> bool:
    """Whether each host that takes part sends one flow and receives one, all of one size and none
    held back."""
    source, destination = np.sort(flows.source), np.sort(flows.destination)
    return bool(
        len(flows)
        and np.array_equal(source, destination)
        and (np.diff(source) > 0).all()
        and (flows.packets == flows.packets[0]).all()
        and (flows.trigger == -1).all()
        and (flows.start == flows.start[0]).all()
    )


def settings_of(config: FabricConfig, hops: int) -> BoundSettings:
    """The settings of appendix A for a path of `hops` links."""
    return BoundSettings(
        link_gbps=config.link_gbps,
        link_latency_ns=config.link_latency_ns,
        hops=hops,
        payload_bytes=config.payload_bytes,
        header_bytes=config.header_bytes,
        ack_bytes=config.ack_bytes,
        gap_bytes=config.gap_bytes,
    )


def permutation_bound(config: FabricConfig, flows: Flows) -> Bound:
    """Appendix A for the longest path of a permutation; hosts take data and ACKs in turn."""
    hops = int(tree_of(config).hops(flows.source, flows.destination).max())
    times = completion_times(int(flows.packets[0]), settings_of(config, hops))
    return Bound("appendix A", times.bound * config.link_gbps / 8)


def naive_bounds(config: FabricConfig, flows: Flows) -> list[Bound]:
    """Bounds of any traffic, each the largest over all hosts.

    With P data packets to send, R to receive, and over h links at least to or from any peer:

        sender            (P - 1)·Td′, then the last data packet's idle path, and its ACK's
        receiver          the first data packet's idle path, (R - 1)·Td′, and the last one's ACK's
        sender's link     P data packets and R ACKs leave the host, and the last crosses the tree
        receiver's link   R data packets and P ACKs come over the host's link behind an idle path

    Without ACKs the first two lack the way back, and the other two are left out.
    """
    tree = tree_of(config)
    data, ack = config.data_time, config.ack_time
    hops = np.asarray(tree.hops(flows.source, flows.destination), np.int64)
    near = np.full(tree.hosts, tree.levels * 2, np.int64)  # links to the nearest peer
    near_in, near_out = near.copy(), near.copy()
    np.minimum.at(near_out, flows.source, hops)
    np.minimum.at(near_in, flows.destination, hops)
    sent = _sums(flows.source, flows.packets, tree.hosts)
    received = _sums(flows.destination, flows.packets, tree.hosts)
    there = near_out * (config.data_bytes + config.latency)
    came = near_in * (config.data_bytes + config.latency)
    back = config.ack_bytes + config.latency if config.acks else 0
    sender = (sent - 1) * data + there + near_out * back
    receiver = came + (received - 1) * data + near_in * back
    sender, receiver = sender[sent > 0], receiver[received > 0]
    bounds = {"sender": sender, "receiver": receiver}
    if config.acks:
        nearest = np.minimum(near_in, near_out)
        smaller = min(config.data_bytes, config.ack_bytes) + config.latency
        crossed = sent * data + received * ack - config.gap_bytes
        bounds["sender's link"] = crossed + config.latency + (nearest - 1) * smaller
        arrived = received * data + sent * ack - config.gap_bytes
        bounds["receiver's link"] = (nearest - 1) * smaller + arrived + config.latency
    return [Bound(name, Fraction(int(times.max()))) for name, times in bounds.items()]


def _sums(hosts: np.ndarray, packets: np.ndarray, count: int) -> np.ndarray:
    """Packets by host, int64 [count]; exact, as a sum in floating point need not be."""
    sums = np.zeros(count, np.int64)
    np.add.at(sums, hosts, packets)
    return sums
