"""Quantizers: codes and their inverse, with the bounds of the error, in exact numbers."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.csig.quantize import WIDE_BITS, Compact, Wide, error_bound, even, nearest
from tb.csig.golden import PERCENT, compacts, fractions, wides

TOP = 2**WIDE_BITS - 1


def test_the_example_of_the_issue() -> None:
    """codes[i] for bounds[i-1] <= x < bounds[i], compared exactly."""
    just_below = Fraction(99999999, 10**8)
    for number, bound in enumerate(PERCENT.bounds):
        assert PERCENT.code(bound) == number + 1
        assert PERCENT.code(bound * just_below) == number
    assert PERCENT.code(0) == 0
    assert PERCENT.code(100) == 7
    assert PERCENT.interval(0) == (None, 5)
    assert PERCENT.interval(3) == (25, 40)
    assert PERCENT.interval(7) == (85, None)
    assert PERCENT.interval(8) is None


def test_wide_saturates_at_both_ends() -> None:
    wide = Wide(Fraction(1000), 4)
    assert [wide.code(x) for x in (0, 999, 1000, 1015, 1016)] == [0, 0, 0, 0, 1]
    end = 1000 + (TOP << 4)
    assert [wide.code(x) for x in (end - 1, end, end + 16, end * 9)] == [TOP - 1, TOP, TOP, TOP]
    assert wide.interval(0) == (None, 1016)
    assert wide.interval(1) == (1016, 1032)
    assert wide.interval(TOP) == (end, None)
    assert error_bound(wide.interval(1)) == 8
    assert nearest(wide.interval(1)) == 1024
    assert error_bound(wide.interval(TOP)) is None
    assert nearest(wide.interval(TOP)) == end


@given(compacts(), fractions)
def test_a_compact_code_names_the_range_that_the_value_is_in(q: Compact, value: Fraction) -> None:
    interval = q.interval(q.code(value))
    assert interval is not None
    low, high = interval
    assert low is None or low <= value
    assert high is None or value < high
    bound = error_bound(interval)
    assert bound is None or abs(nearest(interval) - value) <= bound


@given(wides(), st.fractions(-100, 2**60, max_denominator=9))
def test_a_wide_code_names_the_range_that_the_value_is_in(q: Wide, value: Fraction) -> None:
    low, high = q.interval(q.code(value))
    assert low is None or low <= value
    assert high is None or value < high
    bound = error_bound((low, high))
    assert bound in (None, Fraction(2**q.shift, 2))
    assert bound is None or abs(nearest((low, high)) - value) <= bound


@given(st.one_of(compacts(), wides()), fractions, fractions)
def test_codes_rise_with_the_value(q: Compact | Wide, first: Fraction, second: Fraction) -> None:
    low, high = sorted((first, second))
    assert q.code(low) <= q.code(high)


@given(st.integers(0, 50), st.integers(51, 10**9), st.integers(1, 32))
def test_even_ranges(low: int, high: int, ranges: int) -> None:
    q = even(low, high, ranges)
    assert q.codes == tuple(range(ranges))
    assert q.code(low) == 0
    assert q.code(high) == ranges - 1
    widths = {error_bound(q.interval(code) or (None, None)) for code in range(1, ranges - 1)}
    assert widths <= {Fraction(high - low, 2 * ranges)}


def compact(bounds: Iterable[int | Fraction], codes: tuple[int, ...]) -> Compact:
    return Compact(tuple(map(Fraction, bounds)), codes)


BAD: list[tuple[Any, str]] = [
    (lambda: compact((1, 2), (0, 1)), r"codes must be one more than bounds \(2\), .*, not 2"),
    (lambda: compact(range(32), (0,) * 33), "codes must be .* at most 32, not 33"),
    (lambda: compact((1, 1), (0, 1, 2)), "bounds must rise, not go from 1 to 1"),
    (lambda: compact((2, Fraction(3, 2)), (0, 1, 2)), "bounds must rise, not go from 2 to 3/2"),
    (lambda: compact((1,), (0, 32)), "codes must be an integer from 0 to 31, not 32"),
    (lambda: compact((1,), (-1, 3)), "codes must be an integer from 0 to 31, not -1"),
    (lambda: compact((1, 2), (0, 5, 4)), "codes must not fall, not go from 5 to 4"),
    (lambda: Wide(Fraction(0), 49), "shift must be an integer from 0 to 48, not 49"),
    (lambda: Wide(Fraction(0), -1), "shift must be an integer from 0 to 48, not -1"),
]


@pytest.mark.parametrize(("make", "said"), BAD)
def test_bad_quantizers(make: Any, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        make()
