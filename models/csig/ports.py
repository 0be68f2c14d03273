"""Ports files: what each port of a hop is set to, in TOML.

    [[port]]
    id = 0
    speed_gbps = 100
    locator = 5
    action = "update"              # pass | strip | update
    window_ns = 1000
    source = "native"              # native | agent, for all signals, or a table by signal
    [port.compact.abw_c]           # codes[i] for bounds[i-1] <= x < bounds[i], compared exactly
    bounds = [5, 10, 25, 40, 55, 70, 85]
    codes = [0, 1, 2, 3, 4, 5, 6, 7]
    [port.wide.abw]                # floor((x - base) / 2**shift), kept in 20 bits
    base = 0
    shift = 18
    [port.agent]                   # how the software agent works, where a source is agent
    period_ns = 100000
    delay_ns = 0
    timeout_ns = 300000

Numbers are exact: 0.1 is one tenth.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from itertools import pairwise
from typing import Any, NoReturn

from models.common.check import hint
from models.common.errors import InputError
from models.common.files import check_text, read_bytes
from models.csig.config import MOST_SPEED_GBPS, CsigConfig
from models.csig.port import ACTIONS, ORIGINS, Port
from models.csig.quantize import MOST_SHIFT, RANGES, Compact, Wide
from models.csig.setup import LONGEST_NS, Agent, Setup
from models.csig.signals import BY_NAME

MOST_CLOCKS = 8
LARGEST = 10**18
"""Largest bound and base, in the unit of a signal."""

_LONGEST_WINDOW = 2**20 - 1
_PORT_KEYS = ("id", "speed_gbps", "locator", "action", "window_ns", "source")


def read_ports(file: str | os.PathLike[str], config: CsigConfig | None = None) -> Setup:
    """Read a ports file; raises `InputError` for whatever is wrong in it, naming the port.

    Of `config` only the layout and the formats matter, which bound the locators.
    """
    top = _Table(file, "", _load(file))
    top.only("port")
    rows = top.get("port", [])
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError(file, None, "port", _text(rows), "must be tables [[port]]")
    if not rows:
        raise InputError(file, None, "port", None, "there is no [[port]]")
    ports: list[Port] = []
    agents: dict[int, Agent] = {}
    for place, row in enumerate(rows, start=1):
        table = _port_table(file, place, row)
        port = _port(table, config or CsigConfig())
        if port.id in {other.id for other in ports}:
            table.refuse("id", "must be different for each port")
        ports.append(port)
        if "agent" in row:
            agents[port.id] = _agent(table.table("agent"))
    setup = Setup(ports=tuple(sorted(ports, key=lambda port: port.id)), agents=agents)
    if len(setup.windows) > MOST_CLOCKS:
        reason = f"must have at most {MOST_CLOCKS} different values in all ports"
        raise InputError(file, None, "window_ns", _text(setup.windows), reason)
    return setup


def _load(file: str | os.PathLike[str]) -> dict[str, Any]:
    data = read_bytes(file).removeprefix(b"\xef\xbb\xbf")
    check_text(file, data)
    try:
        return tomllib.loads(data.decode(), parse_float=_exact)
    except tomllib.TOMLDecodeError as error:
        text = str(error)
        found = re.search(r" \(at line (\d+), column \d+\)$", text)
        line = int(found[1]) if found else data.count(b"\n") + 1
        reason = f"this is no TOML: {text[: found.start()] if found else text}"
        raise InputError(file, line, None, None, reason) from None
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, deep nesting
        raise InputError(file, None, None, None, f"this is no TOML: {error}") from None


class _Written(Fraction):
    """A number with a point or an exponent, and how it is written."""

    text: str


def _exact(text: str) -> Fraction | float:
    """Return a number with a point or an exponent as what it says; infinite where it is far beyond
    any use, so that no long number is ever made of a short text."""
    try:
        number = Decimal(text.replace("_", ""))
    except InvalidOperation:
        return float("nan")
    if not number.is_finite() or len(text) > 60 or abs(number.adjusted()) > 30:
        return float(text)
    written = _Written(number)
    written.text = text
    return written


def _text(value: object) -> str:
    """Return a value as it may have stood in the file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, _Written):
        return value.text
    if isinstance(value, Fraction):
        return str(Decimal(value.numerator) / Decimal(value.denominator))
    return str(value)


