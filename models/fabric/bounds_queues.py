"""Mean queues of destination-based schemes by the N·D/D/1 model (appendices D to H).

N sources each send one packet every D packet times to a queue that serves one packet a packet time,
with independent random phases. The load is ρ = N/D, and the queue is bounded even at ρ = 1. Lengths
are unfinished work in packets: what waits, with what is left of the packet in service.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from models.common.check import integer
from models.fabric.config import FabricConfig
from models.fabric.network import tree_of
from models.fabric.schemes import parse_scheme

EDGE_STAGES = ("E→A", "A→E", "E→H")
"""Where the paper draws the model of edge switches; A→C and C→A have that of the cores."""


def tail(sources: int, period: float, length: float) -> float:
    """Return P(queue > length) of N·D/D/1 with N = `sources` and D = `period` packet times.

    Σ over n from ⌊x⌋ + 1 to N of C(N, n)·((n-x)/D)ⁿ·(1 - (n-x)/D)^(N-n)·(D-N+x)/(D-n+x), the
    closed form of the queue at any moment [Roberts, Mocci, Virtamo]. Raises `ValueError` if
    N > D, where there is no stationary queue.
    """
    _check(sources, period)
    if length < 0:
        return 1.0
    if length >= sources:
        return 0.0
    n = np.arange(math.floor(length) + 1, sources)
    part = (n - length) / period
    slack = (period - sources + length) / period
    # (1 - part)^(N-n) / (D - n + x) has no pole: one factor of the power cancels it.
    terms = np.exp(
        _log_binomials(sources)[n] + n * np.log(part) + (sources - n - 1) * np.log1p(-part)
    )
    last = ((sources - length) / period) ** sources
    return min(1.0, float(terms.sum()) * slack + last)


def mean_queue(sources: int, period: float) -> float:
    """Return the mean of N·D/D/1, packets: the tail's integral, exact up to rounding.

    Between whole lengths the tail is a polynomial of degree N, which Gauss-Legendre integrates
    exactly with N/2 + 1 points.
    """
    _check(sources, period)
    points, weights = np.polynomial.legendre.leggauss(sources // 2 + 1)
    total = 0.0
    for start in range(sources):
        inside = [tail(sources, period, start + (x + 1) / 2) for x in points]
        part = float(np.dot(weights, inside)) / 2
        total += part
        if part < 1e-12:
            break
    return total


def bridge_mean(sources: float, load: float) -> float:
    """Return the mean of the heavy-traffic limit, packets: P(queue > x) = exp(-2x²/N - 2(1-ρ)x).

    √(πN/8)·exp(N(1-ρ)²/2)·erfc((1-ρ)·√(N/2)): the superposed sources as a Brownian bridge with the
    drift ρ - 1.
    """
    a = (1 - load) * math.sqrt(sources / 2)
    return math.sqrt(math.pi * sources / 8) * math.exp(a * a) * math.erfc(a)


def truncated_normal_mean(sources: float, load: float) -> float:
    """Return the mean of appendix D's Gaussian approximation as read here, packets.

    The paper gives no formula: "the superposition of periodic arrivals as a Gaussian process,
    together with a negative drift; since the queue size cannot be negative, a truncated normal
    distribution". Read as the normal law that the net arrivals have in mid-period, where their
    variance is largest, N/4, with the mean -(1-ρ)·N/2, cut off below 0: its mean is
    μ + σ·φ(μ/σ)/Φ(μ/σ).
    """
    mean, deviation = -(1 - load) * sources / 2, math.sqrt(sources) / 2
    z = mean / deviation
    density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return mean + deviation * density / (math.erfc(-z / math.sqrt(2)) / 2)


def expected_sources(config: FabricConfig) -> dict[str, tuple[float, float]]:
    """Return (N, ρ) of a queue of each stage but the first, for a random permutation.

    DRB, equations 14 and 15: w·(1 - (w-1)/(n-1)) northbound flows at an edge switch and
    w²·(1 - (w²-1)/(n-1)) in a pod, each seen once in as many packet times as there are ports.
    Ofan: its expected pointers, (k²/2)·(1 - (1 - 2/k²)^w) at an edge and k - 1 at an aggregation
    switch, each with its share of the same load; pOfan: one set of those an ingress pipe, at most
    as many as DRB's flows. Ethereal: subflows, w² a flow at an edge.

    The three edge stages share one model and the two core stages the other, as in figures 16 and
    18. Raises `ValueError` for a scheme that rotates over no destinations, or two levels.
    """
    tree = tree_of(config)
    name, pipe = parse_scheme(config.scheme)
    if config.levels != 3:
        raise ValueError(f"levels must be 3 for the queue models, not {config.levels!r}")
    if name not in ("drb", "ethereal", "pofan", "ofan"):
        raise ValueError(f"scheme must be drb, ethereal, pofanW or ofan, not {config.scheme!r}")
    w, n, k = tree.half, tree.hosts, tree.radix
    north = w * (1 - (w - 1) / (n - 1))
    far = w * w * (1 - (w * w - 1) / (n - 1))
    edge_load, core_load = north / w, far / (w * w)
    edge, core = north, far
    if name == "ethereal":
        edge, core = north * w, far
    elif name in ("ofan", "pofan"):
        pipes = 1 if pipe is None else -(-w // pipe)
        lanes = w / pipes  # on average, where the last pipe is narrower
        drawn = pipes * tree.edges * (1 - (1 - 1 / tree.edges) ** lanes)
        edge, core = min(north, drawn), min(far, float(pipes * (k - 1)))
    models = {"edge": (edge, edge_load), "core": (core, core_load)}
    return {stage: models["edge" if stage in EDGE_STAGES else "core"] for stage in tree.stages[1:]}


def modelled_queue(sources: float, load: float) -> float:
    """Return the mean of N·D/D/1 where N is an expectation: between the two whole N around it, both
    at the load ρ, packets."""
    low = max(1, math.floor(sources))
    part = sources - low
    one = mean_queue(low, low / load)
    return one if part <= 0 else (1 - part) * one + part * mean_queue(low + 1, (low + 1) / load)


@cache
def _log_binomials(n: int) -> np.ndarray:
    """Logarithm of C(n, k) for k = 0 to n."""
    logs = np.array([math.lgamma(k + 1) for k in range(n + 1)])
    return logs[n] - logs - logs[::-1]


def _check(sources: int, period: float) -> None:
    integer("sources", sources, 1, 4096)
    if not sources <= period:
        raise ValueError(f"period must be at least the {sources} sources, not {period!r}")
