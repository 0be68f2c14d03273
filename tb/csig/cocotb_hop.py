"""The cocotb tests of a hop; `test_hop_cocotb` says for which configurations they run.

Each plays a scene of `hop_scenes` and demands that everything was seen that belongs to it.
"""

from __future__ import annotations

from typing import Any

import cocotb

from tb.csig.hop_coverage import HopCoverage
from tb.csig.hop_scenes import SCENES
from tb.simulator import bench_parameters

GIVEN = bench_parameters()
COVERAGE = HopCoverage(GIVEN["run"], GIVEN["config"], GIVEN["latency"])


async def play(dut: Any, name: str) -> None:
    if hasattr(dut, "fault"):
        dut.fault.value = 0
    await SCENES[name](dut, GIVEN, COVERAGE)
    if not GIVEN.get("scratch"):
        COVERAGE.save()
    COVERAGE.check(name)


@cocotb.test()
async def traffic(dut: Any) -> None:
    await play(dut, "traffic")


@cocotb.test()
async def pauses(dut: Any) -> None:
    await play(dut, "pauses")


@cocotb.test()
async def tables(dut: Any) -> None:
    await play(dut, "tables")


@cocotb.test()
async def counts(dut: Any) -> None:
    await play(dut, "counts")


@cocotb.test()
async def clock(dut: Any) -> None:
    await play(dut, "clock")


@cocotb.test()
async def resets(dut: Any) -> None:
    await play(dut, "resets")
