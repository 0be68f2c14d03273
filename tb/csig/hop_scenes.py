"""What is played to a hop: a scene for each cocotb test, judged cycle by cycle by the bench."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

from models.csig.agent import Entry
from models.csig.port import Port
from models.csig.quantize import Wide, even
from models.csig.signals import BY_NAME, least_severe
from models.csig.tables import CAPACITY, RECORD, SWAP, Write
from models.csig.tag import Tag, width
from tb.csig import hop_stimulus as stimulus
from tb.csig.hop_beats import Spoken, Word
from tb.csig.hop_bench import HopBench
from tb.csig.hop_coverage import HopCoverage
from tb.pauses import PAUSES

Given = dict[str, Any]
"""config, latency, seed, packets (of a scene), resets."""

LENGTHS = [300, 210, 1000, 100, 500, 133, 800, 2000]
"""Windows of the clocks, ns."""

MOST = 4
"""Ports that are set up, at most."""

TABLES = range(SWAP + 1)


async def started(
    dut: Any, given: Given, coverage: HopCoverage, **more: Any
) -> tuple[HopBench, list[Port]]:
    """A bench fresh from reset, and a few ports that are set up; the last of a bank is not."""
    c = given["config"]
    lengths = LENGTHS[: c.clocks]
    bench = HopBench(dut, c, given["latency"], lengths, coverage, given["seed"])
    await bench.reset()
    numbers = sorted(bench.rng.sample(range(max(1, c.ports - 1)), min(MOST, max(1, c.ports - 1))))
    ports = [
        stimulus.drawn(c, bench.rng, n, lengths[place % c.clocks], **more)
        for place, n in enumerate(numbers)
    ]
    await set_up(bench, ports)
    return bench, ports


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


def everywhere(bench: HopBench, ports: list[Port]) -> list[int]:
    """Numbers of ports: those that are set up, and one that is not."""
    return [*(port.id for port in ports), *[bench.config.ports - 1][: bench.config.ports > 1]]


async def traffic(dut: Any, given: Given, coverage: HopCoverage) -> None:
    """Every kind of packet, one each cycle, through ports of every action."""
    bench, ports = await started(dut, given, coverage, action="update")
    c, rng, count = bench.config, bench.rng, given["packets"]
    numbers = everywhere(bench, ports)
    bench.feed(stimulus.anything(c, rng, numbers, count // 8))
    await bench.run()  # no agent has written yet
    for action in ("update", "pass", "strip", "update"):
        port = ports[0] = replace(ports[0], action=action, source=stimulus.origins(c, rng))
        bench.write(port, kinds=[RECORD])
        agents(bench, ports, count // 4, 24)
        bench.feed(stimulus.anything(c, rng, numbers, count // 4))
        bench.feed(stimulus.anything(c, rng, [port.id], 2 * bench.latency))
        await bench.run()
    await by_signal(bench, ports[0])
    await spaced(bench, ports[0])
    await metered(bench, ports[-1])
    missing = {f: dict(list(getattr(ports[0], f).items())[:2]) for f in c.formats}
    kind = "agent" if c.sources == "agent" else "native"
    bench.write(replace(ports[0], source=kind, **missing), kinds=[RECORD])
    bench.feed(stimulus.aimed(c, rng, ports[0].id))
    await bench.run()
    await path(bench, ports[0])


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
    if c.agent:  # the last ns of a value, and the one behind it
        bench.write(replace(port, source="agent"), kinds=[RECORD])
        await bench.run()
        for _ in range(3):
            for format, signal in product(c.formats, (0, 2)):
                entry = Entry(15, 1 << 19, 0, 0)
                bench.queue("s_agent", [(0, Spoken(port.id, signal, entry, 9))])
                await bench.run()
                s = 0 if signal else 2 ** width(format, c.layout, "s") - 1
                given = stimulus.tag(c, rng, format=format, t=signal, d=0, s=s)
                bench.feed(stimulus.offer(c, rng, port.id, given, n) for n in (9, 1))
                await bench.run()
    bench.tick = 1


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
            codes = [here.code(format, signal, raw[name]) for format in ("compact", "wide")]
            said = Spoken(port.id, signal.number, Entry(*codes, 0, 0), 10**6)
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


async def pauses(dut: Any, given: Given, coverage: HopCoverage) -> None:
    """Every way to pause at the input with every way to pause at the output; time runs on."""
    bench, ports = await started(dut, given, coverage)
    pairs = list(product(PAUSES, repeat=2))
    for number, (idle, stall) in enumerate(pairs):
        bench.tick = (1, 7, 40)[number % 3]
        bench.pause(idle, stall)
        count = given["packets"] // len(pairs)
        agents(bench, ports, count, 8)
        bench.feed(stimulus.anything(bench.config, bench.rng, everywhere(bench, ports), count))
        await bench.run()


async def tables(dut: Any, given: Given, coverage: HopCoverage) -> None:
    """Tables written and swapped, records changed and agents' values written, all under traffic
    for the same ports."""
    bench, ports = await started(dut, given, coverage, action="update")
    c, rng = bench.config, bench.rng
    ways = (("none", "none"), ("sometimes", "none"), ("none", "bursts"), ("bursts", "long"))
    for idle, stall in (*ways, ("none", "long")):
        bench.pause(idle, stall)
        place = rng.randrange(len(ports))
        port = before = ports[place]
        if c.native:
            port = stimulus.redrawn(c, rng, port)
            bench.write(port, kinds=TABLES)
            if stall != "none":  # and back again, and forth
                back = [Word(Write(SWAP, port.id, 0, 0, 0), p) for p in (before, port)]
                bench.queue("s_table", [(0, word) for word in back])
        for _ in range(3):
            port = replace(
                port,
                locator=rng.getrandbits(port.locator_bits(c)),
                source=stimulus.origins(c, rng),
                action=rng.choice(("pass", "strip", "update", "update")),
            )
            bench.write(port, kinds=[RECORD])
        port = ports[place] = replace(port, action="update")
        bench.write(port, kinds=[RECORD])
        count = 180 * len(c.formats) * c.native + 60
        agents(bench, ports, count, count // 4)
        numbers = [port.id, port.id, rng.choice(ports).id]
        bench.feed(stimulus.anything(c, rng, numbers, count))
        await bench.run()


async def counts(dut: Any, given: Given, coverage: HopCoverage) -> None:
    """Counters read and cleared under traffic for the same ports."""
    bench, ports = await started(dut, given, coverage, action="update")
    c, rng = bench.config, bench.rng
    numbers = everywhere(bench, ports)
    bench.queue("s_count", stimulus.readings(c, rng, numbers, 1, 2))
    await bench.run()
    ways = product(("none", "bursts"), ("none", "sometimes", "long"), ("none", "sometimes", "long"))
    for number, (idle, stall, fetch) in enumerate(ways):
        bench.pause(idle, stall, m_count=fetch)
        action = ("update", "update", "strip")[number % 3]
        bench.write(replace(ports[0], action=action), kinds=[RECORD])
        count = max(60, given["packets"] // 18)
        agents(bench, ports, count, 4)
        bench.queue("s_count", stimulus.readings(c, rng, numbers, count, count // 6))
        bench.feed(stimulus.anything(c, rng, numbers, count))
        await bench.run()


async def clock(dut: Any, given: Given, coverage: HopCoverage) -> None:
    """Time that runs as fast as edges can be counted and faster, leaps, and wraps around."""
    bench, ports = await started(dut, given, coverage, action="update")
    c, rng = bench.config, bench.rng
    numbers = everywhere(bench, ports)
    some = lambda count: stimulus.anything(c, rng, numbers, count)  # noqa: E731
    for stall in ("none", "bursts"):
        bench.pause("none", stall)
        for tick in (100, 150, 290):
            bench.tick = tick
            bench.feed(some(40))
            await bench.run(40)
            bench.tick = 1
            await bench.run()
        for windows in (1, 3, 20):
            bench.feed(some(20))
            given_tag = stimulus.tag(c, rng, t=0, d=0)
            advance = windows * bench.lengths[0]
            bench.feed([stimulus.offer(c, rng, ports[0].id, given_tag, advance, aim=0)])
            bench.feed(some(20))
            await bench.run()
    longest = max(bench.lengths)
    near = [1 << min(32, c.time_bits), 1 << c.time_bits]
    for stall, wrap in zip(("none", "sometimes"), near, strict=True):
        bench.pause("none", stall)
        for advance in (
            rng.randrange(longest),
            (1 << 20) * longest + rng.randrange(longest),
            (-bench.now - rng.randint(1, 4) * longest) % wrap,
        ):
            bench.tick = 1
            bench.feed(some(3 * bench.latency))
            await bench.run(2 * bench.latency)
            bench.leap(advance)
            await bench.run()
            bench.tick = 25
            bench.feed(some(120))
            await bench.run()
        # To the end of time from wherever the last leap has led.
        bench.leap((-bench.now - 300) % wrap)
        bench.feed(some(60))
        await bench.run()


async def resets(dut: Any, given: Given, coverage: HopCoverage) -> None:
    """Resets at any time; set up again under traffic, from nothing."""
    bench, ports = await started(dut, given, coverage, action="update")
    c, rng = bench.config, bench.rng
    numbers = everywhere(bench, ports)
    moments = (
        lambda: rng.random() < 0.02,
        lambda: bench.answer_waits,
        lambda: bench.asked is not None,
        lambda: bench.writing,
    )
    for number in range(given["resets"]):
        bench.pause(*(("bursts", "sometimes"), ("none", "long"))[number % 2])
        count = 6 * bench.latency
        agents(bench, ports, count, 8)
        bench.queue("s_count", stimulus.readings(c, rng, numbers, count, 4))
        bench.feed(stimulus.anything(c, rng, numbers, count))
        await bench.run(max(0, bench.timing.swept_at - bench.cycle) + rng.randint(1, 40))
        if number % len(moments) == 3:
            bench.write(ports[0], kinds=TABLES)
            await bench.run(2)
        for _ in range(2 * count):
            if moments[number % len(moments)]():
                break
            await bench.run(1)
        await bench.reset(rng.randint(1, 3))
        if number == 0:
            await bench.run(1)
            await bench.reset(1)
        bench.clear()
        await from_nothing(bench, ports)


async def from_nothing(bench: HopBench, ports: list[Port]) -> None:
    """Set up ports while packets come for them; their tables, and whatever else memories held
    before the reset, are there still."""
    c, rng = bench.config, bench.rng
    bench.pause("none", rng.choice(("none", "bursts")))
    bench.leap()
    await bench.run()
    for place, port in enumerate(ports):
        clock = bench.lengths.index(port.window_ns)
        bench.write(port, clock, [CAPACITY])
        bench.leap()
        if c.native:
            port = ports[place] = stimulus.redrawn(c, rng, port)
            bench.write(port, clock, TABLES)
            await bench.run()
        bench.write(replace(port, action="update"), clock, [RECORD], after=5)
        if c.agent:
            said = [stimulus.spoken(c, rng, port.id, signal) for signal in range(4)]
            bench.queue("s_agent", [(8 + 2 * place, beat) for place, beat in enumerate(said)])
        bench.feed(stimulus.anything(c, rng, [port.id], 3 * bench.latency))
        await bench.run()


SCENES: dict[str, Callable[[Any, Given, HopCoverage], Awaitable[None]]] = {
    scene.__name__: scene for scene in (traffic, pauses, tables, counts, clock, resets)
}
