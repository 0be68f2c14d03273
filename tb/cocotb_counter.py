"""What `test_simulator` runs: cocotb tests of its counter, one of which can be made to fail."""

from __future__ import annotations

from typing import Any

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge

from tb.simulator import bench_parameters


async def reset(dut: Any) -> None:
    Clock(dut.clk, 10, unit="ns").start()
    dut.rst.value, dut.step.value = 1, 0
    await FallingEdge(dut.clk)
    await FallingEdge(dut.clk)
    dut.rst.value = 0


@cocotb.test()
async def counts(dut: Any) -> None:
    given = bench_parameters()
    await reset(dut)
    total = 0
    for step in given["steps"]:
        dut.step.value = step
        await FallingEdge(dut.clk)
        total = (total + step) % 2 ** given["width"]
        assert dut.total.value.to_unsigned() == total, f"total is not {total}"


@cocotb.test()
async def resets(dut: Any) -> None:
    await reset(dut)
    dut.step.value = 3
    await FallingEdge(dut.clk)
    assert dut.total.value.to_unsigned() == 3
    dut.rst.value = 1
    await FallingEdge(dut.clk)
    assert dut.total.value.to_unsigned() == 0
