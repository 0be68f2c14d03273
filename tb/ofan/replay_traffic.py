"""The study's traffic without end, for the long replays of pointer engines.

Cycles in which no lane has a packet are there too, so batches come as far apart as on the lanes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from models.ofan.config import OfanConfig
from models.ofan.study_traffic import LOADS, TRAFFIC, Size

KINDS: dict[str, Sequence[str]] = {
    "permutation": ("permutation", "drift", "in-step"),
    "all-to-all": ("all-to-all",),
    "ring": ("ring",),
    "moe": ("moe",),
    "random": (),
    "storm": ("storm",),
    "adversarial": ("one-bank", "alternating", "one-key"),
}
"""Kinds of traffic, and which of the study's (`models.ofan.study_traffic.TRAFFIC`) each is made of,
in turns; random keys, drawn here, come at every load of the study in turns."""

CYCLES = 4_100
"""Of a case: 100 periods of line rate."""

_SIZE = Size(cases=10**9, periods=100, drifts=100, cycles=40 * CYCLES)


def traffic(config: OfanConfig, kind: str, seed: int) -> Iterator[np.ndarray]:
    """Yield arrays [cycles, lanes] of keys, -1 where a lane is idle, without end.

    `seed` draws the keys of `random`; the other kinds are the same for every seed.
    """
    if kind == "random":
        yield from _random(config, np.random.default_rng(seed))
    made = [_cases(config, name) for name in KINDS[kind]]
    while True:
        for cases in made:
            yield next(cases)


def _cases(config: OfanConfig, name: str) -> Iterator[np.ndarray]:
    """Yield the study's cases, again and again where it has a limited number of them."""
    while True:
        yield from TRAFFIC[name].cases(config, _SIZE)


def _random(config: OfanConfig, rng: np.random.Generator) -> Iterator[np.ndarray]:
    shape = (CYCLES, config.lanes)
    while True:
        for load in LOADS:
            keys = rng.integers(config.keys, size=shape)
            yield np.where(rng.random(shape) < load / 100, keys, -1)


def cycles(config: OfanConfig, kind: str, seed: int, number: int) -> Iterator[np.ndarray]:
    """Yield the cycles of `traffic` until `number` of them have had a packet."""
    for keys in traffic(config, kind, seed):
        there = np.flatnonzero((keys >= 0).any(axis=1))
        if len(there) >= number:
            yield keys[: there[number - 1] + 1]
            return
        number -= len(there)
        yield keys
