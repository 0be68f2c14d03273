"""Parameter checks: what passes, and the exact words of each refusal."""

from __future__ import annotations

import math
import re

import pytest

from models.common.check import bits_for, choice, integer


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
