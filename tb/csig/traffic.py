"""Random ports, packets and agents' writes in bulk that reach every branch of a hop."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from models.csig.config import CsigConfig
from models.csig.hst import NO_CODE, Writes
from models.csig.port import Port
from models.csig.quantize import Compact, Wide
from models.csig.setup import Setup
from models.csig.signals import SIGNALS
from models.csig.tag import FORMATS, width
from models.csig.trace import NO_TAG, Trace

WINDOWS = (1000, 640, 131, 5000, 777, 2000, 100, 3000)
"""Window lengths, ns, one for each clock."""

PACKETS_A_WINDOW = 4
"""Of a port, on average, in the first length of window."""

LARGEST = {"abw": 12 * 10**9, "abw_c": 100, "delay": 12_000, "queue": 12_000}
"""Of a signal, about: quantizers are for values up to this."""


def random_setup(config: CsigConfig, rng: np.random.Generator, action: str | None = None) -> Setup:
    """Return all ports of a hop; one in eight passes or strips, if no action is given."""
    ports = []
    for number in range(config.ports):
        bits = min(width(format, config.layout, "lm") for format in config.formats)
        actions = ["update"] * 14 + ["pass", "strip"]
        agents = {s.name: "agent" for s in SIGNALS if config.agent and rng.random() < 0.2}
        if not config.native:
            agents = {s.name: "agent" for s in SIGNALS}
        ports.append(
            Port(
                id=number,
                speed_gbps=int(rng.choice([100, 100, 40, 200, 400, 800, 1])),
                locator=int(rng.integers(2**bits)),
                action=action or str(rng.choice(actions)),
                window_ns=WINDOWS[number % config.clocks],
                source=agents,
                compact={s.name: _compact(s.name, rng) for s in SIGNALS if rng.random() < 0.9},
                wide={s.name: _wide(s.name, rng) for s in SIGNALS if rng.random() < 0.9},
            )
        )
    return Setup(ports=tuple(ports))


def _compact(signal: str, rng: np.random.Generator) -> Compact:
    count = int(rng.choice([1, 2, 8, 31, 32]))
    steps = rng.integers(1, 2 * LARGEST[signal] // count + 2, count - 1)
    part = int(rng.integers(1, 4))
    bounds = tuple(Fraction(bound, part) for bound in np.cumsum(steps).tolist())
    return Compact(bounds, tuple(np.sort(rng.integers(0, 32, count)).tolist()))


def _wide(signal: str, rng: np.random.Generator) -> Wide:
    base = int(rng.integers(LARGEST[signal])) if rng.random() < 0.4 else 0
    largest = LARGEST[signal].bit_length()
    return Wide(Fraction(base), int(rng.integers(max(0, largest - 22), largest)))


def random_trace(
    config: CsigConfig, setup: Setup, count: int, rng: np.random.Generator, start_ns: int = 0
) -> Trace:
    """Return packets of all ports; time moves on evenly, now and then not at all or by many
    windows. One value in two is at an end of its range or in the least severe tenth."""
    c = config
    passing = rng.integers(0, 2 * WINDOWS[0] // PACKETS_A_WINDOW // c.ports + 2, count)
    leap = rng.random(count)
    passing[leap < 0.002] = 3 * WINDOWS[0]
    passing[leap < 0.0005] = 50 * WINDOWS[0]
    still = np.repeat(rng.random(count // 256 + 1) < 0.02, 256)[:count]
    passing[still] //= 20  # a burst: windows run full
    format = rng.choice([FORMATS.index(f) for f in c.formats], count)
    strange = rng.random(count) < 0.02
    format[strange] = rng.integers(0, 2, int(strange.sum()))
    signal = np.where(
        rng.random(count) < 0.05, rng.integers(0, 8, count), rng.integers(0, 4, count)
    )
    top = _top(c, "s", format)
    value = (rng.random(count) * (top + 1)).astype(np.int64)
    mild = np.where(signal < 2, top - value // 10, value // 10)
    value = np.choose(rng.integers(0, 5, count), (value, value, mild, mild, top * (signal < 2)))
    locator = (rng.random(count) * (_top(c, "lm", format) + 1)).astype(np.int64)
    bare = rng.random(count) < 0.02
    return Trace.of(
        time_ns=start_ns + np.cumsum(passing),
        port=rng.choice([port.id for port in setup.ports], count),
        bytes=rng.choice([64, 1500, 4096, 9216, 16383], count),
        delay_ns=(2 ** (rng.random(count) * 15)).astype(np.int64) - 1,
        queue_bytes=(2 ** (rng.random(count) * 28)).astype(np.int64) - 1,
        format=format,
        signal=signal,
        value=np.where(bare, NO_TAG, value),
        locator=np.where(bare, NO_TAG, locator),
        discard=rng.random(count) < (0.05 if width("compact", c.layout, "d") else 0),
    )


def _top(config: CsigConfig, field: str, format: np.ndarray) -> np.ndarray:
    """Return the largest value of a field in tags of these formats."""
    return np.array([2 ** width(f, config.layout, field) - 1 for f in FORMATS])[format]


def random_writes(
    config: CsigConfig, setup: Setup, trace: Trace, rng: np.random.Generator, every: int = 500
) -> Writes:
    """Return agents' writes among packets, one in `every`, to all ports and signals; of three
    values one has run out when it is written or soon after, and one in ten is missing. Half of them
    are for the next packet."""
    if not config.agent:
        return Writes.of()
    rows: list[tuple[Any, ...]] = []
    for before in np.sort(rng.integers(0, len(trace), len(trace) // every)).tolist():
        written = int(trace.time_ns[before])
        codes = [
            NO_CODE if rng.random() < 0.1 else int(rng.integers(2 ** width(f, "draft", "s")))
            for f in FORMATS
        ]
        port, signal = int(rng.choice([port.id for port in setup.ports])), int(rng.integers(4))
        if rng.random() < 0.5:  # that the next packet asks for
            port, signal = int(trace.port[before]), int(trace.signal[before] % 4)
        until = written + int(rng.choice([-1, 0, 1500, 10**6, 10**6, 10**6]))
        rows.append((before, port, signal, *codes, written, max(0, until)))
    return Writes.of(rows)
