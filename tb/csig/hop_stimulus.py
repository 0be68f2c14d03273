"""What a bench feeds a hop: ports of all kinds, packets with tags of all kinds, software's values.

Everything is drawn from the `random.Random` that is passed in, so that a seed repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import repeat
from typing import Any

from models.csig.agent import Entry
from models.csig.config import CsigConfig
from models.csig.hop import Packet
from models.csig.port import Port
from models.csig.quantize import Compact, Wide, even
from models.csig.signals import BY_NAME, SIGNALS
from models.csig.tables import LEVEL, SCALE, SCALE_BITS, Write
from models.csig.tag import FORMATS, Tag, from_number, size, width
from tb.csig.hop_beats import Offer, Read, Spoken, Word

Offers = Iterator[Offer]

KNOWN = (0x99002B85, 0x99002842)
NOTHING = 0x0800_4500 << 32
"""The beginning of an IPv4 packet, where there is no tag."""


def most(c: CsigConfig, port: Port, name: str) -> int:
    """Return the largest value of a signal at a port, in its unit."""
    raw = {
        "available": port.capacity_bits,
        "delay": 2**c.delay_bits - 1,
        "queue": 2**c.queue_bits - 1,
    }[BY_NAME[name].measure]
    return max(1, int(port.value(BY_NAME[name], raw)))


def compact(rng: random.Random, top: int) -> Compact:
    """Ranges below and around `top`, of one width or any."""
    if rng.random() < 0.3:
        return even(0, top)
    count = rng.choice((4, 8, 32))
    bounds = sorted({Fraction(rng.randrange(1, 7 * top + 2), 7) for _ in range(count - 1)})
    codes = sorted(rng.randrange(32) for _ in range(len(bounds) + 1))
    return Compact(tuple(bounds), tuple(codes))


def wide(rng: random.Random, top: int) -> Wide:
    """A base of a few per cent, and steps with which codes do or do not reach their end."""
    shift = max(0, top.bit_length() - rng.choice((18, 20, 24)))
    return Wide(Fraction(rng.randrange(max(1, top // 8) + 1)), shift)


def origins(c: CsigConfig, rng: random.Random) -> dict[str, str]:
    """Where the values of a port come from, by signal."""
    kinds = {"both": ("native", "agent")}.get(c.sources, (c.sources,))
    return {signal.name: rng.choice(kinds) for signal in SIGNALS}


def drawn(c: CsigConfig, rng: random.Random, number: int, window_ns: int, **more: Any) -> Port:
    """A port with quantizers for all signals."""
    bits = min(width(format, c.layout, "lm") for format in c.formats)
    port = Port(
        id=number,
        window_ns=window_ns,
        **{
            "speed_gbps": rng.choice((1, 7, 100, 800)),
            "locator": rng.getrandbits(bits),
            "source": origins(c, rng),
            **more,
        },
    )
    return redrawn(c, rng, port)


def redrawn(c: CsigConfig, rng: random.Random, port: Port) -> Port:
    """The port with other quantizers."""
    made: dict[str, dict[str, Any]] = {"compact": {}, "wide": {}}
    for signal in SIGNALS:
        top = most(c, port, signal.name)
        made["compact"][signal.name] = compact(rng, top)
        made["wide"][signal.name] = wide(rng, top)
    return replace(port, **{format: made[format] for format in c.formats})


def tag(c: CsigConfig, rng: random.Random, **fixed: int | str) -> Tag:
    """Any tag of a format that this hop updates, mostly of a known type."""
    format = str(fixed.pop("format", rng.choice(c.formats)))
    bits = {name: width(format, c.layout, name) for name in ("t", "s", "lm", "r", "d")}
    fields: dict[str, Any] = {name: rng.getrandbits(n) if n else 0 for name, n in bits.items()}
    if rng.random() < 0.93:
        fields["t"] = rng.randrange(4)
    if rng.random() < 0.7:
        fields["d"] = 0
    fields["s"] = rng.choice((0, 2 ** bits["s"] - 1, fields["s"], fields["s"]))
    return Tag(**{**fields, **fixed}, format=format, layout=c.layout, tpid=c.tpid(format))


def offer(
    c: CsigConfig, rng: random.Random, port: int, given: Tag | None, advance: int = 0, **more: Any
) -> Offer:
    """A packet with a tag or, if None, with something else in its place."""
    fields = {
        "bytes": rng.choice((64, 64, 1500, 9216, 2**c.bytes_bits - 1)) % 2**c.bytes_bits,
        "delay_ns": rng.getrandbits(rng.randint(1, c.delay_bits)),
        "queue_bytes": rng.getrandbits(rng.randint(1, c.queue_bits)),
        **{name: more.pop(name) for name in ("bytes", "delay_ns", "queue_bytes") if name in more},
    }
    rest = rng.getrandbits(32) if given else foreign(c, rng)
    return Offer(Packet(0, port, **fields, tag=given), rest, advance, **more)


def foreign(c: CsigConfig, rng: random.Random) -> int:
    """What stands in a tag's place: nothing that looks like one, or a tag of another format."""
    others = [format for format in FORMATS if format not in c.formats]
    top = NOTHING
    if others and rng.random() < 0.5:
        top = c.tpid(others[0]) << 48
    bits = 8 * max(size(format) for format in c.formats)
    return (top | rng.getrandbits(48)) >> 64 - bits


