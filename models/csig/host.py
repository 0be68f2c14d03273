"""The host side: a sender asks for a signal, a receiver takes the tag off and reflects it, the
sender reads what comes back.

The seed says that a receiver "reflects it to the sender in a transport-specific Layer 4 header",
and no more. What is carried back here is the tag without its TPID, 2 or 6 bytes, which any
transport's header can hold.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from models.csig.quantize import Compact, Interval, Wide, error_bound, nearest
from models.csig.signals import BY_NUMBER, Signal, least_severe
from models.csig.tag import TPID, Tag, decode, from_number, size, width

ADDRESSES = 12
"""Bytes of the two MAC addresses, which a frame begins with."""

VLAN = (0x8100, 0x88A8)
"""TPIDs of VLAN tags, 4 bytes each, which stand before a CSIG tag."""


def ask(signal: Signal, format: str = "compact", layout: str = "draft", **fields: int) -> Tag:
    """Return the tag that a sender starts with: the signal's least severe value, and locator 0, if
    `fields` do not say otherwise."""
    value = least_severe(signal, width(format, layout, "s"))
    return Tag(format=format, layout=layout, **({"t": signal.number, "s": value, "lm": 0} | fields))


def _place(frame: bytes) -> int:
    """Return where in a frame the tag stands: after addresses and VLAN tags, before the
    EtherType."""
    at = ADDRESSES
    while int.from_bytes(frame[at : at + 2], "big") in VLAN:
        at += 4
    if len(frame) < at + 2:
        raise ValueError(f"frame must have an EtherType, not end after {len(frame)} bytes")
    return at


def insert(frame: bytes, tag: Tag) -> bytes:
    """Return an Ethernet frame with a tag put into it."""
    at = _place(frame)
    return frame[:at] + tag.encode() + frame[at:]


def extract(
    frame: bytes, layout: str = "draft", tpid: Mapping[str, int] | None = None
) -> tuple[Tag | None, bytes]:
    """Return the tag of a frame, None where there is none, and the frame without it."""
    at = _place(frame)
    tag = decode(frame[at:], layout, dict(tpid or TPID))
    return tag, frame if tag is None else frame[:at] + frame[at + size(tag.format) :]


def reflect(tag: Tag) -> bytes:
    """Return what a receiver sends back: the tag without its TPID."""
    return tag.encode()[2:]


def reflected(data: bytes, layout: str = "draft") -> Tag:
    """Return the tag that `reflect` was given, with the default TPID.

    Raises `ValueError` if `data` is neither 2 nor 6 bytes long.
    """
    for format, tpid in TPID.items():
        if len(data) == size(format) - 2:
            return from_number(
                int.from_bytes(tpid.to_bytes(2, "big") + data, "big"), format, layout
            )
    raise ValueError(f"data must be 2 or 6 bytes, not {len(data)}")


@dataclass(frozen=True)
class Reading:
    """What a tag says of the bottleneck of its path."""

    signal: Signal
    low: Fraction | None
    """The value is this or more, in the unit of the signal; None: it may be anything less."""
    high: Fraction | None
    """And less than this; None: it may be anything more."""
    locator: int
    """Which hop it is."""

    @property
    def interval(self) -> Interval:
        """`low` and `high`."""
        return self.low, self.high

    @property
    def value(self) -> Fraction:
        """The best single number: the middle, or the end that there is."""
        return nearest(self.interval)

    @property
    def error(self) -> Fraction | None:
        """How far `value` is off at most; None where there is no bound."""
        return error_bound(self.interval)

    @property
    def worst(self) -> Fraction | None:
        """The most severe value that it may be; None: there is no end."""
        return self.low if self.signal.keep == "min" else self.high


def read(tag: Tag, quantizer: Compact | Wide) -> Reading | None:
    """Return what a tag says, by the quantizer that the hops of the network share; None where no
    hop has written into it, or its code is none of the quantizer's.

    A hop whose value is the least severe one does not write, so the two cannot be told apart.
    Raises `ValueError` for a type that is not known.
    """
    if tag.t not in BY_NUMBER:
        raise ValueError(f"t must be one of {', '.join(map(str, BY_NUMBER))}, not {tag.t}")
    signal = BY_NUMBER[tag.t]
    if tag.s == least_severe(signal, width(tag.format, tag.layout, "s")):
        return None
    interval = quantizer.interval(tag.s)
    return None if interval is None else Reading(signal, *interval, tag.lm)


class Sender:
    """Asks for several signals in turn, one a packet, and keeps the newest reading of each.

    "A packet carries one signal type, but a transport can alternate signal requests across packets"
    (seed).
    """

    def __init__(
        self,
        signals: Sequence[Signal],
        quantizers: Mapping[str, Compact | Wide],
        format: str = "compact",
        layout: str = "draft",
    ) -> None:
        self.signals = tuple(signals)
        self.quantizers = quantizers
        """By the signal's name."""
        self.format = format
        self.layout = layout
        self.sent = 0
        self.readings: dict[str, Reading | None] = {}
        """By the signal's name; None: the path said nothing."""

    def tag(self) -> Tag:
        """Return the tag of the next packet."""
        signal = self.signals[self.sent % len(self.signals)]
        self.sent += 1
        return ask(signal, self.format, self.layout)

    def receive(self, data: bytes) -> None:
        """Take what a receiver reflected."""
        tag = reflected(data, self.layout)
        name = BY_NUMBER[tag.t].name
        self.readings[name] = read(tag, self.quantizers[name])
