"""What the banked pointer engines cost, block by block, and the prices of the study's points."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from typing import Any

from models.ofan.config import OfanConfig
from models.ofan.engine import STORAGES, Engine
from models.ofan.place import key_of, rows
from models.ofan.switch import initial_pointer
from rtl.ofan.bank_masks import BankMasks
from rtl.ofan.banks import Bank, BankFile, Route
from rtl.ofan.combine import Combine
from rtl.ofan.decombine import Decombine
from rtl.ofan.engine import pointer_engine
from rtl.ofan.masks import Masks
from rtl.ofan.match import Match
from rtl.ofan.matched import places_layout
from rtl.ofan.order import Positions, Uplink
from rtl.ofan.prefix import Prefix
from rtl.ofan.replies import Replies
from rtl.ofan.rounds import Rounds
from rtl.ofan.slots import Slots
from rtl.ofan.sort import Sort, batch_layout
from rtl.ofan.unsort import Unsort
from rtl.ofan.waiting import BatchQueue
from synth.ge import Cost, price
from synth.memory import memory_cost, rom
from synth.parts import TOTAL, Progress, Row
from synth.pointer_price import (
    INITIAL,
    ORDER,
    PRICES,
    STORE,
    committed_prices,
    preset_name,
)
from synth.pointer_report import IMAGES, save_plots
from synth.pointer_study import NAME, SHAPES
from synth.pointer_tables import Study
from synth.records import COMMITTED, Record, read_records, records_of, write_records
from synth.store import store_rows
from synth.symphony_study import figure_class


def _queued(banks: int, queues: int, depth: int = 2) -> Engine:
    return Engine(kind="queued-banked", banks=banks, queues=queues, depth=depth)


def _matched(banks: int, group: int) -> Engine:
    return Engine(kind="matched-banked", banks=banks, group=group, depth=4)


POINTS: tuple[tuple[str, Engine], ...] = (
    # The running example: what it takes to wait less.
    *(("edge-k64", _queued(16, 16, depth)) for depth in (1, 2, 3, 5)),
    *(("edge-k64", _queued(32, 16, depth)) for depth in (2, 3, 4)),
    *(("edge-k64", _queued(64, 16, depth)) for depth in (2, 3, 4)),
    *(("edge-k64", _queued(banks, 32)) for banks in (8, 16, 32, 64)),
    *(("edge-k64", _matched(banks, group)) for banks in (8, 16) for group in (4, 8)),
    ("edge-k64", Engine(kind="sorted-banked", banks=32, depth=4)),
    # Other sizes: a bank for each lane of a pipe, and both numbers of queues where they are small.
    ("edge-k32", _queued(16, 8)),
    ("edge-k16", _queued(8, 8)),
    ("edge-k16", _queued(8, 4)),
    ("edge-k12", _queued(8, 6)),
    ("edge-k12", _queued(8, 3)),
    ("edge-k12", Engine(kind="matched-banked", banks=8, depth=4)),
    ("edge-k12", Engine(kind="sorted-banked", banks=8, depth=4)),
    ("edge-k8", _queued(4, 4)),
    ("edge-k8", _queued(4, 2)),
    ("pofan4-k64", _queued(4, 4)),
    *(("pofan4-k64", _queued(banks, 2)) for banks in (2, 4, 8)),
    ("edge-k128", _queued(64, 32)),
)
"""The points of the study that are mapped: with the order plain and without failure logic, as the
paper counts."""


def price_banked(config: OfanConfig, progress: Progress = lambda what: None) -> Iterator[Row]:
    """Yield the cost of every part of a banked engine, all pipes together, then the `total`.

    Blocks are mapped one by one; what every bank and every packet has once is mapped once and
    multiplied. The depth of the total is that of the engine mapped whole, or that of the way to a
    bank and through its memory. Raises `rtl.toolchain.ToolError`.
    """
    made: list[Row] = []
    for row in _pipe(config, progress):
        made.append(replace(row, cost=row.cost.times(config.pipes)))
        yield made[-1]
    progress("the engine whole")
    depths = {row.part: row.cost.depth for row in made}
    depth = _depth(_in_flops(config), depths)
    total = sum((row.cost for row in made), Cost())
    fitted = [row.part for row in made if row.fitted]
    yield Row(
        part=TOTAL,
        cost=replace(total, depth=depth),
        fitted=f"parts: {', '.join(fitted)}" if fitted else None,
    )


def _depth(c: OfanConfig, depths: dict[str, int]) -> int:
    """Return the gates in a row of the deepest stage: of the engine with its banks apart, of the
    way to a bank and through its memory, or of the way from a bank and to the answer."""
    boxes = {name: depths[name] for name in ("route", "replies") if name in depths}
    boxes |= {} if "rounds" in depths else {"file": 0}
    front = price(pointer_engine(c), boxes=boxes, memories=False).depth
    read = depths.get("route", 0) + depths.get(f"{STORE}: read paths", 0)
    return max(front, read, depths["banks"] + depths.get("replies", 0))


def _in_flops(c: OfanConfig) -> OfanConfig:
    """The same with its pointers in flip-flops, which a mapper knows."""
    return replace(c, engine=replace(c.engine, storage="flops"))


def _blocks(c: OfanConfig) -> dict[str, tuple[Any, str]]:
    """Return the blocks of an engine by the name of their instance, and how the instances begin
    that each packet has once in them."""
    lanes, depth = c.lanes_per_pipe, c.engine.depth
    if c.engine.kind == "queued-banked":
        count = c.engine.queues_of(lanes)
        return {
            "slots": (Slots(c), ""),
            "match": (Match(c), ""),
            "route": (Route(c, count), ""),
            "replies": (Replies(c, count), "uplink_"),
        }
    if c.engine.kind == "matched-banked":
        return {
            "queue": (BatchQueue(places_layout(c), depth), ""),
            "prefix": (Prefix(c), ""),
            "replies": (Replies(c, lanes), "uplink_"),
        }
    return {
        "queue": (BatchQueue(batch_layout(c), depth), ""),
        "sort": (Sort(c), ""),
        "combine": (Combine(c), ""),
        "masks": (Masks(c), "positions"),
        "rounds": (Rounds(c), ""),
        "decombine": (Decombine(c), "uplink_"),
        "unsort": (Unsort(c), ""),
    }


def _pipe(config: OfanConfig, progress: Progress) -> Iterator[Row]:
    c = _in_flops(config)
    banks, answers = c.engine.banks, _answers(c)
    progress(ORDER)
    uplink, positions = price(Uplink(c)), price(Positions(c))
    depth_of = {"uplink_": uplink.depth, "positions": positions.depth}
    blocks = _blocks(c)
    for name, (block, each) in blocks.items():
        progress(name)
        apart = c.masks if each == "positions" else each and c.order != "plain"
        boxes = {f"{each}{n}": depth_of[each] for n in range(answers)} if apart else {}
        if name == "rounds":
            boxes = {"file": 0}
        yield Row(part=name, cost=price(block, boxes=boxes, memories=False))
    progress("banks")
    yield Row(part="banks", cost=price(Bank(c), memories=False).times(banks))
    sweep = price(BankFile(c), boxes={f"bank_{n}": 0 for n in range(banks)}, memories=False)
    yield Row(part="bank sweep", cost=sweep)
    progress("registers and control")
    left_out = dict.fromkeys(blocks, 0) | ({} if "rounds" in blocks else {"file": 0})
    if c.masks and "masks" not in blocks:
        left_out["masks"] = 0
    control = price(pointer_engine(c), boxes=left_out, memories=False)
    yield Row(part="registers and control", cost=control)
    if c.order != "plain":
        yield Row(part=ORDER, cost=uplink.times(answers))
    if c.masks:
        yield from _failures(c, positions, "masks" in blocks, progress)
    depth, b = max(2, rows(c.keys, banks)), c.uplink_bits
    yield from store_rows(STORE, depth, max(1, b), banks, config.engine.storage, progress)
    progress(INITIAL)
    words = [
        sum(_initial(c, key_of(bank, row, banks)) << bank * b for bank in range(banks))
        for row in range(rows(c.keys, banks))
    ]
    yield Row(part=INITIAL, cost=rom(words, b * banks))


def _answers(c: OfanConfig) -> int:
    """Packets of a pipe that get their uplinks in one cycle."""
    lanes = c.lanes_per_pipe
    return c.engine.queues_of(lanes) if c.engine.kind == "queued-banked" else lanes


def _initial(c: OfanConfig, key: int) -> int:
    if key >= c.keys:
        return 0
    size_class, destination = divmod(key, c.destinations)
    return initial_pointer(c, 0, destination, size_class)


def _failures(c: OfanConfig, positions: Cost, by_lane: bool, progress: Progress) -> Iterator[Row]:
    """Yield what failure logic costs beside the blocks: π backwards, and its tables, which every
    lane reads, or each bank its own."""
    banks, part = c.engine.banks, "failure masks"
    readers = c.lanes_per_pipe if by_lane else banks
    told = lambda size: progress(f"{part} ({size})")  # noqa: E731
    progress(part)
    if by_lane:
        index = memory_cost(max(2, c.destinations), max(1, c.mask_bits), readers, 1, told)
        tables = [("index table", index, 1)]
    else:
        left_out = {f"positions_{n}": positions.depth for n in range(banks)}
        logic = price(BankMasks(c), boxes=left_out, memories=False)
        yield Row(part=part, cost=logic)
        depth = max(2, rows(c.keys, banks))
        index = memory_cost(depth, max(1, c.mask_bits), 1, 1, told)
        tables = [("index tables", index, banks)]
    yield Row(part=f"{part}: π backwards", cost=positions.times(readers))
    sets = memory_cost(max(2, c.masks), c.uplinks, readers, 1, told)
    for name, found, count in (*tables, ("sets", sets, 1)):
        cost = found.storage + found.read + found.write
        fitted = found.fit.text() if found.fit else None
        yield Row(part=f"{part}: {name}", cost=cost.times(count), fitted=fitted)


def price_points(progress: Progress, wanted: str = "") -> list[Record]:
    """Price the points of the study whose names have `wanted` in them, with each storage.

    Writes the records of `POINTS` and returns them: those of other points stay as they were. A run
    that is stopped leaves the points that it has.
    """
    kept = read_records(PRICES) if PRICES.exists() else []
    found: dict[str, list[Record]] = {}
    for shape, engine in POINTS:
        for storage in STORAGES:
            name = preset_name(shape, replace(engine, storage=storage))
            found[name] = [record for record in kept if record.preset == name]
    for shape, engine in POINTS:
        for storage in STORAGES:
            point = replace(engine, storage=storage)
            name = preset_name(shape, point)
            if wanted not in name:
                continue
            config = replace(SHAPES[shape], engine=point, masks=0, order="plain")
            told = lambda part, name=name: progress(f"{name}: {part}")  # noqa: E731
            found[name] = []
            for row in price_banked(config, told):
                found[name] += records_of(row.part, name, row.cost, row.fitted)
            write_records(PRICES, chain.from_iterable(found.values()))
    records = list(chain.from_iterable(found.values()))
    write_records(PRICES, records)
    return records


def main() -> None:
    """`python -m synth.pointers edge-k12`: price the points whose names have that in them, all
    without it, and draw the plots of the docs again. Needs netweave[study]."""
    figure_class()  # before minutes go by
    price_points(print, " ".join(sys.argv[1:]))
    waits = read_records(COMMITTED / f"{NAME}.json")
    save_plots(IMAGES, Study(waits, committed_prices()))


if __name__ == "__main__":
    main()
