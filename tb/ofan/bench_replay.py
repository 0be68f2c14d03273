"""How many batches a second the RTL and the vectorized model serve, side by side in one run.

    python -m tb.ofan.bench_replay                              edge-k64, the same without failure
                                                                logic, and edge-k8, with a record
    python -m tb.ofan.bench_replay edge-k64 --batches 10000000  the long comparison

Both serve the same random full batches in turns, 100,000 at a time; every answer is compared, and
one difference ends the run with exit code 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.table import Table

from models.ofan.config import OfanConfig, preset
from models.ofan.vectorized import VectorizedOfan
from rtl.verilog import BUILD
from tb.ofan.replay import CHUNK, Replay
from tb.rates import Stopwatch, bench, versions

BATCHES = {"edge-k64": 300_000, "edge-k64:masks=0": 300_000, "edge-k8": 3_000_000}
"""Batches served when none are asked for: some seconds of each engine."""

RECORD = BUILD / "bench" / "ofan.json"


@dataclass
class Result:
    """What one preset came to."""

    batches: int
    differences: int
    cycles: int
    rtl: Stopwatch
    model: Stopwatch


def compare(
    config: OfanConfig, batches: int, seed: int, progress: Callable[[int], object]
) -> Result:
    """Serve `batches` random full batches with both engines and count the lanes that differ."""
    rng = np.random.default_rng(seed)
    rtl, model = Stopwatch(), Stopwatch()
    twin = VectorizedOfan(config)
    differences = done = 0
    keep = np.ones((CHUNK, config.lanes), np.uint8)
    with Replay(config) as switch:
        while done < batches:
            shape = (min(CHUNK, batches - done), config.lanes)
            destination = rng.integers(0, config.destinations, shape, np.uint16)
            size_class = rng.integers(0, config.size_classes, shape, np.uint8)
            kept = keep[: shape[0]]
            got = rtl.run(lambda d=destination, t=size_class, k=kept: switch.run(d, t, k))
            expected = model.run(
                lambda d=destination, t=size_class: twin.serve_batches(
                    d + config.destinations * t.astype(np.uint32)
                )
            )
            differences += int((got != expected).sum())
            done += shape[0]
            progress(done)
        return Result(batches, differences, switch.cycles, rtl, model)


def records(name: str, result: Result) -> list[dict[str, Any]]:
    """Return the measurements as records, in the form of the cost records of `synth`."""
    rates = {("rtl", "batches"): result.rtl.wall, ("model", "batches"): result.model.wall}
    rates |= {
        ("rtl", "batches_processor"): result.rtl.processor,
        ("model", "batches_processor"): result.model.processor,
    }
    rows = [(who, what, result.batches / time, "batch/s") for (who, what), time in rates.items()]
    rows += [
        ("rtl", "cycles", result.cycles, "cycle"),
        ("rtl", "compared", result.batches, "batch"),
        ("rtl", "differences", result.differences, "lane"),
    ]
    common = {"block": "ofan", "preset": name, "versions": versions()}
    return [
        {**common, "engine": who, "metric": what, "value": value, "unit": unit}
        for who, what, value, unit in rows
    ]


def table(results: dict[str, Result]) -> Table:
    """Return the measurements as a table; rates are those of the wall clock."""
    shown = Table("preset", title="batches a second, one core")
    for column in ("batches", "differences", "RTL", "model", "model / RTL", "RTL, processor time"):
        shown.add_column(column, justify="right")
    for name, r in results.items():
        rtl, model = r.batches / r.rtl.wall, r.batches / r.model.wall
        shown.add_row(
            name,
            f"{r.batches:,}",
            f"{r.differences:,}",
            f"{rtl:,.0f}",
            f"{model:,.0f}",
            f"{model / rtl:.1f}",
            f"{r.batches / r.rtl.processor:,.0f}",
        )
    return shown


def _config(name: str) -> OfanConfig:
    """Return a preset, or PRESET:masks=0 for one without failure logic."""
    base, _, rest = name.partition(":")
    if rest not in ("", "masks=0"):
        raise ValueError(f"preset must be NAME or NAME:masks=0, not {name!r}")
    return preset(base, masks=0) if rest else preset(base)


def main() -> int:
    return bench(
        __doc__,
        "batches",
        BATCHES,
        CHUNK,
        RECORD,
        configure=lambda name, _: _config(name),
        compare=compare,
        records=records,
        table=table,
        passed=lambda result: not result.differences,
    )


if __name__ == "__main__":
    sys.exit(main())
