"""The golden model: Ofan and pOfan as the paper says them, one packet at a time (sections 4, 5).

This file is the specification. It knows nothing of batches being served in parallel: a batch is
its packets in lane order, each one served completely before the next.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from models.common.mix import GOLDEN, MASK64, mix64
from models.ofan.config import OfanConfig
from models.ofan.order import pi

UNROUTABLE = -1
"""The answer for a packet whose destination no uplink reaches."""


def class_offset(size_class: int, uplinks: int) -> int:
    """How far class t starts after the data pointer: 0 for data, ⌊w/2⌋ for ACKs (section 4.1).

    The paper has these two classes. Any further class halves the widest gap left: t's bits are
    mirrored behind the binary point (1 → 1/2, 2 → 1/4, 3 → 3/4, …) and multiplied by w.
    """
    fraction, weight = 0, 4
    for bit in range(3):
        fraction += weight * (size_class >> bit & 1)
        weight //= 2
    return fraction * uplinks // 8


def initial_pointer(config: OfanConfig, pipe: int, destination: int, size_class: int) -> int:
    """Return where the pointer of (pipe, destination, size class) starts, 0 to w - 1.

    Data pointers start at 0 (`init="zero"`) or at a random position that depends on the seed, the
    pipe and the destination alone: with g = 0x9E3779B97F4A7C15 and a = pipe·2**32 + destination,

        data = ⌊ (mix64(mix64(seed + g) + g·(a + 1)) >> 32) · w / 2**32 ⌋   (sums modulo 2**64)

    The other classes of the destination start `class_offset` further, modulo w.
    """
    data = 0
    if config.init != "zero":
        g = GOLDEN
        stream = mix64((config.init + g) & MASK64)
        drawn = mix64((stream + g * ((pipe << 32) + destination + 1)) & MASK64) >> 32
        data = drawn * config.uplinks >> 32
    return (data + class_offset(size_class, config.uplinks)) % config.uplinks


@dataclass(frozen=True, slots=True)
class Packet:
    """A northbound packet: the lane it came in on, its destination and its size class."""

    lane: int
    destination: int
    size_class: int = 0


class Ofan:
    """One switch: its pointers and which uplinks reach which destination.

    `serve` answers one packet; `serve_batch` a batch; `set_uplink` is a link going down or up.
    """

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        self.pointers = {
            (pipe, config.key(d, t)): initial_pointer(config, pipe, d, t)
            for pipe in range(config.pipes)
            for d in range(config.destinations)
            for t in range(config.size_classes)
        }
        self._down: dict[int, set[int]] = {}

    def set_uplink(self, destination: int | None, uplink: int, up: bool) -> None:
        """Make `uplink` reach `destination` (None: every destination) or not, from now on."""
        c = self.config
        for d in range(c.destinations) if destination is None else (destination,):
            down = self._down.setdefault(d, set())
            down.discard(uplink) if up else down.add(uplink)

    def reaches(self, uplink: int, destination: int) -> bool:
        """Whether `uplink` is valid for `destination`."""
        return uplink not in self._down.get(destination, ())

    def serve(self, packet: Packet) -> int:
        """Return the uplink of one packet, or `UNROUTABLE`, and advance its pointer.

        The pointer cycles by increments modulo w and gives the uplink it points at; an uplink that
        does not reach the destination is passed by one more increment (section 4.1, Failures).
        Where no uplink does, the pointer stays as it was.
        """
        c = self.config
        identifier = c.key(packet.destination, packet.size_class)
        key = (packet.lane // c.lanes_per_pipe, identifier)
        assert c.order is not None
        position = self.pointers[key]
        for _ in range(c.uplinks):
            uplink = pi(c.order, c.uplinks, identifier, position)
            position = (position + 1) % c.uplinks
            if self.reaches(uplink, packet.destination):
                self.pointers[key] = position
                return uplink
        return UNROUTABLE

    def serve_batch(self, packets: Iterable[Packet]) -> dict[int, int]:
        """Serve the packets of one batch in lane order; return {lane: uplink or UNROUTABLE}."""
        return {p.lane: self.serve(p) for p in sorted(packets, key=lambda p: p.lane)}
