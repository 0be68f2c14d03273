"""`netweave cosim symphony`: a trace through the generated Verilog, judged every cycle."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from models.symphony import slots as control
from models.symphony.config import SymphonyConfig
from models.symphony.trace import read_trace
from rtl.symphony.marker import Marker
from tb.cosim import latency_of, rate, told_by
from tb.symphony.marker_coverage import MarkerCoverage


@dataclass(frozen=True)
class Cosimulation:
    """What a run without a difference has to tell."""

    packets: int
    orders: int
    marks: int
    """Packets that left as CE for one of the two coins."""
    cycles: int
    """From the end of the memories' initialisation to the last answer."""
    seconds: float
    """Of simulation, without building the model."""
    coverage: str


def cosim(
    config: SymphonyConfig,
    trace: Path,
    slots: Path | None = None,
    *,
    stall: float,
    idle: float,
    seed: int,
) -> Cosimulation:
    """Run the packets of the file `trace` through the marker, with the orders of `slots` among
    them; compare each beat with the model.

    `stall` and `idle` are the shares of cycles in which m_axis is not ready and s_axis offers
    nothing new. Raises `InputError` for a bad file and `CocotbError` at the first difference.
    """
    given = {"stall": rate("stall", stall), "idle": rate("idle", idle), "seed": seed}
    # Says what is wrong with the files before anything is built.
    control.orders(config, read_trace(trace, config), slots)
    latency = latency_of(Marker, config)
    given |= {
        "config": config,
        "latency": latency,
        "trace": str(trace.resolve()),
        "slots": slots and str(slots.resolve()),
    }
    told = told_by(Marker, "marker", "tb.symphony.cocotb_cosim", given)
    coverage = MarkerCoverage("cosim", config, latency)
    coverage.counts |= told.pop("coverage")
    return Cosimulation(**told, coverage=coverage.summary(("traffic", "pauses", "orders", "clock")))
