"""Ports files written: the TOML that `models.csig.ports` reads back as the same setup."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from models.csig.port import Port
from models.csig.setup import Setup


def text_of(setup: Setup) -> str:
    """Return the ports file of a setup. Raises `ValueError` for a number that has no end in
    decimals."""
    lines: list[str] = []
    for port in setup.ports:
        lines += _port(port)
        if port.id in setup.agents:
            agent = setup.agents[port.id]
            lines += ["[port.agent]", *(f"{name} = {value}" for name, value in vars(agent).items())]
        lines.append("")
    return "\n".join(lines)


def _port(port: Port) -> Iterator[str]:
    yield "[[port]]"
    for name in ("id", "speed_gbps", "locator", "window_ns"):
        yield f"{name} = {getattr(port, name)}"
    yield f'action = "{port.action}"'
    if isinstance(port.source, dict):
        sources = ", ".join(f'{name} = "{source}"' for name, source in port.source.items())
        yield f"source = {{ {sources} }}" if sources else "source = {}"
    else:
        yield f'source = "{port.source}"'
    for name, compact in port.compact.items():
        yield f"[port.compact.{name}]"
        yield f"bounds = [{', '.join(map(decimal_of, compact.bounds))}]"
        yield f"codes = [{', '.join(map(str, compact.codes))}]"
    for name, wide in port.wide.items():
        yield f"[port.wide.{name}]"
        yield f"base = {decimal_of(wide.base)}"
        yield f"shift = {wide.shift}"


def decimal_of(value: Fraction | int) -> str:
    """Return a number in decimals."""
    value = Fraction(value)
    text = f"{Decimal(value.numerator) / Decimal(value.denominator):f}"
    if Fraction(text) != value:
        raise ValueError(f"bounds must end in decimals, not {value}")
    return text
