"""The fast engine: the network of `models.fabric.reference`, in every number, compiled by Numba."""

from __future__ import annotations

import os
from collections.abc import Callable

import numpy as np

from models.fabric import engine_state as state
from models.fabric.config import FabricConfig
from models.fabric.engine_compile import engine_for, kernel_of
from models.fabric.engine_flows import arriving, order_of
from models.fabric.engine_setup import (
    Buffers,
    Layout,
    buffers_of,
    layout_of,
    list_count,
    noted,
)
from models.fabric.engine_window import arrivals_in_a_window, window_of
from models.fabric.engine_wiring import wiring
from models.fabric.flows import Flows, check_run
from models.fabric.kernel import Kernel, Setting
from models.fabric.network import Failures, all_up, draw_failures
from models.fabric.result import TRACE, Result

CALL = 4_000_000
"""Packet-hops after which the compiled loop comes back: some tens of milliseconds."""
LEAST_TIME_BITS = 24
"""Narrow words are tried if a time has this many bits in them."""


def simulate(
    config: FabricConfig,
    flows: Flows,
    *,
    failures: Failures | None = None,
    trace: bool = False,
    progress: Callable[[int], object] | None = None,
) -> Result:
    """Run `flows` through the network of `config` until nothing moves any more.

    Args:
        failures: links that are down; None draws them if `link_failure` is above 0.
        trace: whether to keep a row for each packet and link.
        progress: called now and then with the data packets delivered so far.

    Raises `ValueError` if the flows are of another tree, the scheme has no compiled kernel, and,
    with the number, if the machine has not the memory for the run.
    """
    check_run(config, flows)
    if failures is None and not all_up(config):
        failures = draw_failures(config)
    setting = Setting(config, flows, failures, config.scheme)
    kernels = _kernels(config)
    _check_memory(memory_bytes(config, flows, trace=trace))
    ids = int(flows.packets.sum()) if trace else len(flows)
    for wide in (False, True):
        layout = layout_of(setting, kernels, ids, wide)
        if not wide and layout.time_bits < _time_bits(setting):
            continue
        buffers = _run(setting, kernels, layout, trace, progress)
        if buffers is not None:
            return _result(setting, buffers, layout, trace)
    raise ValueError("start must leave all times below 2**55 byte times")


def memory_bytes(config: FabricConfig, flows: Flows, *, trace: bool = False) -> int:
    """Estimate what a run takes of memory, bytes: the fixed buffers, the words of a network with
    every link busy or of all packets if they are fewer, and the trace."""
    setting = Setting(config, flows, None, config.scheme)
    kernels = _kernels(config)
    words = 16 if layout_of(setting, kernels, len(flows), False).time_bits < 32 else 8
    lists = list_count(setting, noted(config))
    packets = int(flows.packets.sum())
    chunks = 2 * lists + min(packets, 2 * _busy_words(setting, kernels)) // (state.CHUNK - 1)
    total = chunks * state.CHUNK * words + 100 * lists + (110 + 16 * arriving(flows)) * len(flows)
    total += 8 * state.TRIGGER * len(flows.needs)
    total += 4 * words * arrivals_in_a_window(setting, kernels)
    if trace:
        total += packets * (8 + 64 * len(setting.tree.stages))
    for kernel, scheme in zip(kernels, (config.scheme, config.mix_scheme), strict=False):
        total += kernel.memory_bytes(Setting(config, flows, None, str(scheme)))
    return total


def _kernels(config: FabricConfig) -> list[Kernel]:
    """The kernels of the schemes."""
    kernels = []
    for name in filter(None, (config.scheme, config.mix_scheme)):
        kernel = kernel_of(name)
        if kernel is None:
            raise ValueError(f"scheme must have a compiled kernel for this engine, not {name!r}")
        kernels.append(kernel)
    return kernels


def _busy_words(setting: Setting, kernels: list[Kernel]) -> int:
    """Packets under way while every link is busy."""
    config = setting.config
    each = 2 * window_of(config, kernels) // (config.data_time + config.ack_time) + 4
    return each * setting.tree.links


