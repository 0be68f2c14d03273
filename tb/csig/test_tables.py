"""Tables: what software writes, against the exact quantizers that it stands for."""

from __future__ import annotations

from bisect import bisect_right
from fractions import Fraction
from typing import Any

from hypothesis import assume, event, given
from hypothesis import strategies as st

from models.csig.config import CsigConfig
from models.csig.port import ACTIONS, Port
from models.csig.quantize import RANGES, Compact, Wide
from models.csig.signals import BY_NAME, SIGNALS, Signal
from models.csig.tables import (
    CAPACITY,
    CODE,
    LEVEL,
    OFFSET_BITS,
    RECORD,
    SCALE,
    SCALE_BITS,
    SHIFT_BITS,
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


bases = st.one_of(st.just(Fraction(0)), st.fractions(0, 10**11, max_denominator=9))


@given(links(), signals, st.integers(0, 2**27 - 1), bases, st.integers(0, 48))
def test_wide_codes_of_hardware_are_at_most_one_off(
    port: Port, signal: Signal, measure: int, base: Fraction, shift: int
) -> None:
    """And in general no more than 1 and one in 2**22 of x / 2**shift, which base counts in too."""
    if signal.measure == "available":
        measure %= port.capacity_bits + 1
    wide = Wide(base, shift)
    made = scale(port, signal, wide)
    assert made.factor < 1 << SCALE_BITS
    assert 0 <= made.offset < 1 << OFFSET_BITS
    assert made.shift < 1 << SHIFT_BITS
    value = port.value(signal, measure)
    off = abs(made.code(measure) - wide.code(value))
    assert off <= 1 + value / 2 ** (shift + 22)
    event(f"off by {min(off, 2)}{'+' * (off > 1)}")
    if value < 3 << 20 + shift:
        assert off <= 1


def test_wide_codes_are_exact_where_the_unit_is_a_power_of_two_of_codes() -> None:
    port = Port(id=0, speed_gbps=8, locator=0)
    for shift in range(5):
        made = scale(port, BY_NAME["delay"], Wide(Fraction(77), shift))
        exact = Wide(Fraction(77), shift)
        assert all(made.code(ns) == exact.code(ns) for ns in range(5000))
        made = scale(port, BY_NAME["queue"], Wide(Fraction(1, 2), shift))
        exact = Wide(Fraction(1, 2), shift)
        assert all(made.code(size) == exact.code(size) for size in range(5000))


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
