"""The golden model behind the ports of `rtl.csig.hop.Hop`.

What becomes of a tag is `models.csig.hop`'s own, with codes by exact rational numbers. Here is what
the golden model does not know: software's words, each of which holds for the packets behind it, and
a time that begins and leaps anywhere.
"""

from __future__ import annotations

import copy
from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from models.csig.agent import AgentTable, Entry
from models.csig.beat import COUNTERS, FLAGS, tag_bits
from models.csig.config import CsigConfig
from models.csig.hop import Answer, Hop, Packet
from models.csig.meter import Meter
from models.csig.port import Port
from models.csig.signals import BY_NUMBER, Signal
from models.csig.tables import CAPACITY, RECORD, SWAP, Write
from models.csig.tag import FORMATS, size

YOUNG = 2
"""Packets taken last that a word written now may still hold for: those in `clock` and `lookup`."""


@dataclass(frozen=True, kw_only=True)
class LivePort(Port):
    """A port as its record says, with the tables that are valid."""

    tables: Port | None = None
    """A port with the quantizers that software has written."""

    def code(self, format: str, signal: Signal, raw: int) -> int | None:
        assert self.tables is not None, "a packet is measured by tables that were never written"
        return self.tables.code(format, signal, raw)


class Windows:
    """One clock: windows of one length, whose edges software may move."""

    def __init__(self, window_ns: int) -> None:
        self.window_ns = window_ns
        self.origin = 0

    def number(self, now: int) -> int:
        """Return the number of the window at a time; 0 is the one that begins at `origin`."""
        return (now - self.origin) // self.window_ns


@dataclass(slots=True)
class Fixed:
    """A meter that has already been read."""

    available: int

    def packet(self, time_ns: int, length: int) -> int:
        return self.available


@dataclass(slots=True)
class Inside:
    """A packet in the hop: all that it may have met on its way. Where a word was written just
    behind it there is more than one of something."""

    packet: Packet
    bits: int
    """Its tag as it went in, with whatever stands there if it is none."""
    available: int
    windows: int
    """Edges of its port's windows since the port's last packet; 0 where it had none."""
    records: list[Port | None]
    locators: list[int]
    tables: list[Port | None]
    entries: list[Entry | None]
    answer: Answer | None = None
    """What came of it, as soon as that is known."""

    @property
    def sure(self) -> bool:
        """Whether there is but one answer."""
        return all(len(x) == 1 for x in (self.records, self.locators, self.tables, self.entries))

    def __str__(self) -> str:
        record = self.records[-1]
        where = record and (record.action, record.source, record.speed_gbps, self.locators)
        met = f"{len(self.records)} records, {len(self.tables)} tables, {self.entries}"
        return f"{self.packet}; {self.available} bits available, {where}, {met}"


