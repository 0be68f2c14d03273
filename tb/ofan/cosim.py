"""`netweave cosim ofan`: a trace through the generated Verilog under cocotb, judged every cycle."""

from __future__ import annotations

import gc
import json
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.ofan.config import OfanConfig
from models.ofan.trace import read_trace
from rtl.ofan.switch import Switch
from rtl.verilog import block_verilog
from tb.ofan.switch_coverage import SwitchCoverage
from tb.simulator import CocotbError, run_cocotb


@dataclass(frozen=True)
class Cosimulation:
    """What a run without a difference has to tell."""

    batches: int
    packets: int
    cycles: int
    """From the end of the memories' initialisation to the last answer."""
    seconds: float
    """Of simulation, without building the model."""
    coverage: str


def rate(name: str, value: float) -> float:
    """Return the share of cycles `value` if it is from 0 to 0.95; raises `ValueError` if not."""
    if not 0 <= value <= 0.95:
        raise ValueError(f"{name} must be from 0 to 0.95, not {value}")
    return value


def latency_of(config: OfanConfig) -> int:
    """Return the latency of the switch, without Amaranth's warning of a component left unused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        latency = Switch(config).latency
        gc.collect()  # the warning comes when the component goes
    return latency


def cosim(config: OfanConfig, trace: Path, *, stall: float, idle: float, seed: int) -> Cosimulation:
    """Run the batches of the file `trace` through the switch; compare each beat with the model.

    `stall` and `idle` are the shares of cycles in which m_axis is not ready and s_axis offers
    nothing new. Raises `InputError` for a bad trace and `CocotbError` at the first difference.
    """
    rate("stall", stall)
    rate("idle", idle)
    read_trace(trace, config)  # says what is wrong with the file before anything is built
    latency = latency_of(config)
    verilog = block_verilog(Switch, config, "switch")
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        given: dict[str, Any] = {
            "config": config,
            "latency": latency,
            "trace": str(trace.resolve()),
            "result": str(result),
            "stall": stall,
            "idle": idle,
            "seed": seed,
        }
        run_cocotb("switch", verilog, "tb.ofan.cocotb_cosim", given)
        told = json.loads(result.read_text())
    coverage = SwitchCoverage("cosim", config, latency)
    coverage.counts |= told.pop("coverage")
    return Cosimulation(**told, coverage=coverage.summary(("traffic", "pauses")))


def first_line(error: CocotbError) -> str:
    """Return the line of a failed run that names the first difference."""
    return str(error).splitlines()[0].partition("AssertionError: ")[2] or str(error).splitlines()[0]
