"""What a memory of flip-flops costs: mapped as it is while it is small, fitted where it is large.

A memory is priced alone, as `amaranth.lib.memory` makes it: registered read ports whose enable is
somebody else's, write ports of which the last one wins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from amaranth.hdl import Module, unsigned
from amaranth.lib import memory

from synth.ge import CLOCK_GATE_GE, ENABLE_MUX_GE, Cost, price

LARGEST_MAPPED = 20_000
"""Bits × ports up to which a memory is mapped whole; beyond, its logic is fitted."""

Size = tuple[int, int, int]
"""Entries, read ports, write ports."""

_SERIES: dict[bool, tuple[Size, ...]] = {
    # one write port, any number of read ports
    True: (
        *((16, 1, 1), (16, 8, 1), (32, 4, 1), (64, 1, 1), (64, 2, 1), (64, 8, 1), (128, 1, 1)),
        *((128, 4, 1), (256, 1, 1), (256, 2, 1), (512, 1, 1)),
    ),
    # any number of both
    False: (
        *((16, 2, 2), (16, 8, 8), (16, 32, 32), (32, 4, 4), (32, 16, 16), (64, 1, 8), (64, 2, 2)),
        *((64, 4, 4), (64, 8, 1), (64, 8, 8), (128, 2, 2), (128, 4, 4), (256, 2, 2)),
    ),
}
_HELD_OUT: dict[bool, Size] = {True: (1024, 2, 1), False: (128, 16, 16)}


@dataclass(frozen=True, kw_only=True)
class Fit:
    """How well a law holds on the sizes it was fitted to, and on a larger one that it was not."""

    points: int
    """Sizes it was fitted to."""
    max_error: float
    """Largest relative residual of those, as a fraction."""
    rms_error: float
    """Root mean square of the relative residuals."""
    held_out: str
    """The size that was left out."""
    held_out_error: float
    """(law - mapped) / mapped there."""

    def text(self) -> str:
        """Return the errors in a few words."""
        return (
            f"{self.points} sizes, largest residual {self.max_error:.1%}, rms {self.rms_error:.1%};"
            f" left-out {self.held_out}: {self.held_out_error:+.1%}"
        )


@dataclass(frozen=True, kw_only=True)
class MemoryCost:
    """Cost of one memory by part. The parts add up; `fit` is None where it was mapped whole."""

    storage: Cost
    """The bits, and a clock gate a word."""
    read: Cost
    """Read ports: multiplexer trees, and a register a port."""
    write: Cost
    """Write ports: decoders and multiplexers."""
    fit: Fit | None


def rom(words: Sequence[int], width: int) -> Cost:
    """Map a read-only memory with one registered read port, and count it."""
    m, _, ports = _memory(words, len(words), width, 1)
    return replace(price(m, ports=ports), rom=len(words) * width)


def mapped(entries: int, width: int, reads: int, writes: int) -> Cost:
    """Map a memory of `entries` words of `width` bits and count it whole."""
    m, array, ports = _memory((), entries, width, reads)
    for _ in range(writes):
        write = array.write_port()
        ports += [write.addr, write.data, write.en]
    return price(m, ports=ports, storage=entries * width)


def _memory(words: Sequence[int], entries: int, width: int, reads: int) -> Any:
    m = Module()
    array = memory.Memory(shape=unsigned(width), depth=entries, init=words)
    m.submodules.memory = array
    ports = []
    for _ in range(reads):
        read = array.read_port()
        m.d.comb += read.en.eq(1)
        ports += [read.addr, read.data]
    return m, array, ports


def memory_cost(
    entries: int, width: int, reads: int, writes: int, progress: Callable[[str], None]
) -> MemoryCost:
    """Return what a memory of `entries` words of `width` bits costs, by part.

    Read ports cost the same each, so a memory with fewer of them tells reading from writing.
    `progress` hears of each size before it is mapped.
    """

    def tell(size: Size) -> Cost:
        progress(f"memory of {_name(size, width)}")
        return mapped(size[0], width, *size[1:])

    if entries * width * (reads + writes) <= LARGEST_MAPPED:
        whole, fit = tell((entries, reads, writes)), None
        logic, depth = whole.logic, whole.depth
        other = tell((entries, 1 if reads > 1 else 2, writes))
        read_logic = reads * (logic - other.logic) / (reads - (1 if reads > 1 else 2))
    else:
        one_writer = writes == 1
        sizes = _SERIES[one_writer]
        costs = [tell(size) for size in sizes]
        law = _solve(sizes, [cost.logic for cost in costs], _logic_terms)
        depths = _solve(sizes, [float(cost.depth) for cost in costs], _depth_terms)
        size = (entries, reads, writes)
        logic, depth = law @ _logic_terms(size), round(float(depths @ _depth_terms(size)))
        read_logic = logic - law @ _logic_terms((entries, 0, writes))
        residuals = [law @ _logic_terms(s) / c.logic - 1 for s, c in zip(sizes, costs, strict=True)]
        left_out = _HELD_OUT[one_writer]
        fit = Fit(
            points=len(sizes),
            max_error=float(np.abs(residuals).max()),
            rms_error=float(np.sqrt(np.mean(np.square(residuals)))),
            held_out=_name(left_out, width),
            held_out_error=float(law @ _logic_terms(left_out) / tell(left_out).logic - 1),
        )
    return MemoryCost(
        storage=Cost(
            storage=entries * width, gating=entries * min(CLOCK_GATE_GE, width * ENABLE_MUX_GE)
        ),
        read=Cost(logic=float(read_logic), flops=reads * width, depth=depth),
        write=Cost(logic=float(logic - read_logic), depth=depth),
        fit=fit,
    )


def _name(size: Size, width: int) -> str:
    entries, reads, writes = size
    return f"{entries:,} x {width} bits, {reads} read and {writes} write ports"


def _logic_terms(size: Size) -> np.ndarray:
    """What a memory's logic is linear in: a tree a read port, a multiplexer a word for each write
    port behind the first, a decoder a word."""
    entries, reads, writes = size
    return np.array([entries * reads, reads, entries * (writes - 1), writes - 1, entries, 1.0])


def _depth_terms(size: Size) -> np.ndarray:
    entries, _, writes = size
    return np.array([np.log2(entries), np.log2(writes), 1.0])


def _solve(
    sizes: tuple[Size, ...], values: list[float], terms: Callable[[Size], np.ndarray]
) -> np.ndarray:
    """Return the coefficients with the least sum of squared relative residuals."""
    rows = np.array([terms(size) for size in sizes]) / np.array(values)[:, None]
    return np.linalg.lstsq(rows, np.ones(len(values)), rcond=None)[0]
