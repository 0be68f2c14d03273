"""What the memory behind a bank costs, of flip-flops, latches or static cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from models.common.check import bits_for
from synth.ge import GATES, Cost
from synth.memory import memory_cost
from synth.parts import Progress, Row

LATCH_GE = 3.0
"""GE of a latch: twelve transistors."""

SRAM_GE = 2.0
"""GE of a static bit with a read and a write port: eight transistors."""

SRAM_PERIPHERY = 1.5
"""Assumed: a small static memory with its decoders, drivers and amplifiers is so many times as
large as its bits."""


def store_rows(
    part: str, rows: int, width: int, count: int, storage: str, progress: Progress
) -> Iterator[Row]:
    """Yield the costs of `count` memories of `rows` words of `width` bits, one read and one write
    port each.

    Flip-flops have a clock gate a word. Latches have an AND a word instead, a latch for each bit of
    the row's number and for the enable, and a register in front; they are read as flip-flops are.
    A static memory is its bits, times `SRAM_PERIPHERY`.
    """
    bits = rows * width
    if storage == "sram":
        macro = Cost(logic=SRAM_GE * bits * SRAM_PERIPHERY, sram=bits)
        yield Row(part=f"{part}: macros", cost=macro.times(count))
        return
    found = memory_cost(rows, width, 1, 1, lambda size: progress(f"{part} ({size})"))
    kept = found.storage
    if storage == "latches":
        selects = GATES["AND"] * rows + LATCH_GE * (bits_for(rows) + 1)
        kept = Cost(logic=LATCH_GE * bits + selects, flops=width)
    yield Row(part=f"{part}: storage", cost=kept.times(count))
    for what, cost in (("read paths", found.read), ("write paths", found.write)):
        yield Row(part=f"{part}: {what}", cost=replace(cost, depth=found.read.depth).times(count))
