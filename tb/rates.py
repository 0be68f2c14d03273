"""How fast something runs, for the benches: time taken, and what it was taken with."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from rtl.toolchain import yosys_version
from tb.tools import chosen_simulator, verilator


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
