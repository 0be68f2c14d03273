"""What is played to a hop: a scene for each cocotb test, judged cycle by cycle by the bench."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from itertools import product
from typing import Any

from models.csig.port import Port
from models.csig.tables import CAPACITY, RECORD, SWAP, Write
from tb.csig import hop_stimulus as stimulus
from tb.csig.hop_beats import Word
from tb.csig.hop_bench import HopBench
from tb.csig.hop_coverage import HopCoverage
from tb.csig.hop_passages import agents, by_signal, metered, path, set_up, spaced
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
        port = ports[place]
        count = 180 * len(c.formats) * c.native + 60
        rounds = c.native * (1 if "compact" in c.formats else 8)  # which takes longer to write
        for number in range(rounds):
            before, port = port, stimulus.redrawn(c, rng, port)
            bench.write(port, kinds=TABLES, after=number * count // rounds)
            if stall != "none":  # and back again, and forth
                back = [Word(Write(SWAP, port.id, 0, 0, 0), p) for p in (before, port)]
                bench.queue("s_table", [(number * count // rounds, word) for word in back])
            bench.queue("s_table", [(0, word) for word in stimulus.spoilers(c, rng, port)])
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
        agents(bench, ports, count, count // 4)
        numbers = [port.id, port.id, rng.choice(ports).id]
        bench.feed(stimulus.anything(c, rng, numbers, count))
        await bench.run()
    if c.native:
        await swaps(bench, ports[0])


async def swaps(bench: HopBench, port: Port) -> None:
    """Tables swapped while answers wait, and swapped back at once."""
    c, rng = bench.config, bench.rng
    other = stimulus.redrawn(c, rng, port)
    bench.write(other, kinds=TABLES)
    await bench.run()
    bench.pause("none", "long")
    for _ in range(4):
        bench.feed(stimulus.anything(c, rng, [port.id], 6 * bench.latency))
        while bench.offering and not bench.answer_waits:
            await bench.run(1)
        # The tables that the port had before are in the other bank yet.
        swapped = [Word(Write(SWAP, port.id, 0, 0, 0), p) for p in (port, other)]
        bench.queue("s_table", [(0, word) for word in swapped])
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
            bench.feed(stimulus.anything(c, rng, numbers, 40, jumps=(0,)))
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
