"""Store against its model: flip-flops in Amaranth's simulator, latches and static cells as
Verilog."""

from __future__ import annotations

import ctypes
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In
from amaranth.sim import Simulator

from models.common import store as model_of
from rtl.common.store import MODULES, Store
from rtl.verilog import to_verilog
from tb.verilated import build_library

DEPTH, WIDTH = 5, 9

Cycle = tuple[int | None, tuple[int, int] | None]
"""The row that is read, and (row, word) that are written; None: not in this cycle."""


def test_model_reads_what_was_there_before() -> None:
    store = model_of.Store(2)
    store.cycle(1, (1, 7))
    assert store.data == 0
    store.cycle(None, (1, 8))
    assert store.data == 0
    store.cycle(1, None)
    assert store.data == 8


def cycles(depth: int, width: int, count: int) -> Iterator[Cycle]:
    """Write every row and read one, then do both at random, often with one row."""
    rng = random.Random(depth)
    for row in range(depth):
        yield None, (row, rng.getrandbits(width))
    yield 0, None
    for _ in range(count):
        row = rng.randrange(depth)
        other = rng.choice([row, rng.randrange(depth)])
        yield (
            row if rng.random() < 0.7 else None,
            (other, rng.getrandbits(width)) if rng.random() < 0.7 else None,
        )


def inputs(cycle: Cycle, depth: int, width: int, rng: random.Random) -> dict[str, int]:
    """The inputs in a cycle, noise where they say nothing."""
    read, write = cycle
    row, word = write or (rng.randrange(depth), rng.getrandbits(width))
    return {
        "read": int(read is not None),
        "read_row": rng.randrange(depth) if read is None else read,
        "write": int(write is not None),
        "write_row": row,
        "write_data": word,
    }


@pytest.mark.parametrize(("depth", "width"), [(2, 1), (DEPTH, WIDTH), (16, 3)])
def test_flops(depth: int, width: int) -> None:
    dut, model, rng = Store(depth, width, "flops"), model_of.Store(depth), random.Random(0)

    async def bench(ctx: Any) -> None:
        for cycle in cycles(depth, width, 200):
            for name, value in inputs(cycle, depth, width, rng).items():
                ctx.set(getattr(dut, name), value)
            await ctx.tick()
            model.cycle(*cycle)
            assert ctx.get(dut.read_data) == model.data

    simulator = Simulator(dut)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()


class Stores(wiring.Component):
    """What Amaranth's simulator does not know, side by side: one library serves both tests."""

    def __init__(self) -> None:
        ports = dict(Store(DEPTH, WIDTH, "sram").signature.members)
        ports |= dict.fromkeys(MODULES, ports.pop("read_data"))
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for storage in MODULES:
            m.submodules[storage] = store = Store(DEPTH, WIDTH, storage)
            m.d.comb += [
                getattr(store, name).eq(getattr(self, name))
                for name, member in store.signature.members.items()
                if member.flow is In
            ]
            m.d.comb += getattr(self, storage).eq(store.read_data)
        return m


@cache
def library() -> ctypes.CDLL:
    wrapper = Path(__file__).with_name("store.cpp").read_text()
    return build_library(to_verilog(Stores(), "stores"), "stores", wrapper)


@pytest.mark.parametrize("storage", MODULES)
def test_verilog(storage: str) -> None:
    verilated, model, rng = library(), model_of.Store(DEPTH), random.Random(0)
    for number, cycle in enumerate(cycles(DEPTH, WIDTH, 1000)):
        verilated.store_cycle(*inputs(cycle, DEPTH, WIDTH, rng).values())
        model.cycle(*cycle)
        if number >= DEPTH:  # before, nothing was read
            assert getattr(verilated, f"store_{storage}")() == model.data, f"cycle {number}"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1, 8, "flops"), "depth must be an integer from 2 to 65536, not 1"),
        ((2, 0, "flops"), "width must be an integer from 1 to 1024, not 0"),
        ((2, 8, "paper"), "storage must be one of flops, latches, sram, not 'paper'"),
    ],
)
def test_bad_parameters(arguments: tuple[int, int, str], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        Store(*arguments)
