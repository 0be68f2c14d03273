"""What parts of a scene of `hop_scenes` are made of: a port set up, and led through what belongs
together."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product

from models.csig.agent import Entry
from models.csig.port import Port
from models.csig.quantize import Wide, even
from models.csig.signals import BY_NAME, least_severe
from models.csig.tables import RECORD
from models.csig.tag import FORMATS, Tag, width
from tb.csig import hop_stimulus as stimulus
from tb.csig.hop_beats import Spoken
from tb.csig.hop_bench import HopBench


async def set_up(bench: HopBench, ports: list[Port]) -> None:
    """Set up ports while nothing goes on."""
    for port in ports:
        bench.write(port, bench.lengths.index(port.window_ns))
    bench.leap()
    await bench.run()


def agents(bench: HopBench, ports: list[Port], packets: int, count: int) -> None:
    """Let agents write among so many packets, if there are any agents."""
    if bench.config.agent:
        numbers = [port.id for port in ports]
        bench.queue("s_agent", stimulus.values(bench.config, bench.rng, numbers, packets, count))


async def spaced(bench: HopBench, port: Port) -> None:
    """A port's packets at every distance, nothing else between them."""
    c, rng, latency = bench.config, bench.rng, bench.latency
    bench.tick = 1
    bench.pause(stimulus.gaps(latency), "none")
    bench.feed(stimulus.anything(c, rng, [port.id], stimulus.IN_A_ROW * latency))
    await bench.run()
    bench.pause()


async def by_signal(bench: HopBench, port: Port) -> None:
    """Each signal in each format: replaced, kept and tied; both ends; the two known tags."""
    c, rng = bench.config, bench.rng
    bench.tick = 0
    port = replace(port, speed_gbps=800, action="update", source="native" if c.native else "agent")
    for _ in range(4):
        port = stimulus.redrawn(c, rng, port)
        await set_up(bench, [port])
        if c.agent and not c.native:
            for signal in range(4):
                said = Spoken(port.id, signal, Entry(rng.randrange(4, 28), 9 << 14, 0, 0), 10**6)
                bench.queue("s_agent", [(0, said)])
            await bench.run()
        bench.feed(stimulus.aimed(c, rng, port.id))
        bench.feed(stimulus.severe(c, rng, port.id))
        bench.feed(stimulus.known(c, rng, port.id))
        bench.feed(stimulus.unknown(c, rng, port.id))
        await bench.run()
    if c.agent:
        await by_agent(bench, port)
    bench.tick = 1


async def by_agent(bench: HopBench, port: Port) -> None:
    """A value's last ns, and the one behind it; a value for one format alone."""
    c, rng = bench.config, bench.rng
    bench.write(replace(port, source="agent"), kinds=[RECORD])
    await bench.run()
    for only, format, signal in product((*c.formats, None), c.formats, (0, 2)):
        codes = {"compact": 15, "wide": 1 << 19}
        there = {f: code for f, code in codes.items() if only in (f, None)}
        entry = Entry(there.get("compact"), there.get("wide"), 0, 0)
        bench.queue("s_agent", [(0, Spoken(port.id, signal, entry, 9))])
        await bench.run()
        s = 0 if signal else 2 ** width(format, c.layout, "s") - 1
        given = stimulus.tag(c, rng, format=format, t=signal, d=0, s=s)
        bench.feed(stimulus.offer(c, rng, port.id, given, n) for n in (9, 1))
        await bench.run()


async def metered(bench: HopBench, port: Port) -> None:
    """Windows used in part, whole, and not at all; edges between any two packets."""
    c, rng = bench.config, bench.rng
    port = replace(port, speed_gbps=100, source="native" if c.native else "agent", action="update")
    port = stimulus.redrawn(c, rng, port)
    await set_up(bench, [port])
    bench.tick = 0
    for _ in range(3):
        bench.feed(stimulus.filled(c, rng, port, port.window_ns))
        tags = [stimulus.tag(c, rng, t=rng.randrange(2), d=0) for _ in range(3)]
        for given, windows in zip(tags, (1, 2, 3), strict=True):
            bench.feed([stimulus.offer(c, rng, port.id, given, windows * port.window_ns, aim=0)])
        await bench.run()
    bench.tick = 1
    bench.feed(stimulus.anything(c, rng, [port.id], 2 * port.window_ns))
    await bench.run()


HOPS = (
    # C and ABW in Gb/s, delay in 100 ns: the path of five hops in the facts of SAI
    (800, 100, 100),
    (100, 95, 30),
    (100, 70, 180),
    (100, 90, 50),
    (40, 20, 80),
)
BOTTLENECKS = {"abw": 5, "abw_c": 1, "delay": 3}


async def path(bench: HopBench, port: Port) -> None:
    """Tags through five hops one after the other, each played by the same port."""
    c, rng, window = bench.config, bench.rng, port.window_ns
    tops = {"abw": 13 * 10**9, "abw_c": 100, "delay": 255}
    compact = {name: even(0, top) for name, top in tops.items()}
    wide = {name: Wide(Fraction(0), 14 if name == "abw" else 0) for name in tops}
    tags = {
        (format, name): Tag(
            format=format,
            layout=c.layout,
            tpid=c.tpid(format),
            t=BY_NAME[name].number,
            s=least_severe(BY_NAME[name], width(format, c.layout, "s")),
            lm=0,
        )
        for format in c.formats
        for name in tops
    }
    bench.tick = 0
    for hop, (speed, available, delay) in enumerate(HOPS, start=1):
        here = Port(
            id=port.id,
            speed_gbps=speed,
            locator=hop,
            window_ns=window,
            source="native" if c.native else "agent",
            compact=compact,
            wide=wide,
        )
        await set_up(bench, [here])
        raw = {"abw": available * window, "abw_c": available * window, "delay": delay}
        for name in tops if c.agent else ():
            signal = BY_NAME[name]
            narrow, wider = (here.code(format, signal, raw[name]) for format in FORMATS)
            said = Spoken(port.id, signal.number, Entry(narrow, wider, 0, 0), 10**6)
            bench.queue("s_agent", [(0, said)])
        used, advance = (speed - available) * window // 8, window
        while used:
            length = min(used, 2**c.bytes_bits - 1)
            bench.feed([stimulus.offer(c, rng, port.id, None, advance, bytes=length)])
            used, advance = used - length, 0
        await bench.run()
        advance = window
        for key, given in tags.items():
            sent = stimulus.offer(c, rng, port.id, given, advance, bytes=64, delay_ns=delay)
            bench.feed([sent])
            await bench.run()
            assert bench.last_tag
            tags[key], advance = bench.last_tag, 0
    for name, hop in BOTTLENECKS.items():
        for format in c.formats:
            assert tags[format, name].lm == hop, f"the bottleneck of {name} is {tags[format, name]}"
        bench.coverage.path(name)
    bench.tick = 1
