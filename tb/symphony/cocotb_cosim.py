"""What `cosim` runs in the simulator: the packets of a trace, with idle cycles and stalls."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cocotb

from models.symphony import slots as control
from models.symphony.beat import GIVE, TAKE
from models.symphony.marker import Packet
from models.symphony.trace import NO_WORD, Trace, read_trace
from tb.pauses import sometimes
from tb.simulator import bench_parameters
from tb.symphony.marker_bench import MarkerBench, Offer
from tb.symphony.marker_coverage import MarkerCoverage
from tb.symphony.marker_reference import Order


def offers(trace: Trace, start_ns: int) -> Iterator[Offer]:
    """The packets of a trace, time being `start_ns` before the first."""
    words = [NO_WORD] * len(trace) if trace.random is None else trace.random.tolist()
    names = ("time_ns", "job", "step", "psn", "last", "queue_bytes")
    columns = [getattr(trace, name).tolist() for name in names]
    for row in zip(*columns, trace.codepoints().tolist(), words, strict=True):
        now, job, step, psn, last, queue, ecn, word = row
        random_word = None if word == NO_WORD else word
        yield Offer(Packet(0, job, step, psn, bool(last), queue, ecn, random_word), now - start_ns)
        start_ns = now


@cocotb.test()
async def cosim(dut: Any) -> None:
    """Every packet of the trace in order, and each order where it belongs; what was seen goes to
    the file `result`."""
    given = bench_parameters()
    config, seed = given["config"], given["seed"]
    coverage = MarkerCoverage("cosim", config, given["latency"])
    bench = MarkerBench(dut, config, given["latency"], coverage, seed)
    trace = read_trace(given["trace"], config)
    orders = control.orders(config, trace, given["slots"])
    started = time.perf_counter()
    await bench.reset()
    await bench.swept()
    idle, stall = (
        sometimes(random.Random(f"{name} {seed}"), bench.latency, given[name])
        for name in ("idle", "stall")
    )
    bench.pause(idle, stall)
    begun = bench.cycle
    done = 0
    columns = (column.tolist() for column in (orders.before, orders.job, orders.given))
    for before, job, gives in zip(*columns, strict=True):
        part = trace[done : min(before, len(trace))]
        bench.feed(offers(part, int(trace.time_ns[done - 1]) if done else 0))
        done += len(part)
        bench.order([(len(part), Order(job, GIVE if gives else TAKE))])
        while bench.offering:  # an order may wait for the receipt of the last one: packets must not
            await bench.run(1)
    bench.feed(offers(trace[done:], int(trace.time_ns[done - 1]) if done else 0))
    await bench.run()
    told = {
        "packets": bench.answered,
        "orders": bench.fetched,
        "marks": bench.marks,
        "cycles": bench.cycle - begun,
        "seconds": time.perf_counter() - started,
        "coverage": coverage.counts,
    }
    Path(given["result"]).write_text(json.dumps(told))
