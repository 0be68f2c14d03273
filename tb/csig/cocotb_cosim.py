"""What `cosim` runs in the simulator: the packets of a trace, with idle cycles and stalls."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import cocotb
import numpy as np

from models.csig.agent import Entry
from models.csig.config import CsigConfig
from models.csig.hop import Packet
from models.csig.hst import NO_CODE, Writes, writes
from models.csig.ports import read_ports
from models.csig.trace import read_trace
from tb.csig.golden import packets_of
from tb.csig.hop_beats import Offer, Spoken
from tb.csig.hop_bench import HopBench
from tb.csig.hop_coverage import HopCoverage
from tb.csig.hop_passages import set_up
from tb.csig.hop_stimulus import NOTHING
from tb.pauses import sometimes
from tb.simulator import bench_parameters

LEAP = 4
"""Windows over which time leaps without software's help, at most."""


def offers(config: CsigConfig, packets: list[Packet], start_ns: int) -> Iterator[Offer]:
    """The packets of a trace, time being `start_ns` before the first."""
    delay, queue = ((1 << bits) - 1 for bits in (config.delay_bits, config.queue_bits))
    for packet in packets:
        fits = replace(
            packet,
            delay_ns=min(packet.delay_ns, delay),
            queue_bytes=min(packet.queue_bytes, queue),
        )
        yield Offer(fits, NOTHING, packet.time_ns - start_ns)
        start_ns = packet.time_ns


def values(found: Writes, now: int) -> Iterator[tuple[int, Spoken]]:
    """What agents write at once, at a time."""
    columns = (found.port, found.signal, found.compact, found.wide, found.written_ns)
    rows = zip(*(column.tolist() for column in (*columns, found.until_ns)), strict=True)
    for port, signal, compact, wide, written, until in rows:
        narrow, wider = (None if code == NO_CODE else code for code in (compact, wide))
        yield 0, Spoken(port, signal, Entry(narrow, wider, written, until), until - now)


@cocotb.test()
async def cosim(dut: Any) -> None:
    """Every packet of the trace in order, and each value of an agent where it belongs; what was
    seen goes to the file `result`."""
    given = bench_parameters()
    config, seed, latency = given["config"], given["seed"], given["latency"]
    setup = read_ports(given["ports"], CsigConfig(layout=config.layout))
    trace = read_trace(given["trace"], config, setup)
    written, packets = writes(setup, trace), packets_of(trace, config.layout)
    coverage = HopCoverage("cosim", config, latency)
    started = time.perf_counter()
    bench = HopBench(dut, config, latency, setup.windows, coverage, seed)
    bench.tick, bench.aligned = 0, True
    await bench.reset()
    await set_up(bench, list(setup.ports))
    idle, stall = (sometimes(random.Random(f"{n} {seed}"), latency, given[n])
                   for n in ("idle", "stall"))  # fmt: skip
    bench.pause(idle, stall)
    begun = bench.cycle
    gaps = np.diff(trace.time_ns, prepend=0)
    leaps = np.flatnonzero(gaps > LEAP * setup.windows[0])
    # Packets before which software writes or sets the edges.
    stops = sorted({*leaps.tolist(), *written.before.tolist(), len(packets)})
    done = 0
    for stop in stops:
        bench.feed(offers(config, packets[done:stop], bench.now))
        while bench.offering:
            await bench.run(1)
        done = stop
        if stop < len(packets):
            if gaps[stop] > LEAP * setup.windows[0]:
                bench.leap(int(gaps[stop]))
                while bench.offering:
                    await bench.run(1)
            if config.agent:
                bench.queue("s_agent", values(written.among(slice(stop, stop + 1)), bench.now))
            while bench.offering:
                await bench.run(1)
    await bench.run()
    told = {
        "packets": len(bench.model.served),
        "replaced": sum("replaced" in names for _, names in bench.model.served),
        "writes": len(written),
        "cycles": bench.cycle - begun,
        "seconds": time.perf_counter() - started,
        "coverage": coverage.counts,
    }
    Path(given["result"]).write_text(json.dumps(told))
