"""A path as it is given in text: a number for each hop, or one for all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any

from models.common.check import integer, parse_integer, parse_real
from models.common.errors import quoted
from models.csig.path import Path
from models.csig.stops import FACTS, Stop

PLAIN = Stop(speed_gbps=100, load=Fraction(1, 2), delay_ns=5000)
"""What a hop is like where nothing is said, on a path that has not as many as `FACTS`."""


def path_of(
    hops: int | None, each: Mapping[str, str], flow: Mapping[str, str], **fields: Any
) -> Path:
    """Return a path of `hops`, or of as many as there are numbers in a text of `each`, or of those
    of `FACTS`.

    `each` has, for fields of `Stop`, a number for each hop with commas between, or one for all.
    `flow` may have `rate_gbps` and `signals`. Raises `ValueError` that names what is wrong and its
    value.
    """
    kinds = {"load": exact}
    lists = {name: numbers(name, text, kinds.get(name, whole)) for name, text in each.items()}
    longest = max((len(values) for values in lists.values()), default=1)
    said = longest if longest > 1 else len(FACTS)
    count = integer("hops", said if hops is None else hops, 1, 64)
    base = FACTS if count == len(FACTS) else (PLAIN,) * count
    changes: list[dict[str, Any]] = [{} for _ in base]
    for name, values in lists.items():
        if len(values) not in (1, count):
            raise ValueError(f"{name} must have 1 value or {count}, one a hop, not {len(values)}")
        for change, value in zip(changes, values * (count // len(values)), strict=True):
            change[name] = value
    stops = tuple(replace(stop, **change) for stop, change in zip(base, changes, strict=True))
    if "rate_gbps" in flow:
        fields["rate_gbps"] = exact("rate_gbps", flow["rate_gbps"])
    if "signals" in flow:
        fields["signals"] = tuple(part.strip() for part in flow["signals"].split(","))
    return Path(stops=stops, **fields)


def numbers(name: str, text: str, kind: Callable[[str, str], Any]) -> list[Any]:
    """Return the numbers of a text with commas."""
    return [kind(name, part.strip()) for part in text.split(",")]


def whole(name: str, text: str) -> int:
    """Return an integer, or raise `ValueError`."""
    value = parse_integer(text.removeprefix("-"))
    if value is None:
        raise ValueError(f"{name} must be an integer, not {quoted(text)}")
    return -value if text.startswith("-") else value


def exact(name: str, text: str) -> Fraction:
    """Return a number in decimals as what it says, or raise `ValueError`."""
    if parse_real(text) is None or "e" in text.lower():
        raise ValueError(f"{name} must be a number in decimals, not {quoted(text)}")
    return Fraction(text)
