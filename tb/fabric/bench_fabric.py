"""How fast the fast engine is, and what it takes of memory, by size and load balancer.

    python -m tb.fabric.bench_fabric                      all sizes, with a record
    python -m tb.fabric.bench_fabric 432 --schemes rsq    one of them

Each case is a random permutation of 1 MiB messages. Its time is the least of some runs, and stands
beside that of a yardstick, a fixed loop of memory and integers that is timed right before and after
it: on a busy or another machine the ratio tells more than the time. Memory and first call are those
of a process of its own.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from models.common.jit import compiled
from models.fabric import engine
from models.fabric.config import FabricConfig
from models.fabric.network import tree_of
from models.fabric.traffic import permutation
from rtl.verilog import BUILD, write_whole
from tb.rates import WIDE, versions

RECORD = BUILD / "bench" / "fabric.json"
PACKETS = 256
"""Of each host: 1 MiB in 4,096-byte payloads."""
RADIX = {128: 8, 432: 12, 1024: 16, 8192: 32, 65536: 64}
SCHEMES = {
    128: ("rsq", "ofan", "ar", "jsq"),
    432: ("rsq", "ofan", "ar", "jsq"),
    1024: ("rsq", "ofan", "ar", "jsq"),
    8192: ("rsq", "ofan"),
    65536: ("ofan",),
}
"""What is measured at each size when nothing else is asked for."""
SECONDS = 4.0
"""How long a case is repeated, at least twice up to 8,192 hosts."""
YARD_STEPS = 10_000_000
YARD_WORDS = 2**16


@compiled
def yardstick_walk(table: np.ndarray, steps: int) -> Any:
    """Follow a table of 512 KiB at random, each step by what the last one read."""
    place = np.uint64(1)
    mixed = np.uint64(0)
    mask = np.uint64(len(table) - 1)
    for _ in range(steps):
        place = table[place & mask] + mixed
        mixed = (mixed + place) ^ (place >> np.uint64(29))
    return mixed


def least(call: Callable[[], object], seconds: float, times: int) -> tuple[float, float]:
    """Call again and again; return the least time of the wall clock and of the processor."""
    best, began = (float("inf"), float("inf")), time.perf_counter()
    while times > 0 or time.perf_counter() - began < seconds:
        wall, processor = time.perf_counter(), time.process_time()
        call()
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
        best = min(best[0], wall), min(best[1], processor)
        times -= 1
    return best


def yardstick() -> tuple[float, float]:
    """Nanoseconds of a step of the yardstick, by the wall clock and by the processor's."""
    table = np.random.default_rng(1).integers(0, 2**63, YARD_WORDS).astype(np.uint64)
    yardstick_walk(table, 1)
    best = least(lambda: yardstick_walk(table, YARD_STEPS), 0.3, 2)
    return best[0] / YARD_STEPS * 1e9, best[1] / YARD_STEPS * 1e9


def case(hosts: int, scheme: str) -> tuple[FabricConfig, Any]:
    """A configuration and its traffic."""
    config = FabricConfig(radix=RADIX[hosts], scheme=scheme)
    assert tree_of(config).hosts == hosts
    return config, permutation(config, 1, PACKETS)


def resident(field: str) -> float:
    """A line of this process's memory (VmRSS, VmHWM), MB; not a number where there is none."""
    try:
        text = Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    (line,) = (line for line in text.splitlines() if line.startswith(field))
    return int(line.split()[1]) * 1024 / 1e6


def alone(hosts: int, scheme: str) -> dict[str, float]:
    """In a process of its own: seconds of the first call of all, on 16 hosts, and then the memory
    that the case takes at its peak above the process before it, MB."""
    small = FabricConfig(radix=4, scheme=scheme)
    flows = permutation(small, 1, 4)
    began = time.perf_counter(), time.process_time()
    engine.simulate(small, flows)
    first = time.perf_counter() - began[0], time.process_time() - began[1]
    config, flows = case(hosts, scheme)
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = resident("VmRSS")
    engine.simulate(config, flows)
    return {
        "first_call": first[0],
        "first_call_processor": first[1],
        "memory": resident("VmHWM") - before,
    }


