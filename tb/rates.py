"""How fast something runs, for the benches: time taken, and what it was taken with."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from rtl.toolchain import ToolError, yosys_version
from rtl.verilog import write_whole
from tb.tools import chosen_simulator, verilator

WIDE = 120
"""Columns of a table that goes to a file."""


@dataclass
class Stopwatch:
    """Adds up the seconds of calls: of the wall clock and of this process's processor time."""

    wall: float = 0.0
    processor: float = 0.0

    def run(self, call: Callable[[], Any]) -> Any:
        wall, processor = time.perf_counter(), time.process_time()
        answer = call()
        self.wall += time.perf_counter() - wall
        self.processor += time.process_time() - processor
        return answer


def versions() -> dict[str, str]:
    """Return the versions of what a replay is made with, and the machine, for a record."""
    return {
        "verilator": verilator(chosen_simulator() == "verilator-system")[1],
        "yosys": yosys_version(),
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": _processor(),
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            names = [line.partition(":")[2].strip() for line in file if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.machine()


def bench(
    doc: str | None,
    unit: str,
    counts: Mapping[str, int],
    otherwise: int,
    record: Path,
    *,
    configure: Callable[[str, int], Any],
    compare: Callable[[Any, int, int, Callable[[int], object]], Any],
    records: Callable[[str, Any], list[dict[str, Any]]],
    table: Callable[[dict[str, Any]], Table],
    passed: Callable[[Any], bool],
    kinds: Sequence[str] = (),
) -> int:
    """Run the command line of a replay's benchmark; return its exit code: 1 for a difference.

    Args:
        doc: of its module; the first line is its help.
        unit: what is counted, `batches` or `packets`, which names the option.
        counts: how many by preset when none are asked for, and `otherwise` for others.
        record: file that the measurements go to.
        configure: (name, seed) to a configuration.
        compare: (configuration, count, seed, progress) to a result.
        records, table, passed: of results.
        kinds: of traffic, which `--traffic` chooses of; a run is then called PRESET:KIND.

    The record is written after each run, and keeps what it has of other ones.
    """
    parser = argparse.ArgumentParser(description=doc.splitlines()[0] if doc else None)
    parser.add_argument("presets", nargs="*", default=list(counts))
    parser.add_argument(f"--{unit}", dest="count", type=int, help=f"{unit} of each preset")
    parser.add_argument("--seed", type=int, default=1)
    if kinds:
        parser.add_argument("--traffic", choices=[*kinds, "all"], help="in place of full batches")
    options = parser.parse_args()
    names: list[str] = options.presets
    if kinds and options.traffic:
        chosen = kinds if options.traffic == "all" else [options.traffic]
        names = [f"{name}:{kind}" for name in names for kind in chosen]
    results = {}
    try:
        configs = {name: configure(name, options.seed) for name in names}
        with Progress(transient=True) as progress:
            for name, config in configs.items():
                count = options.count or counts.get(name, otherwise)
                task = progress.add_task(name, total=count)
                results[name] = compare(
                    config,
                    count,
                    options.seed,
                    lambda done, task=task: progress.update(task, completed=done),
                )
                others = [row for row in _rows(record) if row["preset"] != name]
                rows = others + records(name, results[name])
                write_whole(record, json.dumps(rows, indent=1) + "\n")
    except (ValueError, ToolError) as error:
        print(f"bench_replay: {error}", file=sys.stderr)
        return 2
    Console(width=None if sys.stdout.isatty() else WIDE).print(table(results))
    print(f"record: {record}")
    return int(not all(passed(result) for result in results.values()))


def _rows(record: Path) -> list[dict[str, Any]]:
    """Return what a record has; nothing if there is none."""
    return json.loads(record.read_text()) if record.exists() else []
