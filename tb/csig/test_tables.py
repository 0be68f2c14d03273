"""Tables: what software writes, against the exact quantizers that it stands for."""

from __future__ import annotations

import math
from bisect import bisect_right
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from models.csig.config import MOST_MEASURE_BITS, CsigConfig
from models.csig.port import ACTIONS, Port
from models.csig.quantize import RANGES, Compact, Wide
from models.csig.signals import BY_NAME, SIGNALS, Signal
from models.csig.tables import (
    CAPACITY,
    CODE,
    LEAST_SHIFT,
    LEVEL,
    RECORD,
    SCALE,
    SCALE_BITS,
    SHIFT_BITS,
    START_BITS,
    SWAP,
    record,
    scale,
    search,
    threshold,
    tree,
    writes,
)
from tb.csig.golden import SCALES, compacts

CONFIG = CsigConfig()
signals = st.sampled_from(SIGNALS)


@st.composite
def links(draw: Any) -> Port:
    window = draw(st.sampled_from([100, 999, 1000, 128_000, 131_071]))
    return Port(id=0, speed_gbps=draw(st.integers(1, 800)), locator=0, window_ns=window)


@given(links(), signals, st.fractions(-5, 10**10, max_denominator=50), st.integers(-2, 2))
def test_thresholds_are_exact(port: Port, signal: Signal, bound: Fraction, off: int) -> None:
    """Around a bound: a measure reaches the threshold just where its value reaches the bound."""
    bits = CONFIG.measure_bits
    least = threshold(port, signal, bound, bits)
    measure = least + off
    assume(0 <= measure < 1 << bits)
    assert (measure >= least) == (port.value(signal, measure) >= bound)


@given(st.lists(st.integers(0, 1000), max_size=RANGES - 1).map(sorted), st.integers(0, 1023))
def test_the_tree_finds_what_a_search_finds(thresholds: list[int], measure: int) -> None:
    words = tree(thresholds, 1024)
    assert len(words) == RANGES - 1
    assert search(words, measure) == bisect_right(thresholds, measure)


@given(links(), signals, st.integers(0, 2**27 - 1), st.data())
def test_compact_codes_of_hardware_are_exact(
    port: Port, signal: Signal, measure: int, data: Any
) -> None:
    quantizer: Compact = data.draw(compacts(SCALES[signal.name]))
    bits = CONFIG.measure_bits
    words = tree([threshold(port, signal, b, bits) for b in quantizer.bounds], 1 << bits)
    codes = [*quantizer.codes, *[quantizer.codes[-1]] * (RANGES - len(quantizer.codes))]
    assert codes[search(words, measure)] == quantizer.code(port.value(signal, measure))


bases = st.one_of(
    st.just(Fraction(0)),
    st.fractions(0, 10**4, max_denominator=99),
    st.fractions(0, 10**12, max_denominator=99),
    st.just(Fraction(10**18)),
)
windows = st.one_of(st.integers(100, 2**20 - 1), st.sampled_from([100, 1000, 128_000, 2**20 - 1]))
wides = st.builds(Wide, bases, st.integers(0, 48))


def most(port: Port, signal: Signal) -> int:
    """The largest measure that any hardware has of a signal."""
    return port.capacity_bits if signal.measure == "available" else 2**MOST_MEASURE_BITS - 1


@given(st.integers(1, 800), windows, signals, wides, st.data())
def test_wide_codes_of_hardware_are_exact(
    speed: int, window: int, signal: Signal, wide: Wide, data: Any
) -> None:
    """Of any measure, and of those on both sides of where a code begins, which are the hardest."""
    port = Port(id=0, speed_gbps=speed, locator=0, window_ns=window)
    made = scale(port, signal, wide)
    assert 0 < made.factor < 1 << SCALE_BITS
    assert -1 << (START_BITS - 1) <= made.start < 1 << (START_BITS - 1)
    assert LEAST_SHIFT <= made.shift < LEAST_SHIFT + (1 << SHIFT_BITS)
    end = most(port, signal)
    code = data.draw(st.integers(0, wide.code(port.value(signal, end))))
    edge = math.ceil((wide.base + (code << wide.shift)) / port.value(signal, 1))
    for measure in (0, end, data.draw(st.integers(0, end)), edge - 1, edge, edge + 1):
        if 0 <= measure <= end:
            assert made.code(measure) == wide.code(port.value(signal, measure))


@given(st.integers(1, 800), windows, signals, st.integers(0, 48))
def test_the_error_of_a_wide_factor_never_reaches_a_code(
    speed: int, window: int, signal: Signal, shift: int
) -> None:
    """The inequality by which `scale` is exact, for all measures at once: those that come to codes
    of 20 bits are less than 2**20 and one unit."""
    port = Port(id=0, speed_gbps=speed, locator=0, window_ns=window)
    made = scale(port, signal, Wide(Fraction(0), shift))
    unit = port.value(signal, 1) / 2**shift
    units = min(most(port, signal), math.ceil(2**20 / unit))
    beside_the_next = 1 / Fraction(unit.denominator)
    if units * unit > Fraction(1, 2):  # or all are code 0, far from 1
        assert Fraction(units + 1, 1 << made.shift) <= beside_the_next


@pytest.mark.parametrize("speed", [1, 3, 10, 100, 799, 800])
def test_wide_codes_of_whole_values(speed: int) -> None:
    """An idle port has 100 % and C left; a queue of 10 Gb/s with 10 bytes takes 8 ns."""
    for window in (100, 1000, 16_000, 128_000, 131_071, 2**20 - 1):
        port = Port(id=0, speed_gbps=speed, locator=0, window_ns=window)
        idle = port.capacity_bits
        assert scale(port, BY_NAME["abw_c"], Wide(Fraction(0), 0)).code(idle) == 100
        capacity = speed * 125_000_000
        assert scale(port, BY_NAME["abw"], Wide(Fraction(0), 18)).code(idle) == capacity >> 18
        assert scale(port, BY_NAME["abw"], Wide(Fraction(capacity - 5), 0)).code(idle) == 5
        queue = scale(port, BY_NAME["queue"], Wide(Fraction(0), 0))
        assert [queue.code(speed * n) for n in range(3000)] == [8 * n for n in range(3000)]
    if speed == 10:
        assert (queue.code(10), queue.code(1250)) == (8, 1000)


def test_writes_of_a_port() -> None:
    port = Port(
        id=3,
        speed_gbps=100,
        locator=77,
        action="strip",
        source={"delay": "agent"},
        compact={"abw_c": Compact((Fraction(50),), (4, 9))},
        wide={"queue": Wide(Fraction(0), 2)},
    )
    config = CsigConfig(ports=4, clocks=3)
    words = list(writes(config, port, clock=2))
    kinds = [word.kind for word in words]
    assert kinds == [*[LEVEL] * 31, *[CODE] * 32, SCALE, SWAP, CAPACITY, RECORD]
    assert {word.port for word in words} == {3}
    never = 1 << config.measure_bits
    levels = {word.index: word.value for word in words if word.kind == LEVEL}
    assert sorted(levels) == list(range(1, 32))
    assert sorted(levels.values()) == [50_000, *[never] * 30]
    assert [word.value for word in words if word.kind == CODE] == [4, *[9] * 31]
    assert (words[-2].index, words[-2].value) == (2, 100_000)
    assert words[-1].value == record(port)
    assert record(port) == 77 | ACTIONS.index("strip") << 16 | 0b1000_0010_0100 << 18
    only = CsigConfig(ports=4, formats=("wide",))
    assert {word.kind for word in writes(only, port)} == {SCALE, SWAP, CAPACITY, RECORD}
