"""Random choices: even, and independent between switches, hosts and seeds; mixes of two schemes.

The bounds on statistics are 5 standard deviations, or for the largest of many of them 6; a good
generator would break one of either kind once in a million runs of all these tests. Nothing is drawn
anew from run to run.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from models.fabric.config import FabricConfig
from models.fabric.mix import second_switches
from models.fabric.reference import simulate
from models.fabric.reference_links import build
from models.fabric.schemes import rps, rsq
from models.fabric.streams import Kind, Stream
from tb.fabric.small import permutation
from tb.fabric.test_schemes_queues import packet

DRAWS, UPLINKS = 2000, 6


def choices(seed: int, kind: Kind, number: int) -> np.ndarray:
    """What RSQ picks at one switch of a tree with w = 6 uplinks, DRAWS times."""
    config = FabricConfig(radix=2 * UPLINKS, scheme="rsq", seed=seed)
    fabric = build(config, None)
    switch = (fabric.edges if kind == Kind.EDGE else fabric.aggs)[number]
    scheme, all_ = rsq.AtSwitch(switch), list(range(UPLINKS))
    return np.array([scheme.pick(packet(400), 0, all_) for _ in range(DRAWS)])


def deviations(rows: list[np.ndarray], most_lag: int) -> np.ndarray:
    """How often each pair of rows agrees, at lags up to `most_lag`, in standard deviations."""
    found = []
    for one, other in combinations(rows, 2):
        for lag in range(-most_lag, most_lag + 1):
            a, b = (one[lag:], other[: DRAWS - lag]) if lag >= 0 else (one[:lag], other[-lag:])
            count, p = len(a), 1 / UPLINKS
            found.append((np.sum(a == b) - count * p) / np.sqrt(count * p * (1 - p)))
    return np.array(found)


def check(rows: list[np.ndarray], most_lag: int = 3) -> None:
    z = deviations(rows, most_lag)
    assert np.abs(z).max() < 6
    assert abs(np.sqrt(len(z)) * z.mean()) < 5
    assert abs(np.mean(z**2) - 1) < 5 * np.sqrt(2 / len(z)) + 0.1


def test_switches_choose_independently() -> None:
    edges = [choices(0, Kind.EDGE, number) for number in range(0, 72, 6)]
    aggs = [choices(0, Kind.AGG, number) for number in range(0, 72, 6)]
    check(edges + aggs)


@pytest.mark.parametrize("seeds", [range(16), [2**k for k in range(0, 64, 5)]])
def test_seeds_choose_independently(seeds: range | list[int]) -> None:
    check([choices(seed, Kind.EDGE, 5) for seed in seeds])


def test_the_check_of_independence_sees_a_shifted_copy() -> None:
    one = choices(0, Kind.EDGE, 0)
    with pytest.raises(AssertionError):
        check([one, np.roll(one, 2)])


def test_choices_are_even() -> None:
    drawn = np.concatenate([choices(0, Kind.EDGE, number) for number in range(10)])
    counts = np.bincount(drawn, minlength=UPLINKS)
    mean = 10 * DRAWS / UPLINKS
    chi2 = ((counts - mean) ** 2 / mean).sum()
    assert chi2 < 5 + 5 * np.sqrt(10) * 2


def test_hosts_and_jitter_are_independent() -> None:
    rows = []
    for kind in (Kind.HOST, Kind.JITTER, Kind.FLOW):
        for number in range(6):
            stream = Stream(0, kind, number)
            rows.append(np.array([stream.below(UPLINKS) for _ in range(DRAWS)]))
    check(rows)


def test_switches_hash_independently() -> None:
    """The same entropies at different switches: what one picks tells nothing of the other."""
    fabric = build(FabricConfig(radix=2 * UPLINKS, scheme="rps"), None)
    all_ = list(range(UPLINKS))
    rows = []
    for switch in (*fabric.edges[:12], *fabric.aggs[:12]):
        scheme = rps.AtSwitch(switch)
        picks = [scheme.pick(packet(400, tag=entropy), 0, all_) for entropy in range(DRAWS)]
        rows.append(np.array(picks))
    check(rows)


@pytest.mark.parametrize("levels", [2, 3])
def test_mixes(levels: int) -> None:
    def chosen(mix: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
        scheme = None if mix == "none" else "ofan"
        return second_switches(
            FabricConfig(radix=8, levels=levels, scheme="ar", mix=mix, mix_scheme=scheme, seed=seed)
        )

    edges, aggs = chosen("random")
    assert edges.sum() + aggs.sum() == (len(edges) + len(aggs)) // 2
    assert (chosen("random", 1)[0] != edges).any()
    edges, aggs = chosen("pods")
    assert edges.sum() == len(edges) // 2
    if levels == 3:
        assert edges.reshape(8, 4).sum(1).tolist() == aggs.reshape(8, 4).sum(1).tolist()
        assert set(edges.reshape(8, 4).sum(1).tolist()) == {0, 4}
    edges, aggs = chosen("edges")
    assert (edges.all(), aggs.any()) == (True, False)
    edges, aggs = chosen("aggs")
    assert (edges.any(), aggs.all()) == (False, True)
    edges, aggs = chosen("none")
    assert not edges.any()
    assert not aggs.any()


def test_a_mix_runs_both() -> None:
    """Edges with Simple RR send equal shares up, aggregation switches with RSQ do not."""
    config = FabricConfig(
        radix=8, scheme="rsq", mix="edges", mix_scheme="simple-rr", acks=False, seed=1
    )
    fabric = build(config, None)
    assert {switch.scheme for switch in fabric.edges} == {"simple-rr"}
    assert {switch.scheme for switch in fabric.aggs} == {"rsq"}
    result = simulate(config, permutation(config, 8, seed=2))
    spread = [np.ptp(result.data[stage].reshape(32, 4), axis=1) for stage in (1, 2)]
    assert spread[0].max() <= 1 < spread[1].max()
