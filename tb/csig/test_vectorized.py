"""The bulk model against the golden hop and the golden agents, packet by packet."""

from __future__ import annotations

import time
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from models.csig import loop, vectorized
from models.csig.answers import Answers
from models.csig.config import CsigConfig
from models.csig.hst import writes
from models.csig.meter import Meter
from models.csig.port import ACTIONS, Port
from models.csig.quantize import Compact, Wide
from models.csig.setup import Setup
from models.csig.signals import SIGNALS, more_severe
from models.csig.tag import FORMATS
from models.csig.trace import NO_TAG, Trace
from models.csig.vectorized import VectorizedHop, answer
from tb.csig.golden import Row, configs, serve, setups, traffic


@st.composite
def cases(draw: st.DrawFn) -> tuple[CsigConfig, Setup, Trace]:
    setup = draw(setups())
    config = draw(configs(setup))
    count, seed = draw(st.integers(1, 60)), draw(st.integers(0, 2**32))
    return config, setup, traffic(config, setup, count, seed)


def rows(answers: Answers) -> list[Row]:
    return list(zip(*(values.tolist() for values in vars(answers).values()), strict=True))


@given(cases())
def test_all_tags_equal_the_golden_model(case: Any) -> None:
    config, setup, trace = case
    got = rows(answer(config, setup, trace))
    assert got == serve(config, setup, trace)
    for place, name in enumerate(("replaced", "stripped", "unknown", "stale"), 2):
        if any(row[place] for row in got):
            event(name)


@given(cases(), st.integers(1, 12))
def test_calls_go_on_where_the_last_one_ended(case: Any, block: int) -> None:
    config, setup, trace = case
    whole = answer(config, setup, trace)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectorized, "_BLOCK", block)
        seen: list[int] = []
        parts = answer(config, setup, trace, seen.append)
    assert rows(parts) == rows(whole)
    assert seen[-1] == len(trace)


def test_every_value_around_the_bounds() -> None:
    """Delays, one after the other, through ranges of all widths from 1 ns up."""
    bounds = [Fraction(n * (n + 1), 2) for n in range(1, 32)]
    port = Port(
        id=0, speed_gbps=8, locator=1, compact={"delay": Compact(tuple(bounds), tuple(range(32)))}
    )
    setup = Setup(ports=(port,))
    delays = np.arange(600)
    trace = plain({"signal": np.full(600, 2), "delay_ns": delays}, 600)
    got = answer(setup.config(), setup, trace)
    assert got.value.tolist() == [sum(bound <= delay for bound in bounds) for delay in delays]


def test_numbers_of_the_loop_are_those_of_the_lists() -> None:
    assert [ACTIONS[n] for n in (loop.PASS, loop.STRIP, loop.UPDATE)] == ["pass", "strip", "update"]
    assert [signal.number for signal in SIGNALS] == list(range(len(SIGNALS)))
    assert FORMATS == ("compact", "wide")


def test_no_packets() -> None:
    setup = Setup(ports=(Port(id=0, speed_gbps=1, locator=0),))
    assert len(answer(setup.config(), setup, Trace.of(*[[]] * 9))) == 0


def plain(columns: dict[str, Any], count: int) -> Trace:
    names = ("time_ns", "port", "bytes", "delay_ns", "queue_bytes", "format", "signal")
    data = {name: np.zeros(count, np.int64) for name in (*names, "value", "locator")}
    return Trace.of(**(data | columns))


@pytest.mark.parametrize("speed", [1, 40, 400, 800])
def test_every_window_length_and_speed_without_overflow(speed: int) -> None:
    """The longest windows, filled to nothing and left idle, by the exact meter."""
    for window in (100, 999, 131_071, 2**20 - 1):
        wide = {"abw": Wide(Fraction(0), 18), "abw_c": Wide(Fraction(0), 0)}
        port = Port(id=0, speed_gbps=speed, locator=1, window_ns=window, wide=wide)
        setup = Setup(ports=(port,))
        config = setup.config()
        size = 2**config.bytes_bits - 1
        share = np.array([0.0, 0.3, 0.999, 1.5, 0.01])
        packets = np.ceil(share * port.capacity_bits / 8 / size).astype(int).clip(0, 3000)
        time = np.concatenate(
            [np.full(n, w * window) for w, n in enumerate(packets)] + [[6 * window, 7 * window]]
        )
        trace = plain(
            {"time_ns": time}
            | {"bytes": np.full(len(time), size), "format": np.ones(len(time), int)}
            | {"value": np.full(len(time), 2**20 - 1)},
            len(time),
        )
        got = answer(config, setup, trace)
        meter = Meter(port)
        expected = [port.code("wide", SIGNALS[0], meter.packet(int(t), size)) for t in time]
        assert got.value.tolist() == expected


def test_ten_million_packets_in_seconds() -> None:
    """A tenth of them, and time enough that a slow machine passes too."""
    compact = Compact(tuple(map(Fraction, (10, 20, 50))), (0, 1, 2, 3))
    port = Port(id=0, speed_gbps=100, locator=1, compact={"abw_c": compact, "delay": compact})
    setup = Setup(ports=(port,))
    config = setup.config()
    rng = np.random.default_rng(1)
    count = 1_000_000
    trace = Trace.of(
        np.cumsum(rng.integers(0, 200, count)),
        np.zeros(count),
        rng.integers(64, 9000, count),
        rng.integers(0, 80, count),
        np.zeros(count),
        np.zeros(count),
        rng.integers(0, 3, count),
        rng.integers(0, 32, count),
        rng.integers(0, 128, count),
    )
    vectorized.prepare(config, setup)
    started = time.process_time()
    got = answer(config, setup, trace)
    assert time.process_time() - started < 2
    assert 0.1 < got.replaced.mean() < 0.9


def test_a_loop_of_hops_is_stable() -> None:
    """Served again with what left it, nothing is replaced: replacing is idempotent."""
    compact = Compact(tuple(map(Fraction, (10, 20, 50))), (0, 1, 2, 3))
    port = Port(id=0, speed_gbps=100, locator=1, compact={"abw_c": compact, "delay": compact})
    setup = Setup(ports=(port,))
    config = setup.config()
    trace = traffic(config, setup, 2000, 5)
    first = answer(config, setup, trace)
    assert first.replaced.any()
    again = answer(config, setup, replace(trace, value=first.value, locator=first.locator))
    assert not again.replaced.any()
    changed = first.value != trace.value
    assert (changed <= first.replaced).all()
    severe = [
        more_severe(SIGNALS[signal], ours, theirs)
        for signal, ours, theirs in zip(
            trace.signal[changed], first.value[changed], trace.value[changed], strict=True
        )
    ]
    assert all(severe)
    assert (first.locator[first.replaced] == 1).all()
    assert NO_TAG in trace.value


def test_state_lives_from_call_to_call() -> None:
    one = {"bytes": np.array([125]), "format": np.array([1]), "value": np.array([2**20 - 1])}
    setup = Setup(ports=(Port(id=0, speed_gbps=8, locator=1, wide={"abw": Wide(Fraction(0), 10)}),))
    hop = VectorizedHop(setup.config(), setup)
    hop.serve(plain(one | {"time_ns": np.array([1000])}, 1))
    got = hop.serve(plain(one | {"time_ns": np.array([2000])}, 1))
    assert got.value.tolist() == [(10**9 - 125_000_000) >> 10]
    assert len(writes(setup, plain({}, 0))) == 0
