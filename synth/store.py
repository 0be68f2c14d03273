"""What the memory behind a bank costs, of flip-flops, latches or static cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from amaranth.hdl import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from rtl.ofan.banks import gather
from synth.ge import GATES, Cost, price
from synth.memory import memory_cost
from synth.parts import Progress, Row

LATCH_GE = 3.0
"""GE of a latch: twelve transistors."""

SRAM_GE = 2.0
"""GE of a static bit with a read and a write port: eight transistors."""

SRAM_PERIPHERY = 1.5
"""Assumed: a small static memory with its decoders, drivers and amplifiers is so many times as
large as its bits."""


class ReadPath(wiring.Component):
    """Reads one word: a decoder of the row, and an AND-OR a bit. Combinational.

    Args:
        rows, width: of the memory.

    Ports:
        row (in), words (in), word (out).
    """

    def __init__(self, rows: int, width: int) -> None:
        super().__init__(
            {
                "row": In(bits_for(rows)),
                "words": In(data.ArrayLayout(width, rows)),
                "word": Out(width),
            }
        )

    def elaborate(self, platform: object) -> Module:
        """Return the gates."""
        m = Module()
        chosen = Cat(self.row == number for number in range(len(self.words)))
        m.d.comb += self.word.eq(gather(list(self.words), chosen))
        return m


def store_rows(
    part: str, rows: int, width: int, count: int, storage: str, progress: Progress
) -> Iterator[Row]:
    """Yield the costs of `count` memories of `rows` words of `width` bits, one read and one write
    port each.

    Flip-flops have a clock gate a word. Latches have an AND a word instead, a latch for each bit of
    the row's number and for the enable, and a register in front. Both are read by `ReadPath`. A
    static memory is its bits, times `SRAM_PERIPHERY`.
    """
    bits = rows * width
    if storage == "sram":
        macro = Cost(logic=SRAM_GE * bits * SRAM_PERIPHERY, sram=bits)
        yield Row(part=f"{part}: macros", cost=macro.times(count))
        return
    found = memory_cost(rows, width, 1, 1, lambda size: progress(f"{part} ({size})"))
    kept, decode = found.storage, found.write
    if storage == "latches":
        selects = GATES["AND"] * rows + LATCH_GE * (bits_for(rows) + 1)
        kept = Cost(logic=LATCH_GE * bits + selects, flops=width)
    read = price(ReadPath(rows, width)) + Cost(flops=width)
    for what, cost in (("storage", kept), ("read paths", read), ("write paths", decode)):
        yield Row(part=f"{part}: {what}", cost=replace(cost.times(count), depth=cost.depth))