class _Table:
    """A table of the file: hands out its values, and says what is wrong with them and where."""

    def __init__(self, file: str | os.PathLike[str], name: str, values: dict[str, Any]) -> None:
        self.file = file
        self.name = name
        self.values = values

    def refuse(self, key: str, reason: str, value: object = None) -> NoReturn:
        """Raise the `InputError` about a key and its value, or another one."""
        shown = _text(self.values.get(key) if value is None else value)
        raise InputError(self.file, None, self.field(key), shown, reason)

    def field(self, key: str) -> str:
        """Return how a key is called, on one line."""
        return f"{self.name} {key if key.isprintable() else repr(key)}".strip()

    def only(self, *keys: str) -> None:
        """Refuse keys other than these, with the nearest one."""
        for key in self.values:
            if key not in keys:
                near = hint(key, keys) or f"; there are {', '.join(keys)}"
                reason = f"there is no such key{near}"
                raise InputError(self.file, None, self.field(key), None, reason)

    def get(self, key: str, default: Any = None) -> Any:
        """Return a value; without a default it must be there."""
        if key not in self.values:
            if default is None:
                raise InputError(self.file, None, self.field(key), None, "this key is missing")
            return default
        return self.values[key]

    def whole(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """Return an integer of a range."""
        return self._integer(key, self.get(key, default), low, high)

    def wholes(self, key: str, low: int, high: int) -> list[int]:
        """Return an array of integers of a range."""
        return [self._integer(key, value, low, high) for value in self._array(key)]

    def _integer(self, key: str, value: Any, low: int, high: int) -> int:
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.refuse(key, f"must be an integer from {low} to {high}", value)
        return value

    def number(self, key: str, low: int) -> Fraction:
        """Return an exact number of a range."""
        return self._number(key, self.get(key), low)

    def numbers(self, key: str, low: int) -> list[Fraction]:
        """Return an array of exact numbers of a range."""
        return [self._number(key, value, low) for value in self._array(key)]

    def _number(self, key: str, value: Any, low: int) -> Fraction:
        good = isinstance(value, int | Fraction) and not isinstance(value, bool)
        if not good or not low <= value <= LARGEST:
            self.refuse(key, f"must be a number from {low} to {LARGEST}", value)
        return Fraction(value)

    def choice(self, key: str, choices: Sequence[str], default: str) -> str:
        """Return one of several words."""
        value = self.get(key, default)
        if not isinstance(value, str) or value not in choices:
            self.refuse(key, f"must be one of {', '.join(choices)}")
        return value

    def table(self, key: str) -> _Table:
        """Return a table in this one, an empty one where there is none."""
        value = self.get(key, {})
        if not isinstance(value, dict):
            self.refuse(key, "must be a table")
        joint = " " if self.name.count(" ") == 1 else "."
        return _Table(self.file, f"{self.name}{joint}{key}", value)

    def _array(self, key: str) -> list[Any]:
        value = self.get(key)
        if not isinstance(value, list):
            self.refuse(key, "must be an array")
        return value


def _port_table(file: str | os.PathLike[str], place: int, row: dict[str, Any]) -> _Table:
    """Return a port's table, named by its number if it has a good one, else by its place."""
    nameless = _Table(file, f"[[port]] no. {place}", row)
    nameless.whole("id", 0, 63)
    return _Table(file, f"port {row['id']}", row)


def _port(table: _Table, config: CsigConfig) -> Port:
    table.only(*_PORT_KEYS, "compact", "wide", "agent")
    compact, wide = table.table("compact"), table.table("wide")
    for quantizers in (compact, wide):
        quantizers.only(*BY_NAME)
    port = Port(
        id=table.whole("id", 0, 63),
        speed_gbps=table.whole("speed_gbps", 1, MOST_SPEED_GBPS),
        locator=table.whole("locator", 0, 2**16 - 1),
        action=table.choice("action", ACTIONS, "update"),
        window_ns=table.whole("window_ns", 100, _LONGEST_WINDOW, 1000),
        source=_source(table),
        compact={name: _compact(compact.table(name)) for name in compact.values},
        wide={name: _wide(wide.table(name)) for name in wide.values},
    )
    bits = port.locator_bits(config)
    if port.locator >> bits:
        kinds = [kind for kind in config.formats if getattr(port, kind)] or config.formats
        reason = f"must fit the {bits} bits of a {kinds[0]} tag's locator"
        table.refuse("locator", f"{reason} in layout {config.layout}")
    return port


def _source(table: _Table) -> str | dict[str, str]:
    if not isinstance(table.get("source", "native"), dict):
        return table.choice("source", ORIGINS, "native")
    sources = table.table("source")
    sources.only(*BY_NAME)
    return {name: sources.choice(name, ORIGINS, "native") for name in sources.values}


def _compact(table: _Table) -> Compact:
    table.only("bounds", "codes")
    bounds, codes = table.numbers("bounds", -LARGEST), table.wholes("codes", 0, 31)
    if len(bounds) >= RANGES:
        table.refuse("bounds", f"must be at most {RANGES - 1}", len(bounds))
    if len(codes) != len(bounds) + 1:
        table.refuse("codes", f"must be {len(bounds) + 1}, one more than bounds", len(codes))
    for left, right in pairwise(bounds):
        if left >= right:
            table.refuse("bounds", f"must rise, or ranges overlap: {_text(left)} is before", right)
    for left, right in pairwise(codes):
        if left > right:
            table.refuse("codes", f"must not fall: {left} is before", right)
    return Compact(tuple(bounds), tuple(codes))


def _wide(table: _Table) -> Wide:
    table.only("base", "shift")
    return Wide(table.number("base", 0), table.whole("shift", 0, MOST_SHIFT))


def _agent(table: _Table) -> Agent:
    table.only("period_ns", "delay_ns", "timeout_ns")
    period = table.whole("period_ns", 100, _LONGEST_WINDOW, Agent.period_ns)
    return Agent(
        period_ns=period,
        delay_ns=table.whole("delay_ns", 0, LONGEST_NS, Agent.delay_ns),
        timeout_ns=table.whole("timeout_ns", 0, LONGEST_NS, 3 * period),
    )
