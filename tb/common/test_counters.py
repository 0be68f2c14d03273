"""Counters: rows added to, read and cleared at every distance, hardware against model."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.hdl import Cat, Module
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out
from hypothesis import given, settings
from hypothesis import strategies as st

from models.common.counters import Counters as Model
from rtl.common.counters import Counters
from rtl.common.stage import Stages
from tb.bench import exercise

NAMES = ("seen", "marked")
BEAT = data.StructLayout({"row": 2, "seen": 1, "marked": 1, "clear": 1})


class Reader(wiring.Component):
    """Counts, and tells what it found."""

    def __init__(self, bits: int) -> None:
        self.bits, self.latency = bits, 2
        layout = data.StructLayout(dict.fromkeys(NAMES, bits))
        super().__init__({"i": In(stream.Signature(BEAT)), "o": Out(stream.Signature(layout))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        rows = Counters(m, NAMES, self.bits, 4)
        stages = Stages(m, self.i, self.o, depth=2, enabled=rows.running)
        here: Any = stages.register(self.i.p, "here")
        steps = {name: here[name] for name in NAMES}
        found = rows.connect(stages, self.i.p.row, steps, here.clear)
        m.d.comb += self.o.payload.as_value().eq(
            Cat(stages.register(found[name], name) for name in NAMES)
        )
        return m


@settings(max_examples=15, deadline=None)
@given(bits=st.sampled_from([8, 9, 32]), seed=st.integers(0, 99), data=st.data())
def test_hardware(bits: int, seed: int, data: st.DataObject) -> None:
    beat = st.fixed_dictionaries(
        {
            "row": st.integers(0, 1),
            "seen": st.sampled_from([0, 1, 1, 1]),
            "marked": st.integers(0, 1),
            "clear": st.sampled_from([0] * 40 + [1]),
        }
    )
    first, second = (data.draw(st.lists(beat, min_size=20, max_size=60)) for _ in range(2))
    model = Model(NAMES, bits, 4)

    def expected(beats: list[dict[str, int]], model: Model) -> list[dict[str, int]]:
        found = []
        for b in beats:
            found.append(model.read(b["row"], clear=bool(b["clear"])))
            if not b["clear"]:
                model.count(b["row"], {name: bool(b[name]) for name in NAMES})
        return found

    fast, slow, after = exercise(Reader(bits), first, second, seed=seed, wait=7)
    for answers, wanted in (
        (fast, expected(first, model)),
        (slow, expected(second, model)),
        (after, expected(first, Model(NAMES, bits, 4))),
    ):
        assert [{name: answer[name] for name in NAMES} for answer in answers] == wanted


def test_the_lower_half_carries_and_all_wraps() -> None:
    beats = [{"row": 0, "seen": 1, "marked": 0, "clear": 0}] * 300
    fast, _, _ = exercise(Reader(8), beats, beats[:1], wait=7)
    assert [answer["seen"] for answer in fast] == [n % 256 for n in range(300)]


def test_bits_are_checked() -> None:
    with pytest.raises(ValueError, match="bits must be an integer from 8 to 32, not 7"):
        Counters(Module(), NAMES, 7, 4)
