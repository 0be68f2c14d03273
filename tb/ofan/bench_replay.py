"""How many batches a second the RTL and the vectorized model serve, side by side in one run.

    python -m tb.ofan.bench_replay                              edge-k64, the same without failure
                                                                logic, and edge-k8, with a record
    python -m tb.ofan.bench_replay edge-k64 --batches 10000000  the long comparison
    python -m tb.ofan.bench_replay edge-k64-queued --batches 10000000 --traffic all
                                                                the same with the study's traffic

Both serve the same random full batches, or those of a kind of traffic (`tb.ofan.replay_traffic`),
in turns, up to 100,000 at a time; every answer is compared, and one difference ends the run with
exit code 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Table

from models.ofan.config import OfanConfig, preset
from models.ofan.vectorized import VectorizedOfan
from rtl.verilog import BUILD
from tb.ofan.replay import CHUNK, IDLE, Replay
from tb.ofan.replay_traffic import KINDS, cycles
from tb.rates import Stopwatch, bench, versions

BATCHES = {"edge-k64": 300_000, "edge-k64:masks=0": 300_000, "edge-k8": 3_000_000}
"""Batches served when none are asked for: some seconds of each engine."""

RECORD = BUILD / "bench" / "ofan.json"


@dataclass(frozen=True)
class Run:
    """What is compared: a configuration, and the kind of traffic; None: random full batches."""

    config: OfanConfig
    traffic: str | None = None


@dataclass
class Result:
    """What one run came to."""

    batches: int = 0
    """Batches with a packet."""
    packets: int = 0
    differences: int = 0
    """Lanes whose answers are not the same."""
    cycles: int = 0
    """Of the RTL, resets included."""
    rtl: Stopwatch = field(default_factory=Stopwatch)
    model: Stopwatch = field(default_factory=Stopwatch)


def compare(run: Run, batches: int, seed: int, progress: Callable[[int], object]) -> Result:
    """Serve so many batches with both engines and count the lanes that differ."""
    c = run.config
    result = Result()
    twin = VectorizedOfan(c)
    with Replay(c) as switch:
        for keys in _offered(run, seed, batches):
            keep = keys >= 0
            size_class, destination = np.divmod(np.maximum(keys, 0), c.destinations)
            fields = (destination.astype(np.uint16), size_class.astype(np.uint8))
            got = result.rtl.run(lambda f=fields, k=keep: switch.run(*f, k))
            there = None if keep.all() else keep
            expected = result.model.run(lambda k=keys, t=there: twin.serve_batches(k, t))
            expected[~keep] = IDLE
            result.differences += int((got != expected).sum())
            result.batches += int(keep.any(axis=1).sum())
            result.packets += int(keep.sum())
            progress(result.batches)
        result.cycles = switch.cycles
    return result


def _offered(run: Run, seed: int, batches: int) -> Iterator[np.ndarray]:
    """Yield arrays [cycles, lanes] of keys, -1 where a lane is idle."""
    c = run.config
    if run.traffic is not None:
        yield from cycles(c, run.traffic, seed, batches)
        return
    rng = np.random.default_rng(seed)
    for start in range(0, batches, CHUNK):
        yield rng.integers(0, c.keys, (min(CHUNK, batches - start), c.lanes), np.int32)


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
        ("rtl", "packets", result.packets, "packet"),
        ("rtl", "differences", result.differences, "lane"),
    ]
    common = {"block": "ofan", "preset": name, "versions": versions()}
    return [
        {**common, "engine": who, "metric": what, "value": value, "unit": unit}
        for who, what, value, unit in rows
    ]


def table(results: dict[str, Result]) -> Table:
    """Return the measurements as a table; rates are those of the wall clock."""
    shown = Table(title="batches a second, one core")
    shown.add_column("preset", no_wrap=True)
    for column in (
        "batches",
        "packets",
        "differences",
        "RTL",
        "model",
        "model / RTL",
        "RTL, processor time",
    ):
        shown.add_column(column, justify="right")
    for name, r in results.items():
        rtl, model = r.batches / r.rtl.wall, r.batches / r.model.wall
        shown.add_row(
            name,
            f"{r.batches:,}",
            f"{r.packets:,}",
            f"{r.differences:,}",
            f"{rtl:,.0f}",
            f"{model:,.0f}",
            f"{model / rtl:.1f}",
            f"{r.batches / r.rtl.processor:,.0f}",
        )
    return shown


def run_of(name: str) -> Run:
    """Return the run NAME[:masks=0][:TRAFFIC]: a preset, perhaps without failure logic; raises
    `ValueError`."""
    base, *rest = name.split(":")
    kind = rest.pop() if rest and rest[-1] in KINDS else None
    if rest not in ([], ["masks=0"]):
        raise ValueError(f"preset must be NAME or NAME:masks=0, not {name!r}")
    return Run(preset(base, masks=0) if rest else preset(base), kind)


def main() -> int:
    return bench(
        __doc__,
        "batches",
        BATCHES,
        CHUNK,
        RECORD,
        configure=lambda name, _: run_of(name),
        compare=compare,
        records=records,
        table=table,
        passed=lambda result: not result.differences,
        kinds=tuple(KINDS),
    )


if __name__ == "__main__":
    sys.exit(main())
