"""BankFile and Route against the model: pointers that move on in every cycle, and the sweep."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import pytest
from amaranth.hdl import ClockDomain, Module
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.ofan import banks as model_of
from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.order import valid_positions
from models.ofan.place import key_of, rows
from rtl.ofan.banks import BankFile, Route, visit_layout
from tb.ofan.reference import FEW, noise

Visit = tuple[int, int, int]
"""Row, packets (0 is no visit), set of uplinks."""


def test_model_serves_the_pointer_of_a_place() -> None:
    """Bank 3 of four has key 6 in row 1; a pointer passes the uplinks that are down."""
    engine = Engine(kind="queued-banked", banks=4)
    config = OfanConfig(
        lanes=4, uplinks=4, destinations=8, order="plain", init="zero", engine=engine
    )
    file = model_of.BankFile(config)
    assert key_of(3, 1, 4) == 6
    assert file.visit(3, 1, 3, 0b1111) == 0
    assert file.file.pointers[6] == 3
    assert file.visit(3, 1, 1, 0b0011) == 2
    assert file.file.pointers[6] == 1
    assert file.visit(3, 1, 5, 0) == 0
    assert file.visit(3, 1, 1, 0b1111) == 1
    assert file.file.pointers[:6] == [0] * 6


class Watch:
    """The file, visit by visit, against its model."""

    def __init__(self, config: OfanConfig, dut: BankFile, seed: int) -> None:
        self.config, self.dut, self.rng = config, dut, random.Random(seed)

    async def sweep(self, ctx: Any) -> None:
        """Wait until the file runs, with noise at its ports."""
        ctx.set(self.dut.advance, 0)
        cycles = 0
        while not ctx.get(self.dut.running):
            self._noise(ctx, writes=1)
            await ctx.tick()
            cycles += 1
        assert cycles == rows(self.config.keys, self.config.engine.banks) + 1
        self._noise(ctx, writes=0)
        self.model = model_of.BankFile(self.config, self.dut.pipe)

    async def run(self, ctx: Any, steps: Iterable[list[Visit]]) -> None:
        """Bring a visit to every bank in every step, with pauses."""
        rng, last = self.rng, [(0, 0, 0)] * self.config.engine.banks
        for step in steps:
            while True:
                advance = rng.random() < 0.8
                self._noise(ctx, writes=rng.randrange(2))
                ctx.set(self.dut.advance, advance)
                if advance:
                    break
                await ctx.tick()
            for bank, (now, before) in enumerate(zip(step, last, strict=True)):
                ctx.set(self.dut.rows[bank], now[0])
                self._visit(ctx, bank, before)
            last = step
            await ctx.tick()

    def _noise(self, ctx: Any, writes: int) -> None:
        depth = rows(self.config.keys, self.config.engine.banks)
        for bank, visit in enumerate(self.dut.visits):
            ctx.set(self.dut.rows[bank], self.rng.randrange(depth))
            shape = visit_layout(self.config)
            ctx.set(visit, noise(shape, {"writes": writes}, self.rng))

    def _visit(self, ctx: Any, bank: int, visit: Visit) -> None:
        """Serve the row that was read in the cycle before, and look at its base."""
        c, (row, count, reached) = self.config, visit
        assert c.order is not None
        valid = valid_positions(c.order, c.uplinks, key_of(bank, row, c.engine.banks), reached)
        known = {"writes": int(bool(count and valid))}
        if known["writes"]:
            known["turn"] = (count - 1) % len(valid)
        if c.masks and count:
            known["ways"] = len(valid)
            if len(valid) < c.uplinks:
                known["mask"] = sum(1 << i for i in valid)
        ctx.set(self.dut.visits[bank], noise(visit_layout(c), known, self.rng))
        if count:
            base = self.model.visit(bank, row, count, reached)
            assert not valid or ctx.get(self.dut.bases[bank]) == base


def check(dut: BankFile, seed: int, first: list[list[Visit]], second: list[list[Visit]]) -> None:
    """Run `first`, and `second` after a reset."""
    watch = Watch(dut.config, dut, seed)

    async def bench(ctx: Any) -> None:
        await watch.sweep(ctx)
        await watch.run(ctx, first)
        ctx.set(reset, 1)
        await ctx.tick()
        ctx.set(reset, 0)
        await watch.sweep(ctx)
        await watch.run(ctx, second)

    top = Module()
    top.domains.sync = domain = ClockDomain("sync")
    reset = domain.rst
    top.submodules.dut = dut
    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()


def random_visit(c: OfanConfig, bank: int, row: int, rng: random.Random, load: float) -> Visit:
    everything = (1 << c.uplinks) - 1
    reached = rng.choice([everything, rng.randint(0, everything), 0]) if c.masks else everything
    there = key_of(bank, row, c.engine.banks) < c.keys and rng.random() < load
    return row, rng.randint(1, c.lanes_per_pipe) if there else 0, reached


def random_steps(c: OfanConfig, rng: random.Random, count: int) -> list[list[Visit]]:
    depth, banks = rows(c.keys, c.engine.banks), range(c.engine.banks)
    load = rng.choice([0.5, 0.9, 1])
    return [
        [random_visit(c, bank, rng.randrange(depth), rng, load) for bank in banks]
        for _ in range(count)
    ]


def apart(c: OfanConfig, rng: random.Random, distance: int) -> list[list[Visit]]:
    """Row 0 is visited every `distance` cycles, and others between, most times."""
    depth, banks = rows(c.keys, c.engine.banks), range(c.engine.banks)
    steps = []
    for cycle in range(40):
        hot = cycle % distance == 0
        row = 0 if hot else rng.randrange(1, depth)
        steps.append([random_visit(c, bank, row, rng, 1 if hot else 0.8) for bank in banks])
    return steps


@pytest.mark.parametrize("uplinks", [5, 8])
@pytest.mark.parametrize("masks", [0, 2])
@pytest.mark.parametrize("distance", [1, 2, 3, 4])
def test_one_row_again(distance: int, masks: int, uplinks: int) -> None:
    engine = Engine(kind="queued-banked", banks=2)
    config = OfanConfig(lanes=8, uplinks=uplinks, destinations=4, masks=masks, engine=engine)
    steps = apart(config, random.Random(distance), distance)
    check(BankFile(config), distance, steps, steps)


@FEW
@given(
    st.sampled_from([1, 2, 4]),
    st.integers(1, 8),
    st.integers(1, 7),
    st.integers(1, 9),
    st.integers(0, 1),
    st.integers(0, 2**32),
)
def test_files_of_any_size(
    banks: int, lanes: int, uplinks: int, destinations: int, masks: int, seed: int
) -> None:
    engine = Engine(kind="queued-banked", banks=banks)
    c = OfanConfig(
        lanes=lanes, uplinks=uplinks, destinations=destinations, masks=masks, engine=engine
    )
    rng = random.Random(seed)
    check(BankFile(c), seed, random_steps(c, rng, 30), random_steps(c, rng, 30))


def test_second_pipe_has_pointers_of_its_own() -> None:
    engine = Engine(kind="queued-banked", banks=4)
    c = OfanConfig(
        lanes=4, pipe_lanes=2, uplinks=7, destinations=11, masks=0, engine=engine
    )  # the last row is not full
    rng = random.Random(1)
    check(BankFile(c, 1), 1, random_steps(c, rng, 40), random_steps(c, rng, 40))


@pytest.mark.parametrize("banks", [1, 4])
def test_rows_come_to_their_banks(banks: int) -> None:
    packets, rng = 6, random.Random(banks)
    engine = Engine(kind="queued-banked", banks=banks)
    dut = Route(OfanConfig(lanes=12, uplinks=2, destinations=20, engine=engine), packets)

    async def bench(ctx: Any) -> None:
        for _ in range(30):
            wanted = [rng.randrange(rows(40, banks)) for _ in range(banks)]
            asks = [0] * banks
            for number in range(packets):
                bank, there = rng.randrange(banks), rng.random() < 0.5
                row = wanted[bank] if there else rng.randrange(rows(40, banks))
                ctx.set(dut.packets[number], {"there": there, "bank": bank, "row": row})
                asks[bank] |= there << number
            for bank in range(banks):
                assert ctx.get(dut.asks[bank]) == asks[bank]
                assert ctx.get(dut.rows[bank]) == (wanted[bank] if asks[bank] else 0)

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()
