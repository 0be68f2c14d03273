"""Queue models of destination-based rotation (seed appendices D, F and H).

Each queue is N·D/D/1: N periodic sources with independent random phases, each sending one packet
every D packet times, into a server that takes one packet time T a packet. A source is a northbound
flow under DRB and a pointer under Ofan and pOfan. The load is ρ = N/D <= 1. Times are in packet
times T (gap included), queues in packets with the one in service.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from models.common.check import integer


@dataclass(frozen=True, kw_only=True)
class QueueModel:
    """One layer's queue: N sources and the load they make together.

    Raises `ValueError` naming the field and the value.
    """

    sources: float
    """N, expected number of flows or pointers that feed a queue."""
    load: float
    """ρ, packets a packet time, above 0 and at most 1."""

    def __post_init__(self) -> None:
        if not self.sources > 0:
            raise ValueError(f"sources must be more than 0, not {self.sources!r}")
        if not 0 < self.load <= 1:
            raise ValueError(f"load must be more than 0 and at most 1, not {self.load!r}")

    @property
    def period(self) -> float:
        """D = N/ρ, packet times from one packet of a source to its next."""
        return self.sources / self.load

    @property
    def exact(self) -> float:
        """Mean queue of N·D/D/1, packets. N between two integers: between their means, both at
        load ρ, in proportion."""
        below = math.floor(self.sources)
        share = self.sources - below
        mean = exact_mean(below, below / self.load)
        if share:
            mean += share * (exact_mean(below + 1, (below + 1) / self.load) - mean)
        return mean

    @property
    def truncated_normal(self) -> float:
        """Mean queue in the paper's approximation, packets; see `truncated_normal_mean`."""
        return truncated_normal_mean(self.sources, self.period)

    @property
    def bridge(self) -> float:
        """Mean queue with Gaussian arrivals and no further step, packets; see `bridge_mean`."""
        return bridge_mean(self.sources, self.period)


def hosts(radix: int) -> int:
    """Return n = k³/4, hosts of a three-level fat tree of k-port switches (k even, 4 to 1,024)."""
    integer("radix", radix, 4, 1024)
    if radix % 2:
        raise ValueError(f"radix must be even, not {radix!r}")
    return radix**3 // 4


def edge_flows(radix: int) -> float:
    """Return the expected northbound flows of an edge switch, w·(1 - (w-1)/(n-1)) (equation 14).

    A random permutation sends the other flows to hosts of the same edge switch; w = k/2.
    """
    n, w = hosts(radix), radix // 2
    return w * (1 - (w - 1) / (n - 1))


def pod_flows(radix: int) -> float:
    """Return the expected flows that leave a pod, w²·(1 - (w²-1)/(n-1)) (equation 15).

    Each crosses every aggregation switch of its pod, so this is also the flows of each of them.
    """
    n, w = hosts(radix), radix // 2
    return w * w * (1 - (w * w - 1) / (n - 1))


