"""Parameter checks that name the parameter and the value, shared by every config class."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable


def integer(name: str, value: object, low: int, high: int) -> int:
    """Return `value` if it is an integer from `low` to `high`, both included.

    Raises `TypeError` if it is no integer and `ValueError` if it is out of range; the message is
    `NAME must be an integer from LOW to HIGH, not VALUE`.
    """
    message = f"{name} must be an integer from {low} to {high}, not {value!r}"
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(message)
    if not low <= value <= high:
        raise ValueError(message)
    return value


def real(name: str, value: object, low: float, high: float) -> float:
    """Return `value` as a float if it is a number from `low` to `high`, both included.

    Raises `TypeError` if it is no number and `ValueError` if it is out of range; the message is
    `NAME must be a number from LOW to HIGH, not VALUE`.
    """
    message = f"{name} must be a number from {low:g} to {high:g}, not {value!r}"
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(message)
    if not low <= value <= high:
        raise ValueError(message)
    return float(value)


def choice(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`.

    Raises `TypeError` if it is no string and `ValueError` if it is another one; the message is
    `NAME must be one of CHOICES, not VALUE`.
    """
    message = f"{name} must be one of {', '.join(choices)}, not {value!r}"
    if not isinstance(value, str):
        raise TypeError(message)
    if value not in choices:
        raise ValueError(message)
    return value


def hint(name: str, choices: Iterable[str]) -> str:
    """Return `; did you mean CHOICE?` with the choice that is nearest to `name`, or an empty string
    where none is near."""
    near = difflib.get_close_matches(name, list(choices), n=1, cutoff=0.5)
    return f"; did you mean {near[0]}?" if near else ""


def parse_integer(text: str) -> int | None:
    """Return the integer that `text` spells in decimal digits alone, or None: no sign, no blank,
    at most 20 digits."""
    return int(text) if len(text) <= 20 and text.isascii() and text.isdecimal() else None


def parse_real(text: str) -> float | None:
    """Return the number that `text` spells in decimals, such as 0.25, -3 or 1e-3, or None: no
    blank, no infinity, nothing but ASCII, at most 40 characters."""
    fits = len(text) <= 40 and re.fullmatch(r"[+-]?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?", text)
    return float(text) if fits else None


def bits_for(count: int) -> int:
    """Return ⌈log2 count⌉, the width in bits of an index into `count` things (0 for one thing)."""
    return (count - 1).bit_length()
