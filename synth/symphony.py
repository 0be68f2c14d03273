"""What Symphony costs, block by block: gates and flip-flops, and its memories as bits."""

from __future__ import annotations

from collections.abc import Iterator

from amaranth.hdl import Elaboratable

from models.symphony.config import SymphonyConfig
from models.symphony.memory import memory
from rtl.common.lfsr import Lfsr
from rtl.common.log2 import Log2
from rtl.symphony.coin import Coin
from rtl.symphony.marker import Marker
from rtl.symphony.measure import Measure
from rtl.symphony.progress import Progress as ProgressBlock
from rtl.symphony.red import Red
from rtl.symphony.tally import Tally
from rtl.symphony.touch import Touch
from rtl.symphony.window import Window
from synth import parts
from synth.ge import Cost, price
from synth.parts import TOTAL, Progress, Row
from synth.records import Record

LOG2 = "measure: log2 of the PSN"
DECISION = {"log": (LOG2, "coin"), "exact": ("coin",)}
"""The parts that decide: ratio, α, k and the comparison with the random number. In `log` arithmetic
the logarithm of a packet's PSN is taken where psn_rec needs it too."""


def price_marker(config: SymphonyConfig, progress: Progress = lambda what: None) -> Iterator[Row]:
    """Yield the cost of every part of the marker that `config` describes, then the `total`.

    Blocks are mapped one by one. Memories, each with one read and one write port, are left out of
    them and stand apart as bits. `progress` hears what comes next. Raises
    `rtl.toolchain.ToolError`.
    """
    rows = []
    for row in _parts(config, progress):
        rows.append(row)
        yield row
    yield Row(part=TOTAL, cost=sum((row.cost for row in rows), Cost()))


def _parts(c: SymphonyConfig, progress: Progress) -> Iterator[Row]:
    def block(part: str, component: Elaboratable, boxes: dict[str, int] | None = None) -> Row:
        progress(part)
        return Row(part=part, cost=price(component, boxes=boxes, memories=False))

    marker = Marker(c)
    yield block("entry", marker, dict.fromkeys((*marker.blocks, "lfsr"), 0))
    yield block("random register", Lfsr(c.seed))
    yield block("window", Window(c))
    if c.arithmetic == "log":
        log2 = block(LOG2, log2_of_psn(c))
        yield block("measure", Measure(c), {"log2": log2.cost.depth})
        yield log2
    else:
        yield block("measure", Measure(c))
    found = memory(c)
    yield block("touch", Touch(c))
    yield Row(part="touch: memory", cost=Cost(sram=found.touch))
    yield block("progress", ProgressBlock(c))
    yield Row(part="progress: memory", cost=Cost(sram=found.state))
    yield block("coin", Coin(c))
    yield block("red", Red(c))
    yield block("tally", Tally(c))
    if found.counters:
        yield Row(part="tally: memory", cost=Cost(sram=found.counters))


def log2_of_psn(c: SymphonyConfig) -> Log2:
    """Return the unit that takes the logarithm of a packet's position."""
    return Log2(c.psn_bits, c.mantissa_bits, c.fraction_bits)


def decision(config: SymphonyConfig) -> dict[str, Cost]:
    """Map the parts that decide and return what each costs."""
    blocks: dict[str, Elaboratable] = {"coin": Coin(config)}
    if config.arithmetic == "log":
        blocks[LOG2] = log2_of_psn(config)
    return {part: price(block, memories=False) for part, block in blocks.items()}


def price_preset(
    name: str, config: SymphonyConfig, progress: Progress = lambda what: None
) -> list[Record]:
    """Price a configuration and return its records; see `synth.parts.price_preset`."""
    return parts.price_preset("symphony", name, config, lambda: price_marker(config, progress))
