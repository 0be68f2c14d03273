"""How many packets a second the RTL and the bulk model serve, side by side in one run.

    python -m tb.symphony.bench_replay                      log-16k and exact-16k, with a record
    python -m tb.symphony.bench_replay log-64 --packets 1000000

Both serve the same random packets of all jobs, and orders among them, in turns; every answer is
compared, and the probability of each is held against equation 4 in real numbers. One difference, or
one probability out of its bound, ends the run with exit code 1.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rich.table import Table

from models.symphony.accuracy import errors, exact_errors
from models.symphony.answers import Answers
from models.symphony.config import SymphonyConfig, preset
from models.symphony.vectorized import VectorizedSymphony
from rtl.verilog import BUILD
from tb.rates import Stopwatch, bench, versions
from tb.symphony.replay import CHUNK, Replay
from tb.symphony.traffic import random_orders, random_trace

PRESETS = ["log-16k", "exact-16k"]
PACKETS = 10_000_000

RECORD = BUILD / "bench" / "symphony.json"


@dataclass
class Result:
    """What one preset came to."""

    bound: tuple[float, float]
    """Largest relative errors of the probability that its arithmetic may have, above and below."""
    packets: int = 0
    tossed: int = 0
    """Packets whose probability is above 0."""
    marked: int = 0
    """Packets that Symphony's coin marked."""
    differences: int = 0
    """Packets with a difference in any column, added up over columns."""
    above: float = 0.0
    below: float = 0.0
    cycles: int = 0
    rtl: Stopwatch = field(default_factory=Stopwatch)
    model: Stopwatch = field(default_factory=Stopwatch)

    def take(self, got: Answers, expected: Answers) -> None:
        """Compare the answers to some more packets."""
        assert expected.real is not None
        self.packets += len(got)
        self.marked += int(got.symphony.sum())
        self.differences += sum(got.differences(expected).values())
        tossed = expected.real > 0
        self.differences += int((got.probability[~tossed] > 0).sum())
        if tossed.any():
            error = got.probability[tossed] / expected.real[tossed] - 1
            self.tossed += len(error)
            self.above = max(self.above, float(error.max()))
            self.below = max(self.below, -float(error.min()))

    @property
    def passed(self) -> bool:
        """Whether all answers are the same, and all probabilities within their bound."""
        slack = 1e-12  # of the bound's own floating-point numbers
        near = self.above <= self.bound[0] + slack and self.below <= self.bound[1] + slack
        return near and not self.differences


def compare(
    config: SymphonyConfig, packets: int, seed: int, progress: Callable[[int], object]
) -> Result:
    """Serve `packets` random packets with both engines and compare them."""
    rng = np.random.default_rng(seed)
    result = Result(errors(config) if config.arithmetic == "log" else exact_errors(config))
    twin = VectorizedSymphony(config)
    time_ns = 0
    with Replay(config) as marker:
        while result.packets < packets:
            count = min(CHUNK, packets - result.packets)
            trace = random_trace(config, count, rng, time_ns)
            time_ns = int(trace.time_ns[-1])
            orders = random_orders(config, count, rng)
            if result.packets:
                orders = orders.among(slice(1, count))  # slots are given once
            got = result.rtl.run(lambda t=trace, o=orders: marker.run(t, o))
            expected = result.model.run(lambda t=trace, o=orders: twin.serve(t, o))
            result.take(got, expected)
            progress(result.packets)
        result.cycles = marker.cycles
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
        ("rtl", "tossed", r.tossed, "packet"),
        ("rtl", "differences", r.differences, "packet"),
        ("rtl", "error_above", r.above, "of equation 4"),
        ("rtl", "error_below", r.below, "of equation 4"),
        ("model", "bound_above", r.bound[0], "of equation 4"),
        ("model", "bound_below", r.bound[1], "of equation 4"),
    ]
    common = {"block": "symphony", "preset": name, "versions": versions()}
    return [
        {**common, "engine": engine, "metric": metric, "value": value, "unit": unit}
        for engine, metric, value, unit in rows
    ]


def table(results: dict[str, Result]) -> Table:
    """Return the measurements as a table; rates are those of the wall clock."""
    shown = Table("preset", title="packets a second, one core")
    titles = ("packets", "tossed", "marked", "differences", "error, %", "bound, %")
    for column in (*titles, "RTL", "model", "RTL, processor time"):
        shown.add_column(column, justify="right")
    for name, r in results.items():
        shown.add_row(
            name,
            *(f"{count:,}" for count in (r.packets, r.tossed, r.marked, r.differences)),
            f"+{100 * r.above:.2f} -{100 * r.below:.2f}",
            f"+{100 * r.bound[0]:.2f} -{100 * r.bound[1]:.2f}",
            f"{r.packets / r.rtl.wall:,.0f}",
            f"{r.packets / r.model.wall:,.0f}",
            f"{r.packets / r.rtl.processor:,.0f}",
        )
    return shown


def main() -> int:
    return bench(
        __doc__,
        "packets",
        dict.fromkeys(PRESETS, PACKETS),
        PACKETS,
        RECORD,
        configure=lambda name, seed: preset(name, seed=seed),
        compare=compare,
        records=records,
        table=table,
        passed=lambda result: result.passed,
    )


if __name__ == "__main__":
    sys.exit(main())