def measure(hosts: int, scheme: str) -> dict[str, float]:
    """All numbers of a case."""
    config, flows = case(hosts, scheme)
    result = engine.simulate(config, flows)  # makes the engine, if the disk has none
    before = yardstick()
    run = lambda: engine.simulate(config, flows)  # noqa: E731
    wall, processor = least(run, SECONDS, 2 if hosts <= 8192 else 1)
    yard = min(before, yardstick(), key=lambda pair: pair[1])
    command = [sys.executable, "-m", __spec__.name, str(hosts), "--schemes", scheme, "--alone"]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    hops = result.packet_hops
    return {
        "hops": hops,
        "time": wall,
        "time_processor": processor,
        "rate": hops / wall,
        "rate_processor": hops / processor,
        "yardstick": yard[0],
        "yardstick_processor": yard[1],
        "yardsteps_a_hop": processor / hops * 1e9 / yard[1],
        **json.loads(text),
    }


UNITS = {
    "hops": "packet-hop",
    "time": "s",
    "time_processor": "s",
    "rate": "packet-hop/s",
    "rate_processor": "packet-hop/s",
    "yardstick": "ns/step",
    "yardstick_processor": "ns/step",
    "yardsteps_a_hop": "step/packet-hop",
    "first_call": "s",
    "first_call_processor": "s",
    "memory": "MB",
}


def records(hosts: int, scheme: str, numbers: dict[str, float]) -> list[dict[str, Any]]:
    """The numbers in the form of the cost records of `synth`."""
    common = {"block": "fabric", "preset": str(hosts), "engine": scheme, "versions": versions()}
    return [
        {**common, "metric": metric, "value": value, "unit": UNITS[metric]}
        for metric, value in numbers.items()
    ]


def table(results: dict[tuple[int, str], dict[str, float]]) -> Table:
    """The numbers as a table."""
    shown = Table("hosts", "scheme", title="1 MiB permutation, one core, least of some runs")
    for title in ("time, s", "M hops/s", "of processor", "yardsteps a hop", "MB", "first call, s"):
        shown.add_column(title, justify="right")
    for (hosts, scheme), r in results.items():
        shown.add_row(
            f"{hosts:,}",
            scheme,
            f"{r['time']:.4f}",
            f"{r['rate'] / 1e6:.1f}",
            f"{r['rate_processor'] / 1e6:.1f}",
            f"{r['yardsteps_a_hop']:.2f}",
            f"{r['memory']:.0f}",
            f"{r['first_call']:.2f}",
        )
    return shown


def main() -> int:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("hosts", nargs="*", type=int, choices=[*RADIX, []], default=[])
    parser.add_argument("--schemes", nargs="+", help="load balancers")
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    sizes = options.hosts or list(RADIX)
    cases = [(hosts, name) for hosts in sizes for name in options.schemes or SCHEMES[hosts]]
    try:
        if options.alone:
            print(json.dumps(alone(*cases[0])))
            return 0
        results = {}
        with Progress(transient=True) as progress:
            for hosts, name in progress.track(cases):
                results[hosts, name] = measure(hosts, name)
                old = json.loads(RECORD.read_text()) if RECORD.exists() else []
                kept = [row for row in old if (row["preset"], row["engine"]) != (str(hosts), name)]
                rows = kept + records(hosts, name, results[hosts, name])
                write_whole(RECORD, json.dumps(rows, indent=1) + "\n")
    except ValueError as error:
        print(f"bench_fabric: {error}", file=sys.stderr)
        return 2
    Console(width=None if sys.stdout.isatty() else WIDE).print(table(results))
    print(f"record: {RECORD}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
