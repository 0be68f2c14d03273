"""What the cocotb bench of a hop puts on its streams, and the bits of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.csig.agent import Entry, Use
from models.csig.beat import (
    FLAGS,
    agent_write,
    count_read,
    packet,
    table_write,
    tag_bits,
)
from models.csig.config import CsigConfig
from models.csig.hop import Packet
from models.csig.port import Port
from models.csig.tables import EDGE, Write
from models.csig.tag import size, width
from rtl.csig.clock import edge_bits
from tb.beats import packed
from tb.csig.hop_reference import rewritten


@dataclass(frozen=True, slots=True)
class Offer:
    """A packet as it is offered; its `time_ns` says nothing."""

    packet: Packet
    rest: int = 0
    """Bits that stand where a tag would if there is none, or below a compact one."""
    advance: int = 0
    """How far time moves when it is first offered, ns."""
    aim: int | None = None
    """The tag's value is the port's own code, as it is when first offered, plus this."""

    def aimed(self, c: CsigConfig, own: int | None) -> tuple[Packet, int]:
        """Return the packet with the value that it aims at, and its tag's bits."""
        given = self.packet
        bits = self.rest & (1 << tag_bits(c)) - 1
        if given.tag is None:
            return given, bits
        if own is not None and self.aim is not None:
            most = (1 << width(given.tag.format, c.layout, "s")) - 1
            given = rewritten(given, min(max(0, own + self.aim), most))
        assert given.tag
        below = tag_bits(c) - 8 * size(given.tag.format)
        return given, given.tag.number() << below | bits & (1 << below) - 1


@dataclass(frozen=True, slots=True)
class Word:
    """A beat of s_table: a word of a port's set-up."""

    write: Write
    port: Port

    def bits(self, c: CsigConfig) -> int:
        """Return the bits of s_table_tdata."""
        return packed(table_write(c), vars(self.write))


@dataclass(frozen=True, slots=True)
class Leap:
    """A beat of s_table: a clock's next edge, any time within a window of the present."""

    clock: int
    advance: int = 0
    """How far time moves when it is first offered, ns."""

    def bits(self, c: CsigConfig, edge: int) -> int:
        """Return the bits of s_table_tdata for an edge at an absolute time."""
        low = edge % (1 << edge_bits(c))
        return packed(table_write(c), vars(Write(EDGE, 0, 0, self.clock, low)))


@dataclass(frozen=True, slots=True)
class Spoken:
    """A beat of s_agent."""

    port: int
    signal: int
    entry: Entry
    lasts: int
    """ns until its value is too old, from when it is first offered."""

    def bits(self, c: CsigConfig, until: int) -> int:
        """Return the bits of s_agent_tdata."""
        fields = {"port": self.port, "signal": self.signal, "until": until}
        for format in c.formats:
            value = getattr(self.entry, format)
            fields |= {f"{format}_value": value or 0, f"{format}_there": value is not None}
        return packed(agent_write(c), fields)


@dataclass(frozen=True, slots=True)
class Read:
    """A beat of s_count."""

    port: int
    clear: bool

    def bits(self, c: CsigConfig) -> int:
        """Return the bits of s_count_tdata."""
        return packed(count_read(c), {"port": self.port, "clear": self.clear})


def offer_bits(c: CsigConfig, given: Packet, bits: int) -> int:
    """Return the bits of s_axis_tdata for a packet whose tag has these bits."""
    fields = {
        "tag": bits,
        "port": given.port,
        "bytes": given.bytes,
        "delay": given.delay_ns,
        "queue": given.queue_bytes,
    }
    return packed(packet(c), fields)


def difference(c: CsigConfig, got: int, want: int) -> str:
    """Return in words how bits of m_axis_tdata differ from those that were due."""
    bits = tag_bits(c)
    tags = [data & (1 << bits) - 1 for data in (got, want)]
    said = [] if tags[0] == tags[1] else [f"tag is {tags[0]:#x}, not {tags[1]:#x}"]
    for place, name in enumerate(FLAGS, start=bits):
        ours, theirs = got >> place & 1, want >> place & 1
        if ours != theirs:
            said.append(f"{name} is {ours}, not {theirs}")
    return ", ".join(said)


def use_fits(use: Use | None, shown: Mapping[str, int]) -> bool:
    """Return whether m_agent has shown what a packet asked for, if it did."""
    if use is None:
        return True
    fields = {"port": use.port, "signal": use.signal, "time": use.time_ns}
    fields["written"] = use.until_ns is not None
    if use.until_ns is not None:
        fields["until"] = use.until_ns
    return shown.items() >= fields.items()
