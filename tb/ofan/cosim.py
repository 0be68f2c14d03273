"""`netweave cosim ofan`: a trace through the generated Verilog under cocotb, judged every cycle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models.ofan.config import OfanConfig
from models.ofan.trace import read_trace
from rtl.ofan.switch import Switch
from tb.cosim import latency_of, rate, told_by
from tb.ofan.switch_coverage import SwitchCoverage


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


def cosim(config: OfanConfig, trace: Path, *, stall: float, idle: float, seed: int) -> Cosimulation:
    """Run the batches of the file `trace` through the switch; compare each beat with the model.

    `stall` and `idle` are the shares of cycles in which m_axis is not ready and s_axis offers
    nothing new. Raises `InputError` for a bad trace and `CocotbError` at the first difference.
    """
    given = {"stall": rate("stall", stall), "idle": rate("idle", idle), "seed": seed}
    read_trace(trace, config)  # says what is wrong with the file before anything is built
    latency = latency_of(Switch, config)
    given |= {"config": config, "latency": latency, "trace": str(trace.resolve())}
    told = told_by(Switch, "switch", "tb.ofan.cocotb_cosim", given)
    coverage = SwitchCoverage("cosim", config, latency)
    coverage.counts |= told.pop("coverage")
    return Cosimulation(**told, coverage=coverage.summary(("traffic", "pauses")))
