"""Lower bound of the completion time of a permutation collective (seed appendix A).

Every host sends m data packets to one host and receives m from another, all at line rate, through
H hops of an idle network; each data packet is acknowledged. Data leaves alone at first (mode 1),
then data and ACKs take turns (mode 2), then ACKs leave alone (mode 3). All times are exact
`fractions.Fraction` numbers of nanoseconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from models.common.check import integer


@dataclass(frozen=True, kw_only=True)
class BoundSettings:
    """What the bound depends on; the defaults are those of section 6. The radix k plays no part.

    Raises `TypeError` or `ValueError` naming the field and the value.
    """

    link_gbps: int = 800
    """Rate of every link, Gb/s, 1 to 1,000,000."""
    link_latency_ns: int = 500
    """Propagation time of one link, ns, 0 to 1,000,000."""
    hops: int = 6
    """H, links between two hosts, 1 to 64 (6 across a three-level fat tree)."""
    payload_bytes: int = 4096
    """Payload of a data packet, bytes, 1 to 1,048,576."""
    header_bytes: int = 62
    """Header of a data packet, bytes, 0 to 4,096."""
    ack_bytes: int = 64
    """Size of an ACK, bytes, 1 to 4,096."""
    gap_bytes: int = 20
    """Gap between two frames, in bytes of link time, 0 to 4,096."""
    gap_at_each_hop: bool = False
    """Whether the last ACK pays a gap at each hop after the first.

    The text of appendix A prints (H-1)·Ta' in its second constraint, which is True and gives
    17.05794 µs for m = 256; the number it states, 17.05694 µs, comes out with (H-1)·Ta, which is
    False. An ACK that meets no other packet waits for no gap, so False is also the form that
    stays a lower bound.
    """

    def __post_init__(self) -> None:
        integer("link_gbps", self.link_gbps, 1, 1_000_000)
        integer("link_latency_ns", self.link_latency_ns, 0, 1_000_000)
        integer("hops", self.hops, 1, 64)
        integer("payload_bytes", self.payload_bytes, 1, 1 << 20)
        integer("header_bytes", self.header_bytes, 0, 4096)
        integer("ack_bytes", self.ack_bytes, 1, 4096)
        integer("gap_bytes", self.gap_bytes, 0, 4096)

    def link_time(self, size: int) -> Fraction:
        """Return how long `size` bytes take on a link, ns."""
        return Fraction(8 * size, self.link_gbps)

    @property
    def data_time(self) -> Fraction:
        """Td, serialization of a data packet, ns (41.58)."""
        return self.link_time(self.payload_bytes + self.header_bytes)

    @property
    def ack_time(self) -> Fraction:
        """Ta, serialization of an ACK, ns (0.64)."""
        return self.link_time(self.ack_bytes)

    @property
    def gap_time(self) -> Fraction:
        """Tg, gap between two packets, ns (0.2)."""
        return self.link_time(self.gap_bytes)

    @property
    def path_time(self) -> Fraction:
        """Tp, propagation one way through all H links, ns (3,000)."""
        return Fraction(self.hops * self.link_latency_ns)


@dataclass(frozen=True, kw_only=True)
class BoundTimes:
    """The bound and the times it is made of, ns from the first bit a host sends."""

    first_data: Fraction
    """t1, arrival of the first data packet: Tp + H·Td."""
    data_only: int
    """Data packets a host sends before its first ACK: i1, or all m if m < i1."""
    interleaved_acks: int
    """i2 = m - i1 + 1, index of the ACK sent right after the last data packet; 0 if m < i1."""
    first_ack: Fraction
    """t1^ACK, arrival of the first ACK: with m >= i1 right behind data packet i1."""
    last_interleaved_ack: Fraction | None
    """t^ACK of ACK i2, the end of mode 2; None if m < i1 (no data left to interleave)."""
    send_limit: Fraction
    """t_m^ACK(1), arrival of ACK m if ACKs only had to leave one after another."""
    receive_limit: Fraction
    """t_m^ACK(2), arrival of ACK m if it only had to wait for data packet m."""

    @property
    def bound(self) -> Fraction:
        """Lower bound of the completion time, ns: the later of the two limits."""
        return max(self.send_limit, self.receive_limit)


def first_data_packets(settings: BoundSettings) -> int:
    """Return i1 = ⌈(Tp + (H-1)·Td) / Td'⌉ + 1, data packets sent before an ACK can be (equation 8).

    The smallest i1 with Td + (i1 - 1)·Td' >= t1; 78 with the default settings.
    """
    s = settings
    wait = s.path_time + (s.hops - 1) * s.data_time
    return math.ceil(wait / (s.data_time + s.gap_time)) + 1


def completion_times(packets: int, settings: BoundSettings | None = None) -> BoundTimes:
    """Return all times of the bound for messages of m = `packets` data packets, 1 to 10**9.

    For m < i1 the paper only says that the host sends m packets. No data is left when the first
    packet comes in, so each ACK leaves at once, or as soon as the one before it has left, and
    takes Tp + H·Ta home.
    """
    integer("packets", packets, 1, 10**9)
    s = settings or BoundSettings()
    data, ack = s.data_time + s.gap_time, s.ack_time + s.gap_time  # Td', Ta'
    hop = ack if s.gap_at_each_hop else s.ack_time
    way = (s.hops - 1) * hop + s.path_time
    first_data = s.path_time + s.hops * s.data_time
    i1 = first_data_packets(s)
    if packets < i1:
        first_ack = first_data + s.ack_time + way
        return BoundTimes(
            first_data=first_data,
            data_only=packets,
            interleaved_acks=0,
            first_ack=first_ack,
            last_interleaved_ack=None,
            send_limit=first_ack + (packets - 1) * ack,
            receive_limit=first_ack + (packets - 1) * data,
        )
    first_ack = first_data + (i1 - 1) * data + ack
    i2 = packets - i1 + 1

    def ack_arrival(index: int) -> Fraction:
        return first_ack + (index - 1) * (data + ack)

    return BoundTimes(
        first_data=first_data,
        data_only=i1,
        interleaved_acks=i2,
        first_ack=first_ack,
        last_interleaved_ack=ack_arrival(i2),
        send_limit=ack_arrival(i2) + (packets - i2) * ack,
        receive_limit=ack_arrival(packets - (i1 - 1)) + way,
    )


def completion_bound_us(packets: int, settings: BoundSettings | None = None) -> float:
    """Return the lower bound for m = `packets` in microseconds: 17.05694 for 256 (appendix A)."""
    return float(completion_times(packets, settings).bound / 1000)


def completion_bound_s(packets: int, settings: BoundSettings | None = None) -> float:
    """Return the lower bound for m = `packets` in seconds."""
    return float(completion_times(packets, settings).bound / 10**9)
