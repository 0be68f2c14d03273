"""The cocotb tests of a switch; `test_switch_cocotb` says for which configurations they run."""

from __future__ import annotations

from itertools import product
from typing import Any

import cocotb

from tb.ofan import stimulus
from tb.ofan.switch_bench import SwitchBench
from tb.ofan.switch_coverage import SwitchCoverage
from tb.ofan.switch_reference import PrefixWrite
from tb.pauses import PAUSES
from tb.simulator import bench_parameters

GIVEN = bench_parameters()
COVERAGE = SwitchCoverage(GIVEN["run"], GIVEN["config"], GIVEN["latency"])


async def started(dut: Any, seed: int) -> SwitchBench:
    """A bench fresh from reset, the lookup table filled."""
    if "fault" in GIVEN:
        dut.fault.value = GIVEN["fault"]
    bench = SwitchBench(dut, GIVEN["config"], GIVEN["latency"], COVERAGE, seed)
    await bench.reset()
    await fill_table(bench)
    return bench


async def fill_table(bench: SwitchBench) -> None:
    """Send each prefix but the own one where its number says."""
    if bench.prefixes:
        destinations = range(bench.config.destinations)
        own = bench.own_prefix
        bench.prefix((0, PrefixWrite(d, None if d == own else d)) for d in destinations)
        await bench.run()


def change_table(bench: SwitchBench, batches: int) -> None:
    """Send some prefixes elsewhere while so many batches go by."""
    if bench.prefixes:
        rng, destinations = bench.rng, bench.config.destinations
        places = sorted(rng.randrange(batches) for _ in range(10))
        new = [rng.choice((None, *range(destinations))) for _ in places]
        writes = [PrefixWrite(rng.randrange(destinations), destination) for destination in new]
        bench.prefix(zip(places, writes, strict=True))


def ended(test: str) -> None:
    """What `test` had to see must have been seen."""
    if not GIVEN.get("scratch"):
        COVERAGE.save()
    COVERAGE.check(test)


@cocotb.test()
async def traffic(dut: Any) -> None:
    """Every kind of batch, one each cycle."""
    bench = await started(dut, GIVEN["seed"])
    c = bench.config
    while bench.cycle < bench.swept_at:
        await bench.run(1)
    bench.feed(stimulus.echoes(c, bench.rng, bench.latency))
    change_table(bench, GIVEN["batches"])
    bench.feed(stimulus.groups(c, bench.rng, c.lanes))
    bench.feed(stimulus.mixed(c, bench.rng, GIVEN["batches"]))
    await bench.run()
    ended("traffic")


@cocotb.test()
async def pauses(dut: Any) -> None:
    """Every way to pause at the input with every way to pause at the output."""
    bench = await started(dut, GIVEN["seed"] + 1)
    pairs = list(product(PAUSES, repeat=2))
    for idle, stall in pairs:
        bench.pause(idle, stall)
        change_table(bench, GIVEN["batches"] // len(pairs))
        bench.feed(stimulus.mixed(bench.config, bench.rng, GIVEN["batches"] // len(pairs)))
        await bench.run()
    ended("pauses")


@cocotb.test(skip=not GIVEN["config"].masks)
async def failures(dut: Any) -> None:
    """Links that fail and come back under traffic for their destinations."""
    bench = await started(dut, GIVEN["seed"] + 2)
    c, rng = bench.config, bench.rng
    for idle, stall in product(("none", "bursts"), ("none", "sometimes", "long")):
        bench.pause(idle, stall)
        hot = rng.sample(range(c.destinations), min(3, c.destinations))
        count = max(40, GIVEN["batches"] // 6)
        bench.schedule(stimulus.failures(c, rng, count, hot))
        bench.feed(stimulus.hot(c, rng, count, hot))
        await bench.run()
    ended("failures")


@cocotb.test()
async def resets(dut: Any) -> None:
    """Resets at any time: in mid-traffic, during a stall, a write and the sweep."""
    bench = await started(dut, GIVEN["seed"] + 3)
    c, rng = bench.config, bench.rng
    hot = rng.sample(range(c.destinations), min(3, c.destinations))
    moments = (
        lambda: rng.random() < 0.02,
        lambda: bench.answer_waits,
        lambda: bool(bench.masks and bench.masks.beat),
    )
    for number in range(GIVEN["resets"]):
        count = 3 * bench.latency + 20
        await fill_table(bench)  # the reset before has emptied it
        bench.pause(*(("bursts", "sometimes"), ("none", "long"), ("none", "none"))[number % 3])
        bench.feed(stimulus.hot(c, rng, count, hot))
        if c.masks:
            bench.schedule(stimulus.failures(c, rng, count, hot))
        # The sweep is over, the pipeline filled to any degree.
        await bench.run(bench.swept_at - bench.cycle + rng.randint(1, bench.latency))
        moment = moments[number % 3]
        for _ in range(count):
            if moment():
                break
            await bench.run(1)
        await bench.reset(rng.randint(1, 3))
        if number == 0:  # again in the sweep, while a batch is offered
            bench.pause("none", "none")
            bench.feed(stimulus.hot(c, rng, 1, hot))
            await bench.run(1)
            await bench.reset(1)
    await bench.run()
    ended("resets")