def edge_pointers(radix: int, pipes: int = 1) -> float:
    """Return the expected pointers in use at an edge switch (appendix F.4; pipes: appendix H).

    The w/P flows of a pipe fall on k²/2 destination edge switches, so a pipe uses
    (k²/2)·(1 - (1 - 2/k²)^(w/P)) pointers: for Ofan (P = 1) about w - 1/4, for pOfan up to w.
    """
    hosts(radix)
    w, bins = radix // 2, radix * radix / 2
    _check_pipes(pipes, w)
    return pipes * bins * -math.expm1(w // pipes * math.log1p(-1 / bins))


def aggregation_pointers(radix: int, pipes: int = 1) -> int:
    """Return the most pointers in use at an aggregation switch, P·(k - 1): one a pipe and pod."""
    hosts(radix)
    _check_pipes(pipes, radix // 2)
    return pipes * (radix - 1)


def drb_models(radix: int) -> dict[str, QueueModel]:
    """Return DRB's models of the `edge` uplink and of the `aggregation` uplink (appendix D).

    A flow visits an edge uplink every wT and an aggregation uplink every w²T, which gives
    ρ = N/w and ρ = N/w². The paper uses the aggregation model for the core's queue also, and the
    edge model for the last two downlinks.
    """
    w = radix // 2
    edge, pod = edge_flows(radix), pod_flows(radix)
    return {
        "edge": QueueModel(sources=edge, load=edge / w),
        "aggregation": QueueModel(sources=pod, load=pod / (w * w)),
    }


def ofan_models(radix: int, pipes: int = 1) -> dict[str, QueueModel]:
    """Return Ofan's models (P = 1), or pOfan's for P pipes, by layer as `drb_models`.

    The traffic and so the load are DRB's; the sources are pointers, modeled as if each carried as
    many flows as the next. With many pipes P·(k - 1) passes the number of flows there are, and a
    pointer without a flow is no source: then DRB's number holds.
    """
    drb = drb_models(radix)
    most = min(float(aggregation_pointers(radix, pipes)), drb["aggregation"].sources)
    return {
        "edge": QueueModel(sources=edge_pointers(radix, pipes), load=drb["edge"].load),
        "aggregation": QueueModel(sources=most, load=drb["aggregation"].load),
    }


def edge_uplink_limit(uplinks: int) -> int:
    """Return w + 1, packets an edge uplink never exceeds under DRB, Ofan and pOfan.

    Deterministic, whatever m (appendices D, F.4 and H): the at most w northbound flows put at
    most t/T + w packets on one uplink in any time t. It counts one size class.
    """
    return integer("uplinks", uplinks, 1, 64) + 1


def tail(sources: int, period: float, queue: int) -> float:
    """Return P(Q > x), the exact N·D/D/1 probability of more than x = `queue` packets.

    Σ over x < n <= N of C(N, n)·((n-x)/D)^n·(1 - (n-x)/D)^(N-n)·(D - N + x)/(D - n + x), the
    formula of Roberts, Mocci and Virtamo (reference 76 of the seed). n counts the packets that
    came in the last n - x packet times; at x = 0 the sum is ρ. Raises `ValueError` if D < N.
    """
    integer("sources", sources, 1, 10**6)
    integer("queue", queue, 0, 10**6)
    _check_period(sources, period)
    if queue >= sources:
        return 0.0
    if queue == 0:
        return sources / period
    counts = np.arange(queue + 1, sources + 1)
    choose = np.array([_log_choose(sources, int(n)) for n in counts])
    window = (counts - queue) / period
    logs = choose + counts * np.log(window) + (sources - counts) * np.log1p(-window)
    stay = (period - sources + queue) / (period - counts + queue)
    return float(np.sum(np.exp(logs) * stay))


def exact_mean(sources: int, period: float) -> float:
    """Return the exact mean queue of N·D/D/1, Σ over x of P(Q > x), packets.

    0 for no source. Stops where P(Q > x) falls below 10^-15. At D = N (ρ = 1) it is about
    √(π·N/8) + 1/3. Raises `ValueError` if D < N.
    """
    if sources == 0:
        return 0.0
    mean = 0.0
    for queue in range(sources):
        more = tail(sources, period, queue)
        mean += more
        if more < 1e-15:
            break
    return mean


def bridge_mean(sources: float, period: float) -> float:
    """Return the mean queue if the periodic arrivals are Gaussian, packets.

    The superposition becomes √N times a Brownian bridge over one period, with drift N - D. Its
    highest point passes x with probability exp(-2x(x + D - N)/N); the mean is the integral,
    √(π·N/8)·exp(c²/2N)·erfc(c/√(2N)) with c = D - N. Raises `ValueError` if D < N.
    """
    _check_period(sources, period)
    z = (period - sources) / math.sqrt(2 * sources)
    return math.sqrt(math.pi * sources / 8) * _scaled_erfc(z)


def truncated_normal_mean(sources: float, period: float) -> float:
    """Return the mean queue in the Gaussian approximation of appendix D, packets.

    The paper names its parts and prints no formula: Gaussian arrivals, a negative drift as ρ < 1,
    and a truncated normal since a queue is not negative. Read here as: over half a period, where
    the bridge of `bridge_mean` spreads most, the net arrivals are normal with mean
    μ = -(1 - ρ)·D/2 and variance σ² = N/4; the queue has this distribution cut off below 0. Its
    mean is μ + σ·φ(μ/σ)/Φ(μ/σ), which is 0.40·√N at ρ = 1, where the exact mean is 0.63·√N.
    Raises `ValueError` if D < N.
    """
    _check_period(sources, period)
    mu, sigma = -(period - sources) / 2, math.sqrt(sources) / 2
    z = -mu / sigma
    hazard = math.sqrt(2 / math.pi) / _scaled_erfc(z / math.sqrt(2))
    return mu + sigma * hazard


def _scaled_erfc(z: float) -> float:
    """exp(z²)·erfc(z) for z >= 0; past 20 by its asymptotic series, since erfc underflows at 27."""
    if z < 20:
        return math.exp(z * z) * math.erfc(z)
    square = 1 / (z * z)
    return (1 - square / 2 + 3 * square**2 / 4 - 15 * square**3 / 8) / (z * math.sqrt(math.pi))


def _log_choose(total: int, part: int) -> float:
    return math.lgamma(total + 1) - math.lgamma(part + 1) - math.lgamma(total - part + 1)


def _check_period(sources: float, period: float) -> None:
    if not period >= sources:
        raise ValueError(f"period must be {sources!r} (sources) or more, not {period!r}")


def _check_pipes(pipes: int, lanes: int) -> None:
    integer("pipes", pipes, 1, lanes)
    if lanes % pipes:
        raise ValueError(f"pipes must divide the lanes ({lanes}), not {pipes!r}")
