"""A trace through the generated Verilog of a hop, judged every cycle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models.csig.config import CsigConfig
from models.csig.ports import read_ports
from models.csig.trace import read_trace, with_time
from rtl.csig.hop import Hop
from tb.cosim import latency_of, rate, told_by
from tb.csig.hop_coverage import HopCoverage


@dataclass(frozen=True)
class Cosimulation:
    """What a run without a difference has to tell."""

    packets: int
    replaced: int
    writes: int
    """Values that agents wrote."""
    cycles: int
    """From the end of the set-up to the last answer."""
    seconds: float
    """Of simulation, without building the model."""
    coverage: str


def cosim(
    trace: Path,
    ports: Path,
    *,
    layout: str = "draft",
    update_discarded: bool = False,
    stall: float,
    idle: float,
    seed: int,
) -> Cosimulation:
    """Run the packets of the file `trace` through a hop with the ports of the file `ports`, their
    agents at work; compare each beat with the model.

    `stall` and `idle` are the shares of cycles in which m_axis is not ready and s_axis offers
    nothing new. Raises `InputError` for a bad file and `CocotbError` at the first difference.
    """
    given = {"stall": rate("stall", stall), "idle": rate("idle", idle), "seed": seed}
    # Says what is wrong with the files before anything is built.
    setup = read_ports(ports, CsigConfig(layout=layout))
    config = setup.config(layout=layout, update_discarded=update_discarded)
    config = with_time(config, read_trace(trace, config, setup))
    latency = latency_of(Hop, config)
    given |= {
        "config": config,
        "latency": latency,
        "trace": str(trace.resolve()),
        "ports": str(ports.resolve()),
    }
    told = told_by(Hop, "hop", "tb.csig.cocotb_cosim", given)
    coverage = HopCoverage("cosim", config, latency)
    coverage.counts |= told.pop("coverage")
    return Cosimulation(**told, coverage=coverage.summary(("traffic", "pauses")))