@dataclass
class Reference:
    """One hop: packets and words in, what the ports must show out."""

    config: CsigConfig
    lengths: list[int]
    """Windows of each clock, ns."""
    records: dict[int, Port] = field(default_factory=dict)
    tables: dict[int, Port] = field(default_factory=dict)
    entries: dict[tuple[int, int], Entry] = field(default_factory=dict)
    meters: dict[int, tuple[Meter, Windows]] = field(default_factory=dict)
    inside: deque[Inside] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.clocks = [Windows(length) for length in self.lengths]
        self._hop = Hop(self.config, [])
        self._last: dict[int, int] = {}
        self.served: list[tuple[int, tuple[str, ...]]] = []
        """Port and counters of every packet that has left."""
        self._cleared: dict[int, int] = {}  # port: packets that had left when it was cleared

    def write(self, word: Write, port: Port | None) -> None:
        """Carry out a word that is part of a port's set-up; edges are `load`'s."""
        if word.kind == SWAP:
            assert port
            self.tables[port.id] = port
            for packet in self._young(port.id):
                packet.tables.append(self.tables[port.id])
        elif word.kind == CAPACITY:
            assert port
            busy = any(packet.packet.port == port.id for packet in self.inside)
            assert not busy or port.id not in self.records, "the port is not idle"
            self.meters[port.id] = Meter(port), self.clocks[word.index]
        elif word.kind == RECORD:
            assert port
            self.records[port.id] = port
            for packet in self._young(port.id):
                packet.records.append(port)
            for packet in self.inside:
                if packet.packet.port == port.id:
                    packet.locators.append(port.locator)

    def agent(self, port: int, signal: int, entry: Entry) -> None:
        """An agent writes."""
        self.entries[port, signal] = entry
        for packet in self._young(port):
            if packet.packet.tag and packet.packet.tag.t == signal:
                packet.entries.append(entry)

    def _young(self, port: int) -> Iterator[Inside]:
        some = list(self.inside)[-YOUNG:]
        return (packet for packet in some if packet.packet.port == port)

    def load(self, clock: int, edge: int) -> None:
        """Software sets a clock's next edge, at an absolute time: all windows before were idle."""
        windows = self.clocks[clock]
        windows.origin = edge
        for port, (meter, follows) in self.meters.items():
            if follows is windows:
                self._last.pop(port, None)
                meter.closed = meter.left = meter.port.capacity_bits
                meter.window = -1

    def enter(self, packet: Packet, bits: int, now: int) -> Inside:
        """Take a packet at an absolute time; its own has the bits that hardware sees."""
        available = windows = 0
        if packet.port in self.meters:
            meter, clock = self.meters[packet.port]
            number = clock.number(now)
            windows = number - self._last.get(packet.port, number)
            self._last[packet.port] = number
            available = meter.packet(max(-1, number) * clock.window_ns, packet.bytes)
        tables = self.tables.get(packet.port)
        record = self.records.get(packet.port)
        made = Inside(
            packet,
            bits,
            available,
            windows,
            records=[record],
            locators=[record.locator if record else 0],
            tables=[tables],
            entries=[self.entries.get((packet.port, packet.tag.t)) if packet.tag else None],
        )
        self.inside.append(made)
        return made

    def answers(self, inside: Inside) -> Iterator[Answer]:
        """Return all that may become of a packet; the last is what does if it met all words."""
        choices = (inside.records, inside.locators, inside.tables, inside.entries)
        for record, locator, tables, entry in product(*choices):
            yield self._answer(inside, record, locator, tables, entry)

    def last(self, inside: Inside) -> Answer:
        """Return what becomes of a packet that met all words."""
        i = inside
        return self._answer(i, i.records[-1], i.locators[-1], i.tables[-1], i.entries[-1])

    def _answer(
        self,
        inside: Inside,
        record: Port | None,
        locator: int,
        tables: Port | None,
        entry: Entry | None,
    ) -> Answer:
        packet = inside.packet
        if record is None:
            return Answer(packet.tag, False)
        kept = {name: getattr(record, name) for name in record.__dataclass_fields__}
        hop: Any = self._hop
        hop.ports[packet.port] = LivePort(**{**kept, "locator": locator}, tables=tables)
        hop.meters[packet.port] = Fixed(inside.available)
        hop.agent = AgentTable()
        if entry and packet.tag:
            hop.agent.write(packet.port, packet.tag.t, entry)
        return hop.serve(packet)

    def own(self, packet: Packet, now: int) -> int | None:
        """Return what the packet's port would write into its tag, None if nothing."""
        record, tag = self.records.get(packet.port), packet.tag
        if record is None or tag is None or tag.t not in BY_NUMBER:
            return None
        signal = BY_NUMBER[tag.t]
        if signal.name not in getattr(record, tag.format):
            return None
        if record.origin(signal.name) == "agent":
            entry = self.entries.get((packet.port, tag.t))
            return None if entry is None else getattr(entry, tag.format)
        meter, clock = self.meters[packet.port]
        numbered = max(-1, clock.number(now)) * clock.window_ns
        raw = self._hop.measure(packet, signal, copy.copy(meter).packet(numbered, 0))
        live = LivePort(id=0, speed_gbps=1, locator=0, tables=self.tables[packet.port])
        return live.code(tag.format, signal, raw)

    def measure(self, inside: Inside) -> int:
        """Return what a packet's signal is about."""
        tag = inside.packet.tag
        assert tag
        return self._hop.measure(inside.packet, BY_NUMBER[tag.t], inside.available)

    def code(self, inside: Inside, raw: int) -> int | None:
        """Return a port's own code for a measure."""
        tag = inside.packet.tag
        assert tag
        live = LivePort(id=0, speed_gbps=1, locator=0, tables=inside.tables[-1])
        return live.code(tag.format, BY_NUMBER[tag.t], raw)

    def other_format(self, inside: Inside) -> str | None:
        """Return which format announces what is no tag to this hop, None where none does."""
        top = inside.bits >> tag_bits(self.config) - 16
        return next((format for format in FORMATS if self.config.tpid(format) == top), None)

    def tdata(self, inside: Inside, answer: Answer) -> int:
        """Return the bits of m_axis_tdata for an answer."""
        c, packet = self.config, inside.packet
        bits = inside.bits
        if answer.replaced:
            assert answer.tag
            below = tag_bits(c) - 8 * size(answer.tag.format)
            bits = answer.tag.number() << below | bits & (1 << below) - 1
        flags = (answer.replaced, packet.tag is not None and answer.tag is None)
        for place, flag in enumerate((*flags, answer.unknown, answer.stale)):
            bits |= flag << tag_bits(c) + place
        return bits

    def leave(self, inside: Inside, answer: Answer) -> None:
        """The oldest packet has left, and this became of it."""
        assert self.inside.popleft() is inside
        stripped = inside.packet.tag is not None and answer.tag is None
        happened = (answer.replaced, stripped, answer.unknown, answer.stale)
        names = tuple(name for name, flag in zip(FLAGS, happened, strict=True) if flag)
        self.served.append((inside.packet.port, ("packets", *names)))

    def counts(self, port: int, served: int) -> dict[str, int]:
        """Return a port's counters when so many packets have left."""
        begun = self._cleared.get(port, 0)
        counted = Counter(
            name for at, names in self.served[begun:served] if at == port for name in names
        )
        return {name: counted[name] for name in COUNTERS}

    def clear(self, port: int, served: int) -> None:
        """Start a port's counters from 0 when so many packets have left."""
        self._cleared[port] = served


def rewritten(packet: Packet, s: int) -> Packet:
    """Return a packet whose tag has another value."""
    assert packet.tag
    return replace(packet, tag=packet.tag.replaced(s, packet.tag.lm))
