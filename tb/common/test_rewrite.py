"""Rewrite: each beat sees what all before it have left, at every distance, through any stall."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from hypothesis import given, settings
from hypothesis import strategies as st

from models.common.rewrite import Rewrite as Model
from rtl.common.rewrite import Rewrite
from rtl.common.stage import Stages
from tb.bench import exercise

ASK = data.StructLayout({"address": 3, "add": 4, "write": 1})


class Adder(wiring.Component):
    """Adds to a word and tells what it was; enough to see every lost or doubled change."""

    def __init__(self, depth: int, latency: int, init: int) -> None:
        self.depth, self.latency, self.init = depth, latency, init
        super().__init__({"i": In(stream.Signature(ASK)), "o": Out(stream.Signature(8))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        file = Rewrite(m, 8, self.depth, self.init, "file")
        stages = Stages(m, self.i, self.o, depth=self.latency, enabled=file.running)
        here: Any = stages.register(self.i.p, "here")
        value, after = file.connect(stages, self.i.p.address, here.write)
        m.d.comb += after.eq(value + here.add)
        for _ in range(self.latency - 1):
            value = stages.register(value)
        m.d.comb += self.o.payload.eq(value)
        return m


@settings(max_examples=30, deadline=None)
@given(
    depth=st.integers(1, 8),
    latency=st.integers(2, 4),
    init=st.integers(0, 255),
    seed=st.integers(0, 99),
    data=st.data(),
)
def test_hardware(depth: int, latency: int, init: int, seed: int, data: st.DataObject) -> None:
    beat = st.fixed_dictionaries(
        {
            "address": st.integers(0, depth - 1),
            "add": st.integers(0, 15),
            "write": st.integers(0, 1),
        }
    )
    first, second = (data.draw(st.lists(beat, min_size=20, max_size=40)) for _ in range(2))
    dut = Adder(depth, latency, init)
    fast, slow, after = exercise(dut, first, second, seed=seed, wait=depth + 3)

    def expected(model: Model[int], beats: list[dict[str, int]]) -> list[int]:
        return [
            model.change(b["address"], lambda w, b=b: (w + b["add"] * b["write"]) % 256)
            for b in beats
        ]

    model: Model[int] = Model(depth, init)
    assert fast == expected(model, first)
    assert slow == expected(model, second)
    assert after == expected(Model(depth, init), first)


@pytest.mark.parametrize("distance", range(1, 6))
def test_every_distance(distance: int) -> None:
    other = {"address": 1, "add": 3, "write": 1}
    beats = [{"address": 0, "add": 5, "write": 1}, *[other] * (distance - 1)] * 4
    fast, _, _ = exercise(Adder(2, 2, 0), beats, beats, wait=5)
    assert fast[::distance] == [0, 5, 10, 15]


def test_depth_is_checked() -> None:
    with pytest.raises(ValueError, match="depth must be an integer from 1 to 65536, not 0"):
        Rewrite(Module(), 8, 0, 0, "file")
