"""A path of hops with given loads: what a flow's tags meet, as traces of the hops.

What is modelled: a flow sends packets of one size at an even pace, its tags ask for several signals
in turn. Each hop has one port on the path. Beside the flow, packets without tags leave through it,
evenly too, so that the link is used as much as its load says. What leaves a hop goes into the next
`link_ns` later, its tag as it left. A packet's delay and the queue it leaves are those given for
the hop, and up to `jitter_ns` more; packets stay in order.

What is not: queues do not follow from loads, and senders do not hear what their tags say.

Hop n, from 1, is port n - 1 of one ports file, and its locator is n.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from models.common.check import choice, integer
from models.common.mix import GOLDEN, MASK64, mix64
from models.csig.config import CsigConfig
from models.csig.port import ORIGINS, Port
from models.csig.quantize import RANGES, WIDE_BITS, Compact, Wide
from models.csig.setup import Setup
from models.csig.signals import BY_NAME, SIGNALS, Signal, least_severe
from models.csig.stops import FACTS, Stop
from models.csig.tag import FORMATS, LAYOUTS, width
from models.csig.trace import NO_TAG, Trace
from models.csig.vectorized import answer

MAX_PACKETS = 2**24
"""Packets of all hops together."""

WARM_UP = 2
"""Windows in which the other packets leave alone, before the first with a tag."""


@dataclass(frozen=True, kw_only=True)
class Path:
    """A flow and its hops. Fields are checked on construction: `TypeError` and `ValueError` name
    the field and the value."""

    stops: tuple[Stop, ...] = FACTS
    """1 to 64."""
    packets: int = 1000
    """Packets of the flow, 1 to 2**24."""
    packet_bytes: int = 1000
    """Bytes of each, 64 to 16,383."""
    rate_gbps: Fraction | None = None
    """Rate of the flow; None: all of the load of the hop that has the least."""
    other_bytes: int = 4096
    """Bytes of the packets beside it, 64 to 16,383."""
    signals: tuple[str, ...] = tuple(BY_NAME)
    """What the tags ask for, in turn."""
    format: str = "compact"
    layout: str = "draft"
    source: str = "native"
    """`native`: hops measure. `agent`: software does, every 100 µs."""
    window_ns: int = 16_000
    """Window of the available bandwidth, ns, the same in all hops. The default is long enough for
    ten packets of the flow, or the window would show single packets."""
    link_ns: int = 500
    """Time from one hop to the next, ns, 0 to 10**9."""
    jitter_ns: int = 0
    """Largest extra delay of a packet in a hop, ns, drawn evenly, 0 to 10**9."""
    seed: int = 0
    """Seed of the jitter, 0 to 2**63 - 1."""

    def __post_init__(self) -> None:
        integer("hops", len(self.stops), 1, 64)
        integer("packets", self.packets, 1, MAX_PACKETS)
        integer("packet_bytes", self.packet_bytes, 64, 2**14 - 1)
        integer("other_bytes", self.other_bytes, 64, 2**14 - 1)
        if not self.signals:
            raise ValueError("signals must be one or more")
        for name in self.signals:
            choice("signals", name, tuple(BY_NAME))
        choice("format", self.format, FORMATS)
        choice("layout", self.layout, LAYOUTS)
        choice("source", self.source, ORIGINS)
        integer("window_ns", self.window_ns, 100, 2**20 - 1)
        integer("link_ns", self.link_ns, 0, 10**9)
        integer("jitter_ns", self.jitter_ns, 0, 10**9)
        integer("seed", self.seed, 0, 2**63 - 1)
        # Hops count from 1 in the locators, and their ports write tags of both formats.
        most = 2 ** min(width(format, self.layout, "lm") for format in FORMATS) - 1
        if len(self.stops) > most:
            raise ValueError(
                f"hops must be at most {most} in layout {self.layout}, not {len(self.stops)}"
            )
        least = min(stop.used_gbps for stop in self.stops)
        if not least:
            raise ValueError("load must be above 0 at each hop of a path, not 0")
        if self.rate_gbps is None:
            object.__setattr__(self, "rate_gbps", least)
        if not 0 < self.rate <= least:
            most = f"{float(least):g} Gb/s, the least that a hop's load is"
            raise ValueError(f"rate_gbps must be above 0, at most {most}, not {float(self.rate):g}")
        total = sum(self.packets + self._others(stop) for stop in self.stops)
        if total > MAX_PACKETS:
            raise ValueError(f"packets must be at most {MAX_PACKETS} in all hops, not {total}")

    @property
    def rate(self) -> Fraction:
        """`rate_gbps` as the number it is after construction."""
        assert self.rate_gbps is not None
        return self.rate_gbps

    @property
    def pace_ns(self) -> Fraction:
        """Time between two packets of the flow, ns."""
        return 8 * self.packet_bytes / self.rate

    @property
    def lead_ns(self) -> int:
        """Time that the other packets are ahead of the flow, ns."""
        return WARM_UP * self.window_ns

    def _others(self, stop: Stop) -> int:
        """Packets beside the flow at a hop."""
        time = self.lead_ns + self.packets * self.pace_ns
        return int(time * (stop.used_gbps - self.rate) / (8 * self.other_bytes))

    def setup(self) -> Setup:
        """Return the hops' ports, which share their quantizers."""
        values = {s.name: max(stop.value(s) for stop in self.stops) for s in SIGNALS}
        longest = self.jitter_ns + max(stop.delay_ns for stop in self.stops)
        fastest = Fraction(max(stop.speed_gbps for stop in self.stops) * 10**9, 8)
        tops = {
            "abw": fastest,
            "abw_c": Fraction(100),
            "delay": _round(longest),
            "queue": _round(values["queue"]),
        }
        compact = {name: _compact(BY_NAME[name], top) for name, top in tops.items()}
        wide = {name: _wide(top) for name, top in tops.items()}
        ports = (
            Port(
                id=number,
                speed_gbps=stop.speed_gbps,
                locator=number + 1,
                window_ns=self.window_ns,
                source=self.source,
                compact=compact,
                wide=wide,
            )
            for number, stop in enumerate(self.stops)
        )
        return Setup(ports=tuple(ports))

    def config(self) -> CsigConfig:
        """Return the hardware that all of them together need."""
        return self.setup().config(layout=self.layout, time_bits=64)