def _check_memory(needed: int) -> None:
    """Refuse a run that this machine has not the memory for."""
    have = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > have:
        raise ValueError(
            f"radix and flows must fit into this machine's {have / 1e9:.1f} GB of memory, not take "
            f"about {needed / 1e9:.1f} GB"
        )


def _time_bits(setting: Setting) -> int:
    """Bits that times will need at least: what the busiest host has to send or to receive."""
    flows, config = setting.flows, setting.config
    longest = 0
    for ends in (flows.source, flows.destination):
        packets = np.bincount(ends, flows.packets, setting.tree.hosts)
        longest = max(longest, int(packets.max()))
    started = flows.start[flows.trigger < 0]
    end = longest * config.data_time + int(started.max() if len(started) else 0) + config.jitter
    return max(LEAST_TIME_BITS, (end + 8 * config.latency).bit_length())


def _run(
    setting: Setting,
    kernels: list[Kernel],
    layout: Layout,
    trace: bool,
    progress: Callable[[int], object] | None,
) -> Buffers | None:
    """Run to the end; return None if the words turn out too narrow."""
    watched = trace or noted(setting.config)
    second = kernels[1] if kernels[1:] else None
    advance = engine_for(kernels[0], second, layout.wide, watched, arriving(setting.flows))
    lists = list_count(setting, noted(setting.config))
    words = min(int(setting.flows.packets.sum()), 4 * _busy_words(setting, kernels))
    buffers = buffers_of(setting, kernels, layout, trace, 3 * lists + 64 + words // 8)
    window_hops = max(1, _busy_words(setting, kernels))
    steps, told = max(1, CALL // window_hops), -1
    while True:
        advance(buffers.table.ctypes.data, steps)
        values = buffers.value
        if values[state.STATUS] == state.TOO_NARROW:
            return None
        if values[state.STATUS] == state.GROW:
            _grow(buffers, layout)
        if progress and values[state.DELIVERED] > told:
            told = int(values[state.DELIVERED])
            progress(told)
        if values[state.STATUS] == state.DONE:
            return buffers


def _grow(buffers: Buffers, layout: Layout) -> None:
    """Make room for twice as many chunks."""
    for name in ("word", "more") if layout.wide else ("word",):
        old = buffers.named[name]
        _check_memory(3 * old.nbytes)
        new = np.empty(2 * len(old), np.int64)
        new[: len(old)] = old
        buffers.replace(name, new)
    buffers.value[state.CHUNKS_END] *= 2


def _result(setting: Setting, buffers: Buffers, layout: Layout, trace: bool) -> Result:
    """What was measured, by the numbers that everybody else uses."""
    tree = setting.tree
    shape = (len(tree.stages), tree.hosts)
    slot = wiring(setting.tree)[0]
    order = order_of(setting.flows)
    begin, finish = np.empty(len(order), np.int64), np.empty(len(order), np.int64)
    begin[order] = buffers.flow_begin
    finish[order] = buffers.flow_finish
    values = buffers.value
    first = int(values[state.FIRST]) if (begin >= 0).any() else 0
    last = int(values[state.LAST_DATA])
    return Result(
        first=first,
        finish=finish,
        begin=begin,
        last_data=first if last < 0 else last,
        packets=buffers.seen[slot].reshape(shape),
        data=buffers.seen_data[slot].reshape(shape),
        lost=buffers.lost.reshape(shape),
        largest=buffers.queue.reshape(-1, state.QUEUE)[: tree.links, state.LARGEST].reshape(shape),
        area=buffers.area,
        trace=_trace(buffers, order) if trace else None,
    )


def _trace(buffers: Buffers, order: np.ndarray) -> np.ndarray:
    """The rows, sorted."""
    count = int(buffers.value[state.ROWS])
    rows = buffers.row[: 4 * count].reshape(-1, 4)
    name, flow = rows[:, 0] >> 1, buffers.owner[rows[:, 0] >> 1]
    first = np.cumsum(buffers.flow_total) - buffers.flow_total
    made = np.empty(count, TRACE)
    made["flow"], made["packet"] = order[flow], name - first[flow]
    made["ack"] = rows[:, 0] & 1 == 1
    made["link"], made["arrival"], made["start"] = rows[:, 1], rows[:, 2], rows[:, 3]
    return made[np.argsort(made["link"], kind="stable")]
