"""Ofan's paper and its cost, beside what was counted (seed appendix I, sections 4 and 5)."""

from __future__ import annotations

from collections.abc import Iterator

from models.common.prefix import prefix_network
from models.common.sorter import comparators, sorting_network
from models.ofan.config import OfanConfig, preset
from models.ofan.memory import memory
from synth.claim import Claim
from synth.claims_pointers import pointer_claims
from synth.ge import FLOP_GE
from synth.measured import BARE, CELL_BLOCK, CONFIGS, NETWORK_BLOCK, OFAN, POFAN, Numbers
from synth.parts import TOTAL


def ofan_claims(numbers: Numbers) -> list[Claim]:
    """Return Ofan's part of the report, the paper's numbers first, then what it leaves out."""
    paper = [*_networks(numbers), *_totals(numbers), *_memories()]
    return [*paper, *_left_out(numbers), *pointer_claims()]


READ, WRITE = "pointer file: read paths", "pointer file: write paths"
FORWARD, ADVANCE = "update: forwarding", "update: advance, modulo w"
POINTER_GE = FLOP_GE["paper"] * CONFIGS[OFAN].pointer_bits


def _claim(
    where: str, what: str, unit: str, paper: float | None, found: tuple[float, str], why: str = ""
) -> Claim:
    counted, how = found
    return Claim(where=where, what=what, unit=unit, paper=paper, counted=counted, how=how, why=why)


def _exact(value: float) -> tuple[float, str]:
    return value, "arithmetic"


def _networks(n: Numbers) -> Iterator[Claim]:
    lanes = CONFIGS[OFAN].lanes
    network, tree = sorting_network("bitonic", lanes), prefix_network(lanes)
    cells = comparators(network)

    def cell(name: str) -> tuple[float, str]:
        logic, how = n.add(name, "logic", CELL_BLOCK)
        return logic / 16, how

    yield _claim("I", "ranks of the sorting network", "ranks", 15, _exact(len(network)))
    yield _claim("I", "compare-and-swap cells a rank", "cells", 16, _exact(cells / len(network)))
    for what, name, why in (
        (
            "compare-and-swap, 12-bit key alone",
            "12-bit key",
            "24 two-way multiplexers at 3 GE are 72 GE; the 12-bit comparator comes on top.",
        ),
        (
            "compare-and-swap, lane and valid riding along",
            "12-bit key, lane and valid ride along",
            "Unsorting needs the 5-bit lane, idle lanes a valid bit: 12 more multiplexers.",
        ),
        (
            "compare-and-swap, all 18 bits compared",
            "18 bits compared",
            "No sorting network is stable, so the lane is part of the key to keep lane order.",
        ),
    ):
        yield _claim("I", what, "GE", 80, cell(name), why)
    for what, block, paper, why in (
        ("sorting network", "sort", 20_000, "240 cells with the payload that the 80 gates omit."),
        ("unsorting network", "unsort", 20_000, "240 cells that compare lanes and swap answers."),
        ("combining tree", "combine", 2_000, "31 comparators of keys stand before the tree."),
    ):
        yield _claim("I", what, "GE", paper, n.add(OFAN, "logic", block), why)
    nodes = sum(len(rank) for rank in tree)
    yield _claim("I", "nodes of the combining tree", "nodes", 80, _exact(nodes))


def _totals(n: Numbers) -> Iterator[Claim]:
    yield _claim("I", "register file", "bits", 20_480, _exact(CONFIGS[OFAN].pointer_bits))
    yield _claim(
        "I",
        "one flip-flop",
        "GE",
        FLOP_GE["paper"],
        _exact(FLOP_GE["Nangate45"]),
        "DFF_X1 of the open Nangate45 library is 4.522 µm², its NAND2_X1 0.798 µm².",
    )
    yield _claim("I", "register file, flip-flops alone", "GE", 82_000, _exact(POINTER_GE))
    logic, how = n.add(BARE, "logic", READ, WRITE, FORWARD, ADVANCE)
    yield _claim(
        "I",
        "register file with read-modify-write logic",
        "GE",
        82_000,
        (POINTER_GE + logic, how),
        "32 lanes read and write 4,096 words: 32 trees of 4,095 multiplexers of 5 bits, and as many"
        " write paths; the paper counts the flip-flops only.",
    )
    logic, how = n.add(OFAN, "logic", "sort", "unsort", "combine")
    yield _claim(
        "I",
        "total of the parts that the paper counts",
        "GE",
        127_000,
        (POINTER_GE + logic, how),
        "Sort, unsort and combine as counted above, and the pointers at 4 GE a bit.",
    )
    yield _claim(
        "I",
        "total without failure logic",
        "GE",
        127_000,
        n.add(BARE, "total, paper", TOTAL),
        "The access network of the pointer file is most of it.",
    )
    yield _claim(
        "I",
        "total with failure logic",
        "GE",
        127_000,
        n.add(OFAN, "total, paper", TOTAL),
        "And every lane looks up which uplinks reach its destination.",
    )


