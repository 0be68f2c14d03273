"""The golden model behind the ports of `rtl.ofan.switch.Switch`: shared masks, lookup, beats."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from models.ofan.config import OfanConfig
from models.ofan.lookup import LookupTable, aligned_destination
from models.ofan.masks import MaskWrite
from models.ofan.switch import UNROUTABLE, Ofan, Packet
from tb.ofan.switch_cycle import Beat


@dataclass(frozen=True, slots=True)
class PrefixWrite:
    """One beat of `s_prefix`: `prefix` leads to `destination`, or (None) is not northbound."""

    prefix: int
    destination: int | None

    def tdata(self, config: OfanConfig) -> int:
        """The beat's bits: destination, the flag northbound above it, prefix on top."""
        d = config.destination_bits
        northbound = self.destination is not None
        return (self.destination or 0) | northbound << d | self.prefix << d + 1


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch as it is offered. With a lookup, a packet's `destination` is an address."""

    packets: tuple[Packet, ...]
    tdata: int
    tkeep: int


@dataclass(frozen=True, slots=True)
class Answers:
    """What must come out: `packets` (northbound, with destination numbers) and their `uplinks`;
    only the bits of `care` of tdata are defined."""

    packets: tuple[Packet, ...]
    uplinks: tuple[int, ...]
    tkeep: int
    tdata: int
    care: int
    wraps: bool
    """Whether a group made its pointer wrap."""
    skips: bool
    """Whether an uplink that does not reach the destination was passed by."""


class Reference(Ofan):
    """`models.ofan.switch.Ofan` whose valid uplinks come from shared masks, fed in beats."""

    def __init__(self, config: OfanConfig) -> None:
        super().__init__(config)
        c = config
        self.masks = [2**c.uplinks - 1] * c.masks
        """Set of valid uplinks held by each shared mask."""
        self.numbers = [0] * c.destinations if c.masks else []
        """Number of the mask of each destination."""
        self.table = LookupTable(c)
        self.own_prefix = 0

    def valid_uplinks(self, destination: int) -> int:
        """Return the set of uplinks that reach `destination`, bit u for uplink u."""
        return self.masks[self.numbers[destination]] if self.masks else 2**self.config.uplinks - 1

    def reaches(self, uplink: int, destination: int) -> bool:
        return bool(self.valid_uplinks(destination) >> uplink & 1)

    def write(self, change: MaskWrite) -> None:
        """Do what a beat of `s_mask` asks for."""
        if change.select:
            self.masks[change.address] = change.value
        else:
            self.numbers[change.address] = change.value

    def look_up(self, packets: Sequence[Packet]) -> tuple[Packet, ...]:
        """Return the northbound packets with destination numbers in place of addresses."""
        c = self.config
        if c.lookup == "none":
            return tuple(packets)
        found = []
        for p in packets:
            if c.lookup == "aligned":
                number = aligned_destination(c, self.own_prefix, p.destination)
            else:
                number = self.table.destination(p.destination)
            if number is not None:
                found.append(Packet(p.lane, number, p.size_class))
        return tuple(found)

    def answer(self, packets: Sequence[Packet]) -> Answers:
        """Serve one batch and return the beat that must come out."""
        c = self.config
        ordered = tuple(sorted(packets, key=lambda p: p.lane))
        uplinks, keep, data, care = [], 0, 0, 0
        wraps = skips = False
        for p in ordered:
            key = (p.lane // c.lanes_per_pipe, c.key(p.destination, p.size_class))
            before = self.pointers[key]
            uplink = self.serve(p)
            uplinks.append(uplink)
            keep |= 1 << p.lane
            shift = p.lane * c.answer_bits
            if uplink == UNROUTABLE:
                data |= 1 << shift + c.uplink_bits
                care |= 1 << shift + c.uplink_bits
            else:
                data |= uplink << shift
                care |= (1 << c.answer_bits) - 1 << shift
                wraps |= self.pointers[key] <= before
                skips |= self.pointers[key] != (before + 1) % c.uplinks
        return Answers(ordered, tuple(uplinks), keep, data, care, wraps, skips)


def batch(config: OfanConfig, packets: Sequence[Packet], idle: int = 0) -> Batch:
    """Return the beat of `packets`; the lanes without one carry the bits of `idle` (any number)."""
    c = config
    data = keep = busy = 0
    where = c.destination_bits if c.lookup == "none" else c.prefix_bits + c.host_bits
    for p in packets:
        shift = p.lane * c.request_bits
        data |= (p.destination | p.size_class << where) << shift
        busy |= (1 << c.request_bits) - 1 << shift
        keep |= 1 << p.lane
    data |= idle & ~busy & (1 << c.lanes * c.request_bits) - 1
    return Batch(tuple(packets), data, keep)


def compare(config: OfanConfig, where: str, packet: Packet, uplink: int, beat: Beat) -> None:
    """Assert that a beat has the answer `uplink` on the lane of `packet`."""
    c = config
    got, unknown = (
        bits >> packet.lane * c.answer_bits & (1 << c.answer_bits) - 1
        for bits in (beat.data, beat.unknown)
    )
    flag = 1 << c.uplink_bits
    asked = flag if uplink == UNROUTABLE else 2 * flag - 1
    got = UNROUTABLE if got & flag else got
    assert got == uplink and not unknown & asked, (
        f"{where}: lane {packet.lane}, destination {packet.destination}, size class "
        f"{packet.size_class}: uplink is {got}, not {uplink} (-1: unroutable)"
        f"{f'; unknown bits {unknown:#x}' if unknown else ''}"
    )
