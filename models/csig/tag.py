"""The tag: layouts of its fields as data, and a codec (facts of the draft and of UEC's layout).

A tag stands after the MAC addresses and any VLAN tags, before the EtherType. Fields are listed from
the first bit on the wire; the 16 bits of the TPID tell the format.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.common.check import choice, integer

FORMATS = ("compact", "wide")
LAYOUTS = ("draft", "uec")

FIELDS: dict[tuple[str, str], tuple[tuple[str, int], ...]] = {
    # (format, layout): fields and their widths in bits, in the order of the wire
    ("compact", "draft"): (("tpid", 16), ("t", 3), ("r", 1), ("s", 5), ("lm", 7)),
    ("compact", "uec"): (("tpid", 16), ("t", 3), ("r", 1), ("s", 5), ("lm", 6), ("d", 1)),
    ("wide", "draft"): (("tpid", 16), ("lm", 16), ("t", 4), ("s", 20), ("r", 8)),
    ("wide", "uec"): (("tpid", 16), ("lm", 15), ("d", 1), ("t", 4), ("s", 20), ("r", 8)),
}
"""t: signal type. r: reserved. s: value. lm: locator. d: set by a switch that trims the packet."""

TPID = {"compact": 0x9900, "wide": 0x9901}
"""Defaults; 0x9900 is the one public value, the other only has to differ from it."""


def width(format: str, layout: str, field: str) -> int:
    """Return the width of a field, bits; 0 where the layout has no such field."""
    return dict(FIELDS[format, layout]).get(field, 0)


def size(format: str) -> int:
    """Return the size of a tag, bytes: 4 or 8."""
    return sum(bits for _, bits in FIELDS[format, "draft"]) // 8


@dataclass(frozen=True, kw_only=True)
class Tag:
    """A tag, field by field; construction checks each against its width."""

    format: str
    layout: str = "draft"
    tpid: int | None = None
    """None takes the default of the format."""
    t: int
    s: int
    lm: int
    r: int = 0
    d: int = 0

    def __post_init__(self) -> None:
        choice("format", self.format, FORMATS)
        choice("layout", self.layout, LAYOUTS)
        if self.tpid is None:
            object.__setattr__(self, "tpid", TPID[self.format])
        for name, bits in FIELDS[self.format, self.layout]:
            integer(name, getattr(self, name), 0, (1 << bits) - 1)
        if not width(self.format, self.layout, "d") and self.d:
            raise ValueError(f"d must be 0 in layout {self.layout}, not {self.d}")

    def number(self) -> int:
        """Return the tag as one number, the first bit on the wire on top."""
        value = 0
        for name, bits in FIELDS[self.format, self.layout]:
            value = value << bits | getattr(self, name)
        return value

    def encode(self) -> bytes:
        """Return the tag's bytes in the order of the wire."""
        return self.number().to_bytes(size(self.format), "big")

    def replaced(self, s: int, lm: int) -> Tag:
        """Return the tag with another value and locator, and nothing else changed."""
        return replace(self, s=s, lm=lm)


def from_number(number: int, format: str, layout: str = "draft") -> Tag:
    """Return the tag that `Tag.number` gives."""
    found = {}
    for name, bits in reversed(FIELDS[format, layout]):
        found[name] = number & (1 << bits) - 1
        number >>= bits
    return Tag(format=format, layout=layout, **found)


def decode(data: bytes, layout: str = "draft", tpid: dict[str, int] | None = None) -> Tag | None:
    """Return the tag at the start of `data`, or None where no TPID says that one is there."""
    for format, wanted in (tpid or TPID).items():
        length = size(format)
        if len(data) >= length and int.from_bytes(data[:2], "big") == wanted:
            return from_number(int.from_bytes(data[:length], "big"), format, layout)
    return None