def _memories() -> Iterator[Claim]:
    edge, aggregation = memory(CONFIGS[OFAN]), memory(preset("agg-k64"))
    piped = memory(CONFIGS[POFAN])
    for where, what, unit, paper, counted in (
        ("4.1", "pointers of an edge switch, k = 64", "B", 2_560, edge.pointer_bytes),
        ("4.1", "pointers of an aggregation switch", "B", 79, aggregation.pointer_bytes),
        ("4.1", "permutation P", "B", 20, edge.order_bytes),
        ("5.1", "pointers of pOfan, 8 pipes of 4", "pointers", 32_768, piped.pointers),
    ):
        yield _claim(where, what, unit, paper, _exact(counted))
    tofino = OfanConfig(lanes=32, pipe_lanes=8, uplinks=32, destinations=64, lookup="table")
    pointers = memory(tofino).pointer_bytes
    entry_bits = 1 + tofino.destination_bits
    table = (tofino.pipes * entry_bits << tofino.prefix_bits) // 8
    yield _claim(
        "Table 2",
        "SRAM, 64 edge switches, 4 pipes",
        "B",
        207_530,
        _exact(pointers + table),
        f"Bits alone: {pointers:,} B of pointers (at w = 32) and {table:,} B of prefix tables."
        " Tofino gives out SRAM in blocks, and the paper's table has an entry for every address.",
    )


_OMITTED = (
    # what, unit, preset, metric, parts, what it means
    ("pipeline registers", "bits", OFAN, "flops", (TOTAL,), ""),
    ("pipeline registers without failure logic", "bits", BARE, "flops", (TOTAL,), ""),
    ("clock gates", "GE", OFAN, "gating", (TOTAL,), "One a word of each memory."),
    ("pointer file, 32 read paths", "GE", OFAN, "logic", (READ,), ""),
    (
        "pointer file, 32 write paths",
        "GE",
        OFAN,
        "logic",
        (WRITE,),
        "Ports by priority, as Yosys maps them, though two masters never meet.",
    ),
    (
        "forwarding between batches",
        "GE",
        OFAN,
        "logic",
        (FORWARD,),
        "32 × 32 comparators of keys, and a way round the file for each lane.",
    ),
    ("advance modulo w, 32 masters", "GE", BARE, "logic", (ADVANCE,), "A 5-bit adder a lane."),
    (
        "advance past failed uplinks, 32 masters",
        "GE",
        OFAN,
        "logic",
        (ADVANCE,),
        "Rank, modulo the number of valid uplinks, and select, in place of the adder.",
    ),
    ("π, 32 lanes", "GE", OFAN, "logic", ("π",), ""),
    ("decombine", "GE", BARE, "logic", ("decombine",), ""),
    ("decombine past failed uplinks", "GE", OFAN, "logic", ("decombine",), ""),
    (
        "failure masks, access to the tables",
        "GE",
        OFAN,
        "logic",
        (
            "failure masks: index table: read paths",
            "failure masks: index table: write paths",
            "failure masks: sets: read paths",
            "failure masks: sets: write paths",
        ),
        "An index a destination and 16 shared sets, each read by 32 lanes at once.",
    ),
    (
        "failure masks, tables",
        "bits",
        OFAN,
        "storage",
        ("failure masks: index table: storage", "failure masks: sets: storage"),
        "A set a destination would be 65,536 bits.",
    ),
    (
        "failure masks, π backwards and counts",
        "GE",
        OFAN,
        "logic",
        ("failure masks", "failure masks: π backwards"),
        "",
    ),
    (
        "initial pointers",
        "GE",
        OFAN,
        "logic",
        ("initial pointers (ROM)",),
        "A ROM of random pointers, read once after reset.",
    ),
    (
        "odd-even merge in place of bitonic, sort",
        "GE",
        "odd-even-merge",
        "logic",
        (NETWORK_BLOCK,),
        "191 cells, not 240.",
    ),
    ("best network known, sort", "GE", "best", "logic", (NETWORK_BLOCK,), "185 cells, not 240."),
    ("total at 5.67 GE a flip-flop", "GE", OFAN, "total, Nangate45", (TOTAL,), ""),
    ("pOfan, 8 pipes of 4 lanes: total", "GE", POFAN, "total, paper", (TOTAL,), ""),
    (
        "pOfan: read and write paths",
        "GE",
        POFAN,
        "logic",
        (READ, WRITE),
        "4 + 4 paths into each of 8 files.",
    ),
)


def _left_out(n: Numbers) -> Iterator[Claim]:
    for what, unit, name, metric, parts, why in _OMITTED:
        yield _claim("-", what, unit, None, n.add(name, metric, *parts), why)
    for what, name in (
        ("longest path of all stages", OFAN),
        ("longest path without failure logic", BARE),
    ):
        depth, part = n.deepest(name)
        yield _claim("-", what, "gates", None, (depth, "mapped"), f"In {part}.")
