"""What CSIG costs, block by block: gates and flip-flops, and its memories as bits."""

from __future__ import annotations

import gc
import re
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Elaboratable, UnusedElaboratable

from models.csig.config import CsigConfig
from rtl.csig.hop import Hop, tag_queue
from rtl.csig.replace import Compare, Replace
from rtl.csig.tag import ReadTag, WriteTag
from synth import parts
from synth.ge import Cost, price
from synth.parts import TOTAL, Progress, Row
from synth.records import Record

UNIT = ("clock", "lookup", "meter", "quantize", "replace", "replace: compare")
"""The unit of a port: from what a tag asks for to the value and locator that replace the tag's."""

COMPARE_AND_REPLACE = ("replace", "replace: compare", "write tag")
"""The hop's value against the tag's, the locator, and both put into the tag."""


def price_hop(config: CsigConfig, progress: Progress = lambda what: None) -> Iterator[Row]:
    """Yield the cost of every part of the hop that `config` describes, then the `total`.

    Blocks are mapped one by one. Memories, each with one read and one write port, are left out of
    them and stand apart as bits. `progress` hears what comes next. Raises
    `rtl.toolchain.ToolError`.
    """
    rows = []
    for row in _parts(config, progress):
        rows.append(row)
        yield row
    yield Row(part=TOTAL, cost=sum((row.cost for row in rows), Cost()))


def _parts(c: CsigConfig, progress: Progress) -> Iterator[Row]:
    def block(part: str, component: Elaboratable, boxes: dict[str, int] | None = None) -> Row:
        progress(part)
        return Row(part=part, cost=price(component, boxes=boxes, memories=False))

    def memory(part: str, component: Elaboratable, ports: Sequence[Any] | None = None) -> list[Row]:
        bits = sum(memories(component, ports).values())
        return [Row(part=f"{part}: memory", cost=Cost(sram=bits))] if bits else []

    hop = Hop(c)
    read, write = block("read tag", ReadTag(c)), block("write tag", WriteTag(c))
    boxes = {"read_tag": read.cost.depth, "write_tag": write.cost.depth}
    yield block("entry", hop, {**dict.fromkeys((*hop.blocks, "tags"), 0), **boxes})
    yield read
    for name, component in blocks(c).items():
        if name == "replace":
            compare = block("replace: compare", Compare(c))
            yield block(name, component, {"compare": compare.cost.depth})
            yield compare
        else:
            yield block(name, component)
        yield from memory(name, component)
    queue = tag_queue(c, hop.latency)
    ends = [queue.w_data, queue.w_rdy, queue.w_en, queue.r_data, queue.r_rdy, queue.r_en]
    progress("tag queue")
    yield Row(part="tag queue", cost=price(queue, ports=ends, memories=False))
    yield from memory("tag queue", queue, ends)
    yield write


def blocks(config: CsigConfig) -> dict[str, Elaboratable]:
    """Return the blocks of a hop by name, none of them elaborated."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedElaboratable)
        hop = Hop(config)
        found = dict(hop.blocks)
        del hop
        gc.collect()  # Amaranth warns when an unused component is deleted
    return found


def memories(component: Elaboratable, ports: Sequence[Any] | None = None) -> dict[str, int]:
    """Return the bits of each memory of a component, by name.

    They are read from its RTLIL, before Yosys sees it: a table that Yosys makes of a case is logic.
    """
    extra: Any = {} if ports is None else {"ports": ports}
    text = rtlil.convert(component, name="top", emit_src=False, **extra)
    found = re.findall(r"memory width (\d+) size (\d+) \\(\S+)", text)
    return {name: int(width) * int(size) for width, size, name in found}


def in_one_piece(config: CsigConfig) -> Cost:
    """Map a whole hop at once, its memories left out: paths then run from block to block."""
    return price(Hop(config), memories=False)


def compare_and_replace(config: CsigConfig) -> dict[str, Cost]:
    """Map what compares and replaces alone, and return what each part of it costs."""
    compare = price(Compare(config))
    replace = price(Replace(config), boxes={"compare": compare.depth}, memories=False)
    costs = (replace, compare, price(WriteTag(config)))
    return dict(zip(COMPARE_AND_REPLACE, costs, strict=True))


def price_preset(
    name: str, config: CsigConfig, progress: Progress = lambda what: None
) -> list[Record]:
    """Price a configuration and return its records; see `synth.parts.price_preset`."""
    return parts.price_preset("csig", name, config, lambda: price_hop(config, progress))
