"""The golden model of a hop over columns of packets, and what Hypothesis draws for it."""

from __future__ import annotations

import random
from fractions import Fraction

from hypothesis import strategies as st

from models.csig.config import CsigConfig
from models.csig.hop import Answer, Hop, Packet
from models.csig.hst import PortAgent, signals
from models.csig.port import Port
from models.csig.quantize import Compact, Wide
from models.csig.setup import Agent, Setup
from models.csig.signals import SIGNALS
from models.csig.tag import FORMATS, Tag, width
from models.csig.trace import NO_TAG, Trace

Row = tuple[int, int, bool, bool, bool, bool]
"""Value and locator as they leave (`NO_TAG` without a tag), replaced, stripped, unknown, stale."""


def packets_of(trace: Trace, layout: str) -> list[Packet]:
    """Return the rows of a trace as packets."""
    discard = trace.discarded()
    rows = zip(*(trace.columns() | {"discard": discard}).values(), strict=True)
    packets = []
    for row in rows:
        time, port, length, delay, queue, format, signal, value, locator, d = map(int, row)
        tag = None
        if value != NO_TAG:
            tag = Tag(format=FORMATS[format], layout=layout, t=signal, s=value, lm=locator, d=d)
        packets.append(Packet(time, port, length, delay, queue, tag))
    return packets


def row_of(packet: Packet, answer: Answer) -> Row:
    """Return what becomes of a packet as a row of `models.csig.answers.Answers`."""
    tag = answer.tag
    value, locator = (NO_TAG, NO_TAG) if tag is None else (tag.s, tag.lm)
    stripped = packet.tag is not None and tag is None
    return value, locator, answer.replaced, stripped, answer.unknown, answer.stale


def serve(config: CsigConfig, setup: Setup, trace: Trace) -> list[Row]:
    """Serve a trace with the golden hop, its ports' agents at work."""
    hop = Hop(config, list(setup.ports))
    agents = {p.id: PortAgent(p, setup.agent(p.id)) for p in setup.ports if signals(p)}
    rows = []
    for packet in packets_of(trace, config.layout):
        for number, agent in agents.items():
            for signal, entry in agent.until(packet.time_ns):
                hop.agent.write(number, signal, entry)
        rows.append(row_of(packet, hop.serve(packet)))
        if packet.port in agents:
            agents[packet.port].count(packet.bytes, packet.delay_ns, packet.queue_bytes)
    return rows


fractions = st.fractions(-20, 300, max_denominator=12)


@st.composite
def compacts(draw: st.DrawFn, scale: int = 1) -> Compact:
    """Compact quantizers of 1 to 32 ranges; bounds are up to 300 times `scale`."""
    bounds = sorted(draw(st.sets(fractions, max_size=draw(st.sampled_from([0, 3, 31])))))
    codes = sorted(draw(st.lists(st.integers(0, 31), min_size=32, max_size=32)))
    return Compact(tuple(bound * scale for bound in bounds), tuple(codes[: len(bounds) + 1]))


SCALES = {"abw": 10**8, "abw_c": 1, "delay": 50, "queue": 50}
"""What a bound of 100 or so has to be multiplied by to be met by the traffic below."""


@st.composite
def wides(draw: st.DrawFn, scale: int = 1) -> Wide:
    """Wide quantizers, whose codes saturate at both ends as often as not."""
    base = draw(st.fractions(0, 200, max_denominator=5)) * scale
    return Wide(base, draw(st.integers(0, 40)))


@st.composite
def ports(draw: st.DrawFn, number: int) -> Port:
    """A port with some quantizers, a few of its signals by agents."""
    names = [signal.name for signal in SIGNALS]
    some = st.lists(st.sampled_from(names), unique=True)
    return Port(
        id=number,
        speed_gbps=draw(st.sampled_from([1, 7, 100, 800])),
        locator=draw(st.integers(0, 63)),
        action=draw(st.sampled_from(["update"] * 6 + ["pass", "strip"])),
        window_ns=draw(st.sampled_from([100, 333, 1000])),
        source={name: "agent" for name in draw(some)} if draw(st.booleans()) else "native",
        compact={name: draw(compacts(SCALES[name])) for name in draw(some)},
        wide={name: draw(wides(SCALES[name])) for name in draw(some)},
    )


@st.composite
def setups(draw: st.DrawFn) -> Setup:
    """Up to four ports, and agents of all kinds: late ones, and ones whose values run out."""
    numbers = sorted(draw(st.sets(st.integers(0, 5), min_size=1, max_size=4)))
    made = {}
    for number in numbers:
        if draw(st.booleans()):
            made[number] = Agent(
                period_ns=draw(st.sampled_from([100, 250, 1700])),
                delay_ns=draw(st.sampled_from([0, 1, 400])),
                timeout_ns=draw(st.sampled_from([None, 0, 90, 1000])),
            )
    return Setup(ports=tuple(draw(ports(number)) for number in numbers), agents=made)


def configs(setup: Setup) -> st.SearchStrategy[CsigConfig]:
    """Hardware for the ports, of either layout, with all formats or one."""
    return st.builds(
        setup.config,
        layout=st.sampled_from(["draft", "uec"]),
        formats=st.sampled_from([FORMATS, FORMATS, ("compact",), ("wide",)]),
        update_discarded=st.booleans(),
        delay_bits=st.sampled_from([8, 24]),
        queue_bits=st.sampled_from([8, 26]),
    )


def traffic(config: CsigConfig, setup: Setup, count: int, seed: int) -> Trace:
    """Return packets in bursts and with pauses, with tags of all kinds and without."""
    rng = random.Random(seed)
    agents = any(signals(port) for port in setup.ports)
    time, rows = rng.choice([0, 0, 10**4 if agents else 10**12]), []  # agents go step by step
    for _ in range(count):
        time += rng.choice([0, 0, 1, 1, 5, 30, 200, 700, 5000])
        format = rng.randrange(2)
        bits = {f: width(FORMATS[format], config.layout, f) for f in ("t", "s", "lm", "d")}
        signal = rng.randrange(2 ** bits["t"]) if rng.random() < 0.1 else rng.randrange(4)
        value = rng.choice([0, 2 ** bits["s"] - 1, rng.randrange(2 ** bits["s"])])
        tag = (value, rng.randrange(2 ** bits["lm"])) if rng.random() < 0.9 else (NO_TAG, NO_TAG)
        rows.append(
            (
                time,
                rng.choice(setup.ports).id,
                rng.choice([64, 1500, 9216, 2**config.bytes_bits - 1]),
                rng.randrange(2 ** rng.choice([4, 12, 30])),
                rng.randrange(2 ** rng.choice([4, 18, 30])),
                format,
                signal,
                *tag,
                rng.randrange(2 ** bits["d"]) if rng.random() < 0.3 else 0,
            )
        )
    return Trace.of(*zip(*rows, strict=True))


PERCENT = Compact(tuple(map(Fraction, (5, 10, 25, 40, 55, 70, 85))), tuple(range(8)))
"""The quantizer of ABW/C in the issue's example."""
