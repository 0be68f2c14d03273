"""BankMasks against the shared masks and the order of each pointer."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Value
from amaranth.sim import Simulator

from models.ofan.bank_masks import places_of
from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.masks import SharedMasks
from models.ofan.order import valid_positions
from models.ofan.place import key_of, rows
from rtl.ofan.bank_masks import BankMasks
from tb.bench import bits_of
from tb.ofan.reference import random_write, write_fields


def test_model_writes_a_destination_once_a_size_class() -> None:
    """Destination 3 of eight has keys 3, 11 and 19; each in its bank of four."""
    engine = Engine(kind="matched-banked", banks=4, group=2)
    config = OfanConfig(lanes=2, uplinks=2, destinations=8, size_classes=3, engine=engine)
    assert [key_of(bank, row, 4) for bank, row in places_of(config, 3)] == [3, 11, 19]


@pytest.mark.parametrize("order", ["plain", None])
@pytest.mark.parametrize(
    ("uplinks", "destinations", "classes", "masks", "banks"),
    [(6, 5, 2, 3, 4), (8, 9, 1, 1, 2), (5, 3, 3, 4, 8), (1, 2, 2, 2, 1)],
)
def test_masks_of_all_rows_after_every_write(
    uplinks: int, destinations: int, classes: int, masks: int, banks: int, order: Any
) -> None:
    engine = Engine(kind="matched-banked", banks=banks, group=2)
    c = OfanConfig(
        lanes=2,
        uplinks=uplinks,
        destinations=destinations,
        size_classes=classes,
        masks=masks,
        order=order,
        engine=engine,
    )
    dut, shared, rng = BankMasks(c), SharedMasks(c), random.Random(uplinks)
    depth = rows(c.keys, banks)

    async def write(ctx: Any) -> None:
        change = random_write(c, rng)
        shared.write(change)
        ctx.set(Value.cast(dut.write.payload), bits_of(dut.write.payload, write_fields(change)))
        ctx.set(dut.write.valid, 1)
        for wait in range(3):
            ctx.set(dut.idle, wait == 2)
            _, _, ready = await ctx.tick().sample(dut.write.ready)
            assert not ready or wait == 2
        cycles = 1
        while not ready:
            _, _, ready = await ctx.tick().sample(dut.write.ready)
            cycles += 1
        assert cycles == (1 if change.select else classes)
        ctx.set(dut.write.valid, 0)

    async def look(ctx: Any, row: int) -> None:
        for bank in range(banks):
            ctx.set(dut.rows[bank], row)
        for advance in (1, 0, 1, 1):  # a pause in the middle changes nothing
            ctx.set(dut.advance, advance)
            await ctx.tick()
            for bank in range(banks):
                ctx.set(dut.rows[bank], rng.randrange(depth))
        for bank in range(banks):
            key = key_of(bank, row, banks)
            if key < c.keys:
                assert c.order is not None
                valid = valid_positions(c.order, uplinks, key, shared.set_of(key % destinations))
                assert ctx.get(dut.ways[bank]) == len(valid)
                if len(valid) < uplinks:
                    assert ctx.get(dut.masks[bank]) == sum(1 << i for i in valid)

    async def bench(ctx: Any) -> None:
        ctx.set(dut.advance, 1)
        cycles = 0
        while not ctx.get(dut.running):
            await ctx.tick()
            cycles += 1
        assert cycles == max(depth, masks)
        for _ in range(8):
            for row in range(depth):
                await look(ctx, row)
            await write(ctx)

    simulator = Simulator(dut)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
