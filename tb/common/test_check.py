"""Parameter checks: what passes, and the exact words of each refusal."""

from __future__ import annotations

import math
import re

import pytest

from models.common.check import bits_for, choice, integer, parse_real, real


@pytest.mark.parametrize("value", [1, 2, 63, 64])
def test_integer_in_range_is_returned(value: int) -> None:
    assert integer("lanes", value, 1, 64) == value


@pytest.mark.parametrize(("value", "shown"), [(0, "0"), (65, "65"), (-1, "-1")])
def test_integer_out_of_range(value: int, shown: str) -> None:
    message = f"lanes must be an integer from 1 to 64, not {shown}"
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        integer("lanes", value, 1, 64)


@pytest.mark.parametrize(
    ("value", "shown"), [(True, "True"), (2.0, "2.0"), ("2", "'2'"), (None, "None")]
)
def test_integer_of_another_type(value: object, shown: str) -> None:
    message = f"lanes must be an integer from 1 to 64, not {shown}"
    with pytest.raises(TypeError, match=f"^{re.escape(message)}$"):
        integer("lanes", value, 1, 64)


@pytest.mark.parametrize("value", [0, 0.25, 1, 1e-9])
def test_real_in_range_is_returned(value: float) -> None:
    assert real("tau", value, 0, 1) == value


@pytest.mark.parametrize(
    ("value", "error", "shown"),
    [
        (1.5, ValueError, "1.5"),
        (-1, ValueError, "-1"),
        (math.nan, ValueError, "nan"),
        (math.inf, ValueError, "inf"),
        ("1", TypeError, "'1'"),
        (True, TypeError, "True"),
    ],
)
def test_real_refused(value: object, error: type[Exception], shown: str) -> None:
    message = f"tau must be a number from 0 to 1, not {shown}"
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        real("tau", value, 0, 1)


@pytest.mark.parametrize(
    ("text", "value"), [("0.25", 0.25), ("3", 3), ("-1", -1), ("1e-3", 1e-3), ("+2.5E2", 250)]
)
def test_parse_real(text: str, value: float) -> None:
    assert parse_real(text) == value


@pytest.mark.parametrize(
    "text", ["", "x", "nan", "inf", "1e", ".5", "5.", " 1", "1_0", "٣", "0x1", "1e9999", "1" * 41]
)
def test_parse_real_refuses(text: str) -> None:
    assert parse_real(text) is None


def test_choice_is_returned() -> None:
    assert choice("network", "best", ("bitonic", "best")) == "best"


@pytest.mark.parametrize(
    ("value", "error", "shown"), [("Best", ValueError, "'Best'"), (3, TypeError, "3")]
)
def test_choice_refused(value: object, error: type[Exception], shown: str) -> None:
    message = f"network must be one of bitonic, best, not {shown}"
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        choice("network", value, ("bitonic", "best"))


def test_bits_for_is_the_ceiling_of_log2() -> None:
    assert [bits_for(count) for count in (1, 2, 3, 4, 5, 6, 8, 9)] == [0, 1, 2, 2, 3, 3, 3, 4]
    for count in range(1, 5000):
        assert bits_for(count) == math.ceil(math.log2(count))
