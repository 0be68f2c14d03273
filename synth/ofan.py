"""What Ofan's pipeline costs, block by block (seed appendix I, and what it leaves out)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amaranth.hdl import Elaboratable

from models.ofan.config import OfanConfig
from models.ofan.switch import initial_pointer
from rtl.ofan.combine import Combine
from rtl.ofan.decombine import Decombine
from rtl.ofan.lookup import Lookup
from rtl.ofan.masks import Masks
from rtl.ofan.order import Positions, Uplink
from rtl.ofan.pipeline import Pipeline
from rtl.ofan.sort import Sort
from rtl.ofan.unsort import Unsort
from rtl.ofan.update import Advance, Update
from synth import parts
from synth.ge import Cost, price
from synth.memory import memory_cost, rom
from synth.parts import TOTAL, Progress, Row
from synth.pointers import price_banked
from synth.records import Record


def price_switch(config: OfanConfig, progress: Progress = lambda what: None) -> Iterator[Row]:
    """Yield the cost of every part of the switch that `config` describes, then the `total`.

    Blocks are mapped one by one. Inside them the memories, and what every lane has once (π, π
    backwards, advance), are mapped apart and multiplied. Only memories too large to map are fitted.
    `progress` hears what comes next. Raises `rtl.toolchain.ToolError`. `synth.pointers` prices the
    banked engines.
    """
    if config.engine.banked:
        yield from price_banked(config, progress)
        return
    rows = []
    for row in _pipe(config, progress):
        rows.append(replace(row, cost=row.cost.times(config.pipes)))
        yield rows[-1]
    total = sum((row.cost for row in rows), Cost())
    fitted = [row.part for row in rows if row.fitted]
    yield Row(part=TOTAL, cost=total, fitted=f"parts: {', '.join(fitted)}" if fitted else None)


def _pipe(c: OfanConfig, progress: Progress) -> Iterator[Row]:
    lanes, b = c.lanes_per_pipe, c.uplink_bits

    def block(part: str, component: Elaboratable, boxes: dict[str, int] | None = None) -> Row:
        progress(part)
        return Row(part=part, cost=price(component, boxes=boxes, memories=False))

    def each(name: str, depth: int) -> dict[str, int]:
        return {f"{name}{lane}": depth for lane in range(lanes)}

    def memory(part: str, entries: int, width: int, reads: int, writes: int) -> Iterator[Row]:
        told = lambda size: progress(f"{part} ({size})")  # noqa: E731
        found = memory_cost(entries, width, reads, writes, told)
        fitted = found.fit.text() if found.fit else None
        yield Row(part=f"{part}: storage", cost=found.storage)
        yield Row(part=f"{part}: read paths", cost=found.read, fitted=fitted)
        yield Row(part=f"{part}: write paths", cost=found.write, fitted=fitted)

    if c.lookup != "none":
        yield block("lookup", Lookup(c))
        if c.lookup == "table":
            yield from memory("lookup table", 1 << c.prefix_bits, c.destination_bits + 1, lanes, 1)
    stages = ("sort", "combine", "masks", "update", "decombine", "unsort")
    yield block("batch register", Pipeline(c), dict.fromkeys(stages, 0))
    yield block("sort", Sort(c))
    yield block("combine", Combine(c))
    if c.masks:
        positions = block("failure masks: π backwards", Positions(c))
        depth = positions.cost.depth
        yield block("failure masks", Masks(c), each("positions", depth))
        yield replace(positions, cost=positions.cost.times(lanes))
        yield from memory(
            "failure masks: index table", max(2, c.destinations), max(1, c.mask_bits), lanes, 1
        )
        yield from memory("failure masks: sets", max(2, c.masks), c.uplinks, lanes, 1)
    else:
        yield block("failure masks", Masks(c))
    advance = block("update: advance, modulo w", Advance(c))
    depth = advance.cost.depth
    yield block("update: forwarding", Update(c), each("advance_", depth))
    yield replace(advance, cost=advance.cost.times(lanes))
    yield from memory("pointer file", max(2, c.keys), b, lanes, lanes)
    progress("initial pointers (ROM)")
    words = [
        initial_pointer(c, 0, d, t) for t in range(c.size_classes) for d in range(c.destinations)
    ]
    yield Row(part="initial pointers (ROM)", cost=rom(words, b))
    uplink = block("π", Uplink(c))
    yield block("decombine", Decombine(c), each("uplink_", uplink.cost.depth))
    yield replace(uplink, cost=uplink.cost.times(lanes))
    yield block("unsort", Unsort(c))


def price_preset(
    name: str, config: OfanConfig, progress: Progress = lambda what: None
) -> list[Record]:
    """Price a configuration and return its records; see `synth.parts.price_preset`."""
    return parts.price_preset("ofan", name, config, lambda: price_switch(config, progress))
