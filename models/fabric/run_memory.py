"""Whether a case fits into memory, before anything of it is made."""

from __future__ import annotations

import os
import resource
from pathlib import Path

from models.fabric.flows import Flows
from models.fabric.network import tree_of
from models.fabric.run import Case

_REFERENCE_PACKET = 700
"""About what the reference engine holds for a packet under way, bytes."""
_REFERENCE_ROW = 250
"""And for a row of its trace."""
_GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
"""The limit of this process's control group and what the group has taken, version 2 and 1."""


def available_bytes() -> int:
    """What this process may still take: the system's free memory, or less by a limit on the process
    or its control group."""
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    for line in _read("/proc/meminfo").splitlines():
        if line.startswith("MemAvailable:"):
            pages = int(line.split()[1]) * 1024
    limits = [pages, resource.getrlimit(resource.RLIMIT_AS)[0]]
    for limit, used in (map(_read, files) for files in _GROUPS):
        if limit.strip().isdigit() and used.strip().isdigit():
            limits.append(max(1, int(limit) - int(used)))
    return min(limit for limit in limits if limit != resource.RLIM_INFINITY and limit > 0)


def memory_bytes(case: Case, flows: Flows, trace: bool = False) -> int:
    """About what a run of `flows` takes above an idle interpreter, flows included."""
    config = case.config
    made = case.workload.memory_bytes(config)
    if case.engine == "fast":
        from models.fabric import engine

        return made + engine.memory_bytes(config, flows, trace=trace)
    # A host has at most a round trip's packets under way that do not queue.
    trip = 12 * (config.latency + config.data_time) // config.data_time
    rows = 2 * int(flows.packets.sum()) * len(tree_of(config).stages) if trace else 0
    return made + flows.hosts * (trip + 6) * _REFERENCE_PACKET + rows * _REFERENCE_ROW


def flows_that_fit(
    case: Case, *, trace: bool = False, at_once: int = 1, room: int | None = None
) -> Flows:
    """Make a case's flows; raises `ValueError` with the numbers if they, or the run of them
    `at_once` times, do not fit into `room` (default: what there is)."""
    room = available_bytes() if room is None else room

    def check(need: int) -> None:
        if need > room:
            times = f", {at_once} at once," if at_once > 1 else ""
            raise ValueError(
                f"radix: {tree_of(case.config).hosts:,} hosts with {case.workload.traffic}{times} "
                f"need about {_shown(need)} of memory, there are {_shown(room)}; "
                "nothing was started"
            )

    check(case.workload.memory_bytes(case.config) * at_once)
    flows = case.workload.flows(case.config)
    check(memory_bytes(case, flows, trace) * at_once)
    return flows


def _shown(size: int) -> str:
    return f"{size / 2**30:,.1f} GiB" if size >= 2**30 else f"{size / 2**20:,.0f} MiB"


def _read(file: str) -> str:
    try:
        return Path(file).read_text()
    except OSError:
        return ""