def _round(top: Fraction | int) -> Fraction:
    """Return the least 32 times a power of two that is above `top`."""
    return Fraction(RANGES << int(top // RANGES).bit_length())


def _compact(signal: Signal, top: Fraction) -> Compact:
    """Return ranges of a 32nd of `top`, the last one open. Their codes leave the least severe one
    to tags that no hop has measured for."""
    bounds = tuple(top / RANGES * number for number in range(1, RANGES - 1))
    first = 0 if signal.keep == "min" else 1
    return Compact(bounds, tuple(range(first, first + RANGES - 1)))


def _wide(top: Fraction) -> Wide:
    """Return a quantizer that reaches up to `top`, as fine as it can be."""
    return Wide(Fraction(0), max(0, int(top).bit_length() - WIDE_BITS))


def hop_traces(path: Path) -> list[Trace]:
    """Return the trace of each hop, with tags as they come into it."""
    setup, config = path.setup(), path.config()
    order = np.arange(path.packets)
    flow = _flow(path, order)
    left = path.lead_ns - path.link_ns + _even(path.packets, path.pace_ns)
    traces = []
    for number, stop in enumerate(path.stops):
        come = left + path.link_ns
        left = np.maximum.accumulate(come + stop.delay_ns + _late(path, number, order))
        mine = replace(flow, time_ns=left, port=np.full(len(flow), number, np.int32))
        mine = replace(mine, delay_ns=left - come, queue_bytes=np.full(len(flow), stop.queue))
        other = _other(path, number, start=int(left[0]) - path.lead_ns)
        trace, places = _merged([mine, other])
        traces.append(trace)
        answers = answer(config, setup, trace)
        flow = replace(flow, value=answers.value[places[0]], locator=answers.locator[places[0]])
    return traces


def joined(traces: Sequence[Trace]) -> Trace:
    """Return the traces of all hops as that of one switch whose ports they are."""
    return _merged(traces)[0]


def _flow(path: Path, order: np.ndarray) -> Trace:
    """Return the flow's packets as they are sent."""
    asked = [BY_NAME[name] for name in path.signals]
    bits = width(path.format, path.layout, "s")
    starts = np.array([least_severe(signal, bits) for signal in asked])
    turn = order % len(asked)
    zero = np.zeros(len(order))
    return Trace.of(
        time_ns=zero,
        port=zero,
        bytes=np.full(len(order), path.packet_bytes),
        delay_ns=zero,
        queue_bytes=zero,
        format=np.full(len(order), FORMATS.index(path.format)),
        signal=np.array([signal.number for signal in asked])[turn],
        value=starts[turn],
        locator=zero,
    )


def _other(path: Path, number: int, start: int) -> Trace:
    """Return the packets beside the flow that leave hop `number`."""
    stop = path.stops[number]
    count = path._others(stop)
    order = np.arange(count)
    rate = stop.used_gbps - path.rate
    late = _late(path, number + len(path.stops), order)
    time = start + _even(count, 8 * path.other_bytes / rate if count else Fraction(0))
    full = np.full(count, 1, np.int64)
    return Trace.of(
        time_ns=np.maximum.accumulate(time + late),
        port=full * number,
        bytes=full * path.other_bytes,
        delay_ns=stop.delay_ns + late,
        queue_bytes=full * stop.queue,
        format=full * FORMATS.index(path.format),
        signal=full * BY_NAME[path.signals[0]].number,
        value=full * NO_TAG,
        locator=full * NO_TAG,
    )


def _even(count: int, pace: Fraction) -> np.ndarray:
    """Return times of `count` packets, one in `pace` ns."""
    up, down = pace.numerator, pace.denominator  # their products may be longer than 64 bits
    return np.array([number * up // down for number in range(count)], np.int64)


def _late(path: Path, stream: int, order: np.ndarray) -> np.ndarray:
    """Return the extra delays of packets, ns."""
    first = mix64(mix64(path.seed + GOLDEN & MASK64) + stream & MASK64)
    drawn = mix64(order.astype(np.uint64) * np.uint64(GOLDEN) + np.uint64(first))
    return (drawn % np.uint64(path.jitter_ns + 1)).astype(np.int64)


def _merged(parts: Sequence[Trace]) -> tuple[Trace, list[np.ndarray]]:
    """Return traces as one in the order of time, and where the packets of each have gone; of equal
    times the earlier trace's are first."""
    names = parts[0].columns()
    whole = Trace(**{n: np.concatenate([part.columns()[n] for part in parts]) for n in names})
    order = np.argsort(whole.time_ns, kind="stable")
    places = np.empty(len(order), np.int64)
    places[order] = np.arange(len(order))
    ends = np.cumsum([len(part) for part in parts])
    return whole[order], np.split(places, ends[:-1])
