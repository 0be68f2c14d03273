"""Place against its model, and the model against the digits of a key."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from models.ofan.place import key_of, place, rows
from rtl.ofan.match import row_bits
from rtl.ofan.place import Place, to_key, to_place

BANKS = (1, 2, 4, 8, 16, 32, 64)
MOST_KEYS = 65_536 * 8


def test_model_by_hand() -> None:
    """27 is 123 to the base 4, and 1 XOR 2 XOR 3 is 0."""
    assert place(27, 4) == (0, 6)
    assert place(27, 1) == (0, 27)
    assert [place(key, 4)[0] for key in range(8)] == [0, 1, 2, 3, 1, 0, 3, 2]
    assert [rows(keys, 4) for keys in (1, 4, 5)] == [1, 1, 2]


@pytest.mark.parametrize("banks", BANKS)
def test_model_gives_every_key_a_place_of_its_own(banks: int) -> None:
    """Each bank of a row has one key, so the places are as many as the keys and all different."""
    keys = np.arange(MOST_KEYS)
    bank, row = place(keys, banks)
    assert (np.sort(bank.reshape(-1, banks)) == np.arange(banks)).all()
    assert (row == keys // banks).all()
    assert row[-1] == rows(MOST_KEYS, banks) - 1
    assert (key_of(bank, row, banks) == keys).all()


@given(st.integers(0, MOST_KEYS - 1), st.sampled_from(BANKS))
def test_model_is_the_same_for_one_key(key: int, banks: int) -> None:
    bank, row = place(key, banks)
    assert key_of(bank, row, banks) == key
    assert (bank, row) == tuple(int(part[0]) for part in place(np.array([key]), banks))


@given(st.integers(0, MOST_KEYS - 1), st.sampled_from(BANKS[1:]), st.integers(0, 3), st.data())
def test_model_parts_keys_that_differ_in_one_digit(
    key: int, banks: int, digit: int, data: st.DataObject
) -> None:
    step = banks**digit
    old = key // step % banks
    new = data.draw(st.integers(0, banks - 1).filter(lambda value: value != old))
    assert place(key, banks)[0] != place(key + (new - old) * step, banks)[0]


@pytest.mark.parametrize("banks", BANKS)
@pytest.mark.parametrize(("destinations", "classes"), [(11, 3), (16, 2), (37, 1), (8, 8), (1, 1)])
def test_places_of_all_packets(destinations: int, classes: int, banks: int) -> None:
    engine = Engine(kind="queued-banked", banks=banks)
    c = OfanConfig(
        lanes=2, uplinks=3, destinations=destinations, size_classes=classes, engine=engine
    )
    m = Module()
    m.submodules.dut = dut = Place(c)
    key, placed, again = Signal(c.key_bits), Signal(c.key_bits), Signal(c.key_bits)
    m.d.comb += [placed.eq(to_place(c, key)), again.eq(to_key(c, placed))]

    async def bench(ctx: Any) -> None:
        for size_class in range(classes):
            for destination in range(destinations):
                number = c.key(destination, size_class)
                bank, row = place(number, banks)
                ctx.set(dut.destination, destination)
                ctx.set(dut.size_class, size_class)
                assert (ctx.get(dut.bank), ctx.get(dut.row)) == (bank, row)
                ctx.set(key, number)
                assert ctx.get(placed) == bank << row_bits(c) | row
                assert ctx.get(again) == number

    simulator = Simulator(m)
    simulator.add_testbench(bench)
    simulator.run()
