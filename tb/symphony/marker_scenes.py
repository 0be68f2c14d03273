"""What is played to a marker: a scene for each cocotb test, judged cycle by cycle by the bench."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any

from models.symphony.beat import GIVE
from tb.pauses import PAUSES
from tb.symphony import marker_stimulus as stimulus
from tb.symphony.marker_bench import MarkerBench
from tb.symphony.marker_coverage import MarkerCoverage
from tb.symphony.marker_reference import Order

Given = dict[str, Any]
"""config, latency, seed, packets (of a scene), resets."""


async def started(dut: Any, given: Given, coverage: MarkerCoverage) -> tuple[MarkerBench, list]:
    """A bench fresh from reset, and a few jobs, none of which has a slot yet."""
    config = given["config"]
    bench = MarkerBench(dut, config, given["latency"], coverage, given["seed"])
    await bench.reset()
    await bench.swept()
    others = bench.rng.sample(range(config.jobs), min(2, config.jobs))
    return bench, sorted({0, config.jobs - 1, *others})


async def slots(bench: MarkerBench, jobs: list[int]) -> None:
    """Give them all a slot."""
    bench.order((0, Order(job, GIVE)) for job in jobs)
    await bench.run()


async def traffic(dut: Any, given: Given, coverage: MarkerCoverage) -> None:
    """Every kind of packet, one each cycle; before slots are given, and after."""
    bench, jobs = await started(dut, given, coverage)
    c, rng = bench.config, bench.rng
    bench.feed(stimulus.ring(c, rng, jobs, 4 * bench.latency))
    await bench.run()
    await slots(bench, jobs)
    bench.feed(stimulus.echoes(c, rng, jobs, bench.latency))
    bench.feed(stimulus.everything(c, rng, jobs, given["packets"]))
    bench.feed(stimulus.climb(c, rng, jobs[-1]))
    bench.feed(stimulus.ring(c, rng, jobs, given["packets"] // 4))
    await bench.run()
    bench.pause(stimulus.gaps(bench.latency), "none")
    bench.feed(stimulus.behind_gaps(c, rng, jobs[0], bench.latency))
    await bench.run()


async def pauses(dut: Any, given: Given, coverage: MarkerCoverage) -> None:
    """Every way to pause at the input with every way to pause at the output; time runs freely."""
    bench, jobs = await started(dut, given, coverage)
    await slots(bench, jobs)
    bench.tick = max(1, bench.config.window_ns // 200)
    pairs = list(product(PAUSES, repeat=2))
    for idle, stall in pairs:
        bench.pause(idle, stall)
        count = given["packets"] // len(pairs)
        bench.feed(stimulus.ring(bench.config, bench.rng, jobs, count))
        await bench.run()


async def orders(dut: Any, given: Given, coverage: MarkerCoverage) -> None:
    """Slots given and taken, and counters read, under traffic for the same jobs."""
    bench, jobs = await started(dut, given, coverage)
    c, rng = bench.config, bench.rng
    await slots(bench, jobs[:-1])
    ways = product(("none", "bursts"), ("none", "sometimes", "long"), ("none", "sometimes", "long"))
    for idle, stall, fetch in ways:
        bench.pause(idle, stall, fetch)
        count = max(40, given["packets"] // 18)
        bench.order(stimulus.orders(c, rng, jobs, count, count // 4))
        make = rng.choice((stimulus.ring, stimulus.uniform))
        bench.feed(make(c, rng, jobs, count - 20))
        bench.feed(stimulus.coins(c, rng, jobs[0], 20))
        await bench.run()


async def clock(dut: Any, given: Given, coverage: MarkerCoverage) -> None:
    """Time that leaps, runs back, stands still, moves again, and comes to its end."""
    bench, jobs = await started(dut, given, coverage)
    c, rng = bench.config, bench.rng
    await slots(bench, jobs)
    for idle, stall in (
        ("none", "none"),
        ("sometimes", "none"),
        ("none", "bursts"),
        ("none", "long"),
    ):
        bench.pause(idle, stall)
        # A stamp that stands still while the packet waits, and a clock that runs on.
        bench.tick = 0 if stall != "bursts" else max(1, c.window_ns // 200)
        bench.order(stimulus.orders(c, rng, jobs, 40, 20))
        bench.feed(stimulus.leaps(c, rng, jobs, 12))
        bench.feed(stimulus.ring(c, rng, jobs, 3 * bench.latency))
        await bench.run()
    bench.pause("none", "none")
    bench.tick = 0
    await slots(bench, jobs)
    bench.feed(stimulus.standing(c, rng, jobs[0]))
    bench.feed(stimulus.ring(c, rng, jobs, 3 * bench.latency))
    bench.feed([stimulus.offer(c, rng, jobs[0], 0, 1, advance=2**c.time_bits)])
    bench.feed(stimulus.ring(c, rng, jobs, 3 * bench.latency))
    await bench.run()


async def resets(dut: Any, given: Given, coverage: MarkerCoverage) -> None:
    """Resets at any time: in mid-traffic, during a stall, an order, a leap and the sweep."""
    bench, jobs = await started(dut, given, coverage)
    c, rng = bench.config, bench.rng
    moments = (
        lambda: rng.random() < 0.02,
        lambda: bench.answer_waits,
        lambda: bench.receipt_waits,
        lambda: bench.asked is not None,
        lambda: bench.timing.leaping,
    )
    for number in range(given["resets"]):
        bench.pause(*(("bursts", "sometimes", "long"), ("none", "long", "long"))[number % 2])
        count = 4 * bench.latency
        bench.order((0, Order(job, GIVE)) for job in jobs)
        bench.order(stimulus.orders(c, rng, jobs, count, count // 3))
        if number % len(moments) == 4:
            bench.pause("none", "none")
            bench.feed(stimulus.leaps(c, rng, jobs, 40))
        bench.feed(stimulus.ring(c, rng, jobs, count))
        # The sweep is over, the blocks filled to any degree.
        sweep = max(0, bench.timing.swept_at - bench.cycle)
        await bench.run(sweep + rng.randint(1, 2 * bench.latency))
        for _ in range(2 * count):
            if moments[number % len(moments)]():
                break
            await bench.run(1)
        await bench.reset(rng.randint(1, 3))
        if number == 0:
            await bench.run(1)
            await bench.reset(1)
        else:
            bench.clear()
            await bench.swept()
    bench.pause("none", "none")
    bench.feed(stimulus.ring(c, rng, jobs, 4 * bench.latency))
    await bench.run()


SCENES: dict[str, Callable[[Any, Given, MarkerCoverage], Awaitable[None]]] = {
    scene.__name__: scene for scene in (traffic, pauses, orders, clock, resets)
}
