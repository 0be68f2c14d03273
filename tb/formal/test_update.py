"""Proof of the update stage, pipelined with forwarding, against registers without a pipeline."""

from __future__ import annotations

import pytest
from amaranth.hdl import Array, Cat, Const, Mux, Signal, Value

from models.ofan.config import OfanConfig
from models.ofan.switch import initial_pointer
from rtl.ofan.masks import masked_fields
from rtl.ofan.update import Update
from tb.formal.bench import Bench
from tb.formal.naive import below, total
from tb.formal.prove import prove

pytestmark = pytest.mark.formal


def served(
    bench: Bench, pointer: Value, mask: Value | None, turn: Value, w: int, name: str
) -> Value:
    """Return the pointer once the packets 0 to `turn` of a group have each taken a position."""
    taken: Value = Const(0, 4)
    behind: Value = pointer
    position: Value = pointer
    for step in range(2 * w):
        here = (Const(1, 1) if mask is None else mask.bit_select(position, 1)) & (taken <= turn)
        onward = bench.named(
            Mux(position == w - 1, 0, position + 1), len(pointer), f"{name}_{step}"
        )
        behind = bench.named(Mux(here, onward, behind), len(pointer), f"{name}_behind_{step}")
        taken = bench.named(taken + here, 4, f"{name}_taken_{step}")
        position = onward
    return behind


CASES = {
    "w3": OfanConfig(lanes=2, uplinks=3, destinations=3, size_classes=1, masks=0),
    "w3-masks": OfanConfig(lanes=2, uplinks=3, destinations=2, size_classes=1, masks=2),
    "w4-masks": OfanConfig(lanes=2, uplinks=4, destinations=2, size_classes=1, masks=2),
    "w4-keys": OfanConfig(lanes=2, uplinks=4, destinations=2, size_classes=2, masks=0),
}


@pytest.mark.parametrize("name", CASES)
def test_update_is_a_register_file(name: str) -> None:
    """All sequences of batches, stalls and idle cycles up to the depth, sweep included."""
    c = CASES[name]
    w, lanes = c.uplinks, c.lanes
    bench = Bench()
    m = bench.m
    m.submodules.dut = dut = Update(c)
    bench.drive(dut.i)
    bench.drain(dut.o)
    items = list(dut.i.p.items)
    masters = [item.valid & item.master for item in items]
    bench.assume(~(masters[0] & masters[1] & (items[0].key == items[1].key)))
    for item in items:
        bench.assume((item.key < c.keys) & (~item.master | item.valid))
        if c.masks:
            bench.assume(item.ways == total(item.mask))
            bench.assume((item.turn < item.ways) | (item.ways == 0))
        else:
            bench.assume(item.turn < w)

    file = Array(
        Signal(c.uplink_bits, init=initial_pointer(c, 0, d, t), name=f"pointer{d}_{t}")
        for t in range(c.size_classes)
        for d in range(c.destinations)
    )
    taken = bench.see("taken", dut.i.valid & dut.i.ready)
    left = bench.see("left", dut.o.valid & dut.o.ready)
    number = bench.constant(3, "number")
    came_count, left_count = Signal(6), Signal(6)
    m.d.sync += [came_count.eq(came_count + taken), left_count.eq(left_count + left)]
    kept = Signal(dut.i.payload.shape())
    bases = Signal(lanes * 4)
    fetched = []
    for lane, item in enumerate(items):
        pointer = bench.named(file[item.key], c.uplink_bits, f"fetched_{lane}")
        mask = item.mask if c.masks else None
        base = pointer if mask is None else below(mask, pointer)
        fetched.append(bench.named(base, 4, f"expected_{lane}"))
        behind = served(bench, pointer, mask, item.turn, w, f"served_{lane}")
        with m.If(taken & masters[lane] & (item.ways != 0 if c.masks else 1)):
            m.d.sync += file[item.key].eq(behind)
    with m.If(taken & (came_count == number)):
        m.d.sync += [kept.eq(dut.i.payload), bases.eq(Cat(fetched))]

    ours = bench.see("ours", dut.o.valid & (left_count == number))
    bench.check("none_from_nothing", ~dut.o.valid | (left_count < came_count))
    bench.check("fence", ~ours | (dut.o.p.fence == kept.fence))
    for lane in range(lanes):
        out, item = dut.o.p.items[lane], kept.items[lane]
        passed = [getattr(out, field) == getattr(item, field) for field in masked_fields(c)]
        bench.check(f"passed_{lane}", ~ours | Cat(passed).all())
        asked = item.valid & item.master & (item.ways != 0 if c.masks else 1)
        bench.check(f"base_{lane}", ~ours | ~asked | (out.base == bases.word_select(lane, 4)))
    prove(bench, f"update-{name}", depth=c.keys + 2 + dut.latency + 5, induction=False)
