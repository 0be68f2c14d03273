"""A hop with faults (`faulty_hop.v`), one after the other: the bench must notice each."""

from __future__ import annotations

import re
from typing import Any

import cocotb

from tb.csig.hop_coverage import HopCoverage
from tb.csig.hop_scenes import SCENES
from tb.simulator import bench_parameters


@cocotb.test()
async def faults(dut: Any) -> None:
    """Each fault's scene must end with what it says; all that do not are told at once."""
    given = bench_parameters()
    coverage = HopCoverage("faults", given["config"], given["latency"])
    wrong = []
    for fault, (scene, expected) in given["faults"].items():
        dut.fault.value = fault
        said = "nothing"
        try:
            await SCENES[scene](dut, given, coverage)
        except AssertionError as error:
            said = str(error).splitlines()[0]
        if not re.search(expected, said):
            wrong.append(f"fault {fault}: said {said[:150]!r}, not {expected!r}")
    assert not wrong, "; ".join(wrong)
