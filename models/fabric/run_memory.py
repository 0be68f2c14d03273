"""Whether a case fits into memory, before anything of it is made."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from models.fabric.network import tree_of
from models.fabric.run import Case

_REFERENCE_PACKET = 700
"""About what the reference engine holds for a packet under way, bytes."""
_LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")


def available_bytes() -> int:
    """What this process may still take: the system's free memory, or less by a limit on the process
    or its control group."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            pages = int(line.split()[1]) * 1024
    limits = [pages, resource.getrlimit(resource.RLIMIT_AS)[0]]
    limits += [int(text) for text in map(_read, _LIMITS) if text.strip().isdigit()]
    return min(limit for limit in limits if limit != resource.RLIM_INFINITY and limit > 0)


def memory_bytes(case: Case) -> int:
    """About what a case takes above an idle interpreter, from its settings alone."""
    flows = case.workload.memory_bytes(case.config)
    hosts = tree_of(case.config).hosts
    if case.engine == "reference":
        # A host has at most a round trip's packets under way that do not queue.
        trip = 12 * (case.config.latency + case.config.data_time) // case.config.data_time
        return flows + hosts * (trip + 6) * _REFERENCE_PACKET
    return flows + _fast_bytes(case)


def check_fits(case: Case, at_once: int = 1, room: int | None = None) -> None:
    """Raise `ValueError` with the numbers if a case, `at_once` times, does not fit into `room`."""
    room = available_bytes() if room is None else room
    need = memory_bytes(case) * at_once
    if need > room:
        times = f"{at_once} at once " if at_once > 1 else ""
        raise ValueError(
            f"radix: {tree_of(case.config).hosts:,} hosts with {case.workload.traffic} {times}"
            f"need about {_shown(need)} of memory, there are {_shown(room)}; nothing was started"
        )


def _fast_bytes(case: Case) -> int:
    from models.fabric import engine

    return engine.memory_bytes(case.config)


def _shown(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.0f} MiB"


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError:
        return ""
