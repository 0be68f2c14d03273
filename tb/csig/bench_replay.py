"""How many packets a second the RTL and the bulk model serve, side by side in one run.

    python -m tb.csig.bench_replay                      one port, 64 ports, with a record
    python -m tb.csig.bench_replay bank-4 --packets 1000000

Both serve the same random packets with random agents' writes among them, in turns, through ports
set at random; every answer is compared, and one difference ends the run with exit code 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Table

from models.csig.answers import Answers
from models.csig.config import CsigConfig, preset
from models.csig.vectorized import VectorizedHop, prepare
from rtl.verilog import BUILD
from tb.csig.replay import CHUNK, Replay
from tb.csig.traffic import random_setup, random_trace, random_writes
from tb.rates import Stopwatch, bench, versions

PACKETS = {"port": 10_000_000, "bank-64": 2_000_000}
"""Packets served when none are asked for."""

RECORD = BUILD / "bench" / "csig.json"


@dataclass
class Result:
    """What one preset came to."""

    packets: int = 0
    replaced: int = 0
    stripped: int = 0
    unknown: int = 0
    stale: int = 0
    differences: int = 0
    """Packets with a difference in any column, added up over columns."""
    cycles: int = 0
    rtl: Stopwatch = field(default_factory=Stopwatch)
    model: Stopwatch = field(default_factory=Stopwatch)

    def take(self, got: Answers, expected: Answers) -> None:
        """Compare the answers to some more packets."""
        self.packets += len(got)
        self.differences += sum(got.differences(expected).values())
        for name in ("replaced", "stripped", "unknown", "stale"):
            setattr(self, name, getattr(self, name) + int(getattr(got, name).sum()))


def compare(
    config: CsigConfig, packets: int, seed: int, progress: Callable[[int], object]
) -> Result:
    """Serve `packets` random packets with both engines and compare them."""
    rng = np.random.default_rng(seed)
    result = Result()
    setup = random_setup(config, rng, "update" if config.ports == 1 else None)
    twin = VectorizedHop(config, setup)
    prepare(config, setup)
    time_ns = 0
    with Replay(config, setup) as hop:
        while result.packets < packets:
            count = min(CHUNK, packets - result.packets)
            trace = random_trace(config, setup, count, rng, time_ns)
            time_ns = int(trace.time_ns[-1])
            written = random_writes(config, setup, trace, rng)
            got = result.rtl.run(lambda t=trace, w=written: hop.run(t, w))
            expected = result.model.run(lambda t=trace, w=written: twin.serve(t, w))
            result.take(got, expected)
            progress(result.packets)
        result.cycles = hop.cycles
    return result


def records(name: str, r: Result) -> list[dict[str, Any]]:
    """Return the measurements as records, in the form of the cost records of `synth`."""
    rows = [
        (engine, f"packets{kind}", r.packets / seconds, "packet/s")
        for engine, watch in (("rtl", r.rtl), ("model", r.model))
        for kind, seconds in (("", watch.wall), ("_processor", watch.processor))
    ]
    rows += [
        ("rtl", "cycles", r.cycles, "cycle"),
        ("rtl", "compared", r.packets, "packet"),
        *(
            ("rtl", n, getattr(r, n), "packet")
            for n in ("replaced", "stripped", "unknown", "stale")
        ),
        ("rtl", "differences", r.differences, "packet"),
    ]
    common = {"block": "csig", "preset": name, "versions": versions()}
    return [
        {**common, "engine": engine, "metric": metric, "value": value, "unit": unit}
        for engine, metric, value, unit in rows
    ]


def table(results: dict[str, Result]) -> Table:
    """Return the measurements as a table; rates are those of the wall clock."""
    shown = Table("preset", title="packets a second, one core")
    titles = ("packets", "differences")
    for column in (*titles, "RTL", "model", "RTL, processor time"):
        shown.add_column(column, justify="right")
    for name, r in results.items():
        shown.add_row(
            name,
            *(f"{getattr(r, title):,}" for title in titles),
            f"{r.packets / r.rtl.wall:,.0f}",
            f"{r.packets / r.model.wall:,.0f}",
            f"{r.packets / r.rtl.processor:,.0f}",
        )
    return shown


def main() -> int:
    return bench(
        __doc__,
        "packets",
        PACKETS,
        CHUNK,
        RECORD,
        configure=lambda name, _: preset(name),
        compare=compare,
        records=records,
        table=table,
        passed=lambda result: not result.differences,
    )


if __name__ == "__main__":
    sys.exit(main())
