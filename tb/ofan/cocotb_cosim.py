"""What `cosim` runs in the simulator: the batches of a trace, with idle cycles and stalls."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import cocotb

from models.ofan.switch import Packet
from models.ofan.trace import Trace, read_trace
from tb.ofan.switch_bench import SwitchBench
from tb.ofan.switch_coverage import SwitchCoverage
from tb.pauses import sometimes
from tb.simulator import bench_parameters


def batches(trace: Trace) -> Iterator[list[Packet]]:
    """The packets of each batch of the trace; batch numbers left out are no batches."""
    columns = (trace.slots, trace.lane, trace.destination, trace.size_class)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for _, group in groupby(rows, key=lambda row: row[0]):
        yield [Packet(*row[1:]) for row in group]


@cocotb.test()
async def cosim(dut: Any) -> None:
    """Every batch of the trace in order; what was seen goes to the file `result`."""
    given = bench_parameters()
    config, seed = given["config"], given["seed"]
    coverage = SwitchCoverage("cosim", config, given["latency"])
    bench = SwitchBench(dut, config, given["latency"], coverage, seed)
    started = time.perf_counter()
    await bench.reset()
    while bench.cycle < bench.swept_at:
        await bench.run(1)
    idle, stall = (
        sometimes(random.Random(f"{name} {seed}"), bench.latency, given[name])
        for name in ("idle", "stall")
    )
    bench.pause(idle, stall)
    bench.feed(batches(read_trace(given["trace"], config)))
    before = bench.cycle
    await bench.run()
    told = {
        "batches": bench.judge.answered,
        "packets": bench.judge.packets,
        "cycles": bench.cycle - before,
        "seconds": time.perf_counter() - started,
        "coverage": coverage.counts,
    }
    Path(given["result"]).write_text(json.dumps(told))