JUMPS = (0, 0, 0, 0, 3, 40)


def anything(
    c: CsigConfig,
    rng: random.Random,
    ports: Sequence[int],
    count: int,
    jumps: Sequence[int] = JUMPS,
) -> Offers:
    """Packets of any kind; of the tags some aim at the port's own value, some miss it by one. Time
    moves with a packet by one of `jumps`."""
    for _ in range(count):
        port = rng.choice(ports) if rng.random() < 0.96 else rng.getrandbits(c.port_bits or 1)
        port %= 1 << c.port_bits
        given = tag(c, rng) if rng.random() < 0.92 else None
        aim = rng.choice((None, None, -1, 0, 0, 1))
        yield offer(c, rng, port, given, rng.choice(jumps), aim=aim)


def aimed(c: CsigConfig, rng: random.Random, port: int) -> Offers:
    """Each signal in each format: replaced, kept, and a tie; D is clear."""
    for format in c.formats:
        for signal in SIGNALS:
            for aim in (-1, 0, 1):
                value = 7 << width(format, c.layout, "s") - 4
                given = tag(c, rng, format=format, t=signal.number, d=0, s=value)
                yield offer(c, rng, port, given, aim=aim)


def severe(c: CsigConfig, rng: random.Random, port: int) -> Offers:
    """Tags at both ends of a signal's range, met by measures at both ends."""
    for format in c.formats:
        for signal in SIGNALS:
            for s in (0, 2 ** width(format, c.layout, "s") - 1):
                for raw in (0, -1):
                    given = tag(c, rng, format=format, t=signal.number, d=0, s=s)
                    ends = {"delay_ns": raw % 2**c.delay_bits, "queue_bytes": raw % 2**c.queue_bits}
                    yield offer(c, rng, port, given, bytes=64, **ends)


def known(c: CsigConfig, rng: random.Random, port: int) -> Offers:
    """The two known tags, if they are any here."""
    if "compact" in c.formats:
        for number in KNOWN:
            found = replace(from_number(number, "compact", c.layout), tpid=c.tpid_compact)
            yield offer(c, rng, port, found)


def unknown(c: CsigConfig, rng: random.Random, port: int) -> Offers:
    """Types that no hop knows."""
    for format in c.formats:
        for t in (4, 5, 2 ** width(format, c.layout, "t") - 1):
            yield offer(c, rng, port, tag(c, rng, format=format, t=t))


def filled(c: CsigConfig, rng: random.Random, port: Port, advance: int) -> Offers:
    """Packets that leave part of a window, then some more than the port can carry."""
    capacity = port.capacity_bits // 8
    for share in (0.3, 1.7):
        left = int(capacity * share)
        first = True
        while left > 0:
            length = min(left, 2**c.bytes_bits - 1)
            left -= length
            given = tag(c, rng, t=rng.randrange(2), d=0)
            yield offer(c, rng, port.id, given, advance if first else 0, bytes=length, aim=0)
            first = False
        given = tag(c, rng, t=rng.randrange(2), d=0)
        yield offer(c, rng, port.id, given, advance, bytes=64, aim=rng.choice((0, 1)))


def spoilers(c: CsigConfig, rng: random.Random, port: Port) -> Iterator[Word]:
    """Words that make nonsense of tables that are not valid any more."""
    for signal in SIGNALS:
        if "compact" in c.formats:
            root = rng.choice((0, 1 << c.measure_bits))
            yield Word(Write(LEVEL, port.id, signal.number, 1, root), port)
        if "wide" in c.formats:
            yield Word(Write(SCALE, port.id, signal.number, 0, rng.getrandbits(SCALE_BITS)), port)


IN_A_ROW = 4


def gaps(distance: int) -> Iterator[bool]:
    """Pauses of n - 1 cycles, n from 1 to `distance`, each in front of `IN_A_ROW` packets."""
    for n in range(1, distance + 1):
        yield from [True] * (n - 1) + [False] * IN_A_ROW
    yield from repeat(False)


def values(
    c: CsigConfig, rng: random.Random, ports: Sequence[int], packets: int, count: int
) -> list[tuple[int, Spoken]]:
    """What agents write among so many packets."""
    places = sorted(rng.randrange(max(1, packets)) for _ in range(count))
    return [(place, spoken(c, rng, rng.choice(ports), rng.randrange(4))) for place in places]


def spoken(
    c: CsigConfig, rng: random.Random, port: int, signal: int, lasts: int | None = None
) -> Spoken:
    """A value of an agent, for all formats or one, that lasts for any time."""
    there = {f: rng.random() < 0.85 for f in FORMATS}
    made = {
        format: rng.getrandbits(width(format, c.layout, "s")) if there[format] else None
        for format in FORMATS
    }
    if lasts is None:
        lasts = rng.choice((0, 5, 60, 10_000, 10_000, 10_000))
    return Spoken(port, signal, Entry(made["compact"], made["wide"], 0, 0), lasts)


def readings(
    c: CsigConfig, rng: random.Random, ports: Sequence[int], packets: int, count: int
) -> list[tuple[int, Read]]:
    """Counters read, and sometimes cleared, among so many packets."""
    places = sorted(rng.randrange(max(1, packets)) for _ in range(count))
    return [(place, Read(rng.choice(ports), rng.random() < 0.3)) for place in places]
