"""The cocotb tests of a marker; `test_marker_cocotb` says for which configurations they run.

Each plays a scene of `marker_scenes` and demands that everything was seen that belongs to it.
"""

from __future__ import annotations

from typing import Any

import cocotb

from tb.simulator import bench_parameters
from tb.symphony.marker_coverage import MarkerCoverage
from tb.symphony.marker_scenes import SCENES

GIVEN = bench_parameters()
COVERAGE = MarkerCoverage(GIVEN["run"], GIVEN["config"], GIVEN["latency"])


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
async def orders(dut: Any) -> None:
    await play(dut, "orders")


@cocotb.test()
async def clock(dut: Any) -> None:
    await play(dut, "clock")


@cocotb.test()
async def resets(dut: Any) -> None:
    await play(dut, "resets")
