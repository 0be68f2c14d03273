"""Flows on one link, packet by packet: what Fast Ramp-Up does to them.

What is modelled: a link with one queue, of which other traffic takes a fixed share, evenly; flows
of one RTT that pace their packets over it, each packet acknowledged; ABW/C by the windows of
`models.csig.meter`, quantized as a compact tag; an ECN mark where a packet finds more than
`mark_ns` of queue; no loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from heapq import heappop, heappush
from itertools import product

from models.csig.host import Reading, read
from models.csig.meter import Meter
from models.csig.port import Port
from models.csig.quantize import Compact, even
from models.csig.ramp import MTU, TRANSPORTS, Ack, FastRampUp, Transport
from models.csig.signals import BY_NAME
from models.csig.tag import Tag


@dataclass(frozen=True, kw_only=True)
class Link:
    """The link of all flows."""

    speed_gbps: int = 100
    other: Fraction = Fraction(0)
    """Share of it that other traffic takes."""
    base_ns: int = 20_000
    """RTT without any queue."""
    window_ns: int = 2000
    mark_ns: float = 5000.0
    """Queueing delay above which packets are marked."""
    quantizer: Compact = field(default_factory=lambda: even(0, 100, 31))
    """Its codes end at 30: a tag that comes back with 31 has met no hop that measures."""

    @property
    def free_bytes(self) -> float:
        """What fits in flight without a queue, beside the other traffic."""
        return float(self.speed_gbps * (1 - self.other) * self.base_ns / 8)


@dataclass
class History:
    """What has become of a link's flows, an entry for each RTT."""

    windows: list[list[float]] = field(default_factory=list)
    """Bytes, of each flow."""
    queue_ns: list[float] = field(default_factory=list)
    """The longest queueing delay of the RTT."""

    def used(self, link: Link) -> list[float]:
        """Return what all windows together are of what fits in flight, for each RTT."""
        return [sum(windows) / link.free_bytes for windows in self.windows]

    def until(self, link: Link, share: float) -> int:
        """Return after how many RTTs the windows first reach a share of what fits; -1: they do
        not."""
        used = self.used(link)
        return next((rtt for rtt, part in enumerate(used) if part >= share), -1)


class _Flow:
    """A flow at work."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport
        self.flying = 0.0
        self.turn = 0.0
        """When its pace lets it send again."""
        self.waiting = False
        """A time to send is among the events."""

    def has_room(self) -> bool:
        return self.flying == 0 or self.flying + MTU <= self.transport.window


class _Network:
    """The link, and what is to happen."""

    def __init__(self, link: Link) -> None:
        self.link = link
        self.port = Port(id=0, speed_gbps=link.speed_gbps, locator=1, window_ns=link.window_ns)
        self.meter = Meter(self.port)
        self.rate = float(link.speed_gbps * (1 - link.other)) / 8  # bytes a ns, for the flows
        self.others = float(link.speed_gbps * link.other) / 8
        self.free = 0.0  # when the queue is empty
        self.counted = 0.0  # other traffic is metered up to here
        self.longest = 0.0
        self.events: list[tuple[float, int, _Flow, Ack | None]] = []
        self.number = 0

    def plan(self, time: float, flow: _Flow, ack: Ack | None) -> None:
        self.number += 1
        heappush(self.events, (time, self.number, flow, ack))

    def send(self, flow: _Flow, time: float) -> None:
        """Send a packet, or plan to, if the window has room."""
        if flow.waiting or not flow.has_room():
            return
        if time < flow.turn:
            flow.waiting = True
            self.plan(flow.turn, flow, None)
            return
        flow.turn = max(time, flow.turn) + MTU * self.link.base_ns / flow.transport.window
        flow.flying += MTU
        queue = max(0.0, self.free - time)
        self.longest = max(self.longest, queue)
        self.free = max(self.free, time) + MTU / self.rate
        rtt = self.link.base_ns + queue
        ack = Ack(time + rtt, MTU, flow.flying, rtt, self.tag(), queue > self.link.mark_ns)
        self.plan(ack.time_ns, flow, ack)
        self.send(flow, time)

    def tag(self) -> Reading | None:
        """Return what the tag of a packet says that leaves when the queue is empty."""
        signal, now = BY_NAME["abw_c"], self.free
        while self.counted < now:  # the other packets, in steps that are short against a window
            step = min(now, self.counted + self.link.window_ns / 16)
            self.meter.packet(int(step), round(self.others * (step - self.counted)))
            self.counted = step
        value = self.port.value(signal, self.meter.packet(int(now), int(MTU)))
        code = self.link.quantizer.code(value)
        return read(Tag(format="compact", t=signal.number, s=code, lm=1), self.link.quantizer)


def run(link: Link, transports: Sequence[Transport], rtts: int) -> History:
    """Let flows send for some RTTs, whenever their windows have room; the other traffic is there
    two windows before them."""
    start = 2.0 * link.window_ns
    network, history = _Network(link), History()
    flows = [_Flow(transport) for transport in transports]
    for flow in flows:
        network.send(flow, start)
    for rtt in range(1, rtts + 1):
        while network.events and network.events[0][0] < start + rtt * link.base_ns:
            time, _, flow, ack = heappop(network.events)
            if ack is None:
                flow.waiting = False
            else:
                flow.flying -= ack.acked
                flow.transport.take(ack)
            network.send(flow, time)
        history.windows.append([flow.transport.window for flow in flows])
        history.queue_ns.append(network.longest)
        network.longest = 0.0
    return history


def study() -> Iterator[tuple[int, Fraction, dict[str, tuple[int, int]]]]:
    """Yield, for links and shares of other traffic, after how many RTTs a flow of each transport
    has 90 % of the rest: alone, and with Fast Ramp-Up."""
    for speed, other in product((100, 400), (Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))):
        link = Link(speed_gbps=speed, other=other)
        rtts = {}
        for name, make in TRANSPORTS.items():
            ramps = (None, FastRampUp(measured_ns=link.window_ns))
            alone, ramped = (run(link, [make(ramp)], 150).until(link, 0.9) for ramp in ramps)
            rtts[name] = alone, ramped
        yield speed, other, rtts


def main() -> None:
    """Print the study as the table of docs/csig/ramp.md."""
    for speed, other, rtts in study():
        cells = (" → ".join("–" if n < 0 else str(n) for n in pair) for pair in rtts.values())
        print(f"| {speed} Gb/s | {float(100 * other):g} % | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
