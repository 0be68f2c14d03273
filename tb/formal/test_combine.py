"""Proof of the combine stage against a count one lane after another."""

from __future__ import annotations

import pytest
from amaranth.hdl import Cat, Value

from models.ofan.config import OfanConfig
from rtl.ofan.combine import Combine
from tb.formal.bench import Bench
from tb.formal.naive import total
from tb.formal.prove import prove

pytestmark = pytest.mark.formal


@pytest.mark.parametrize(("lanes", "ranks_per_stage"), [(4, 1), (5, 3)])
def test_combine_counts(lanes: int, ranks_per_stage: int) -> None:
    """For every sorted batch; batches do not meet in this stage."""
    config = OfanConfig(
        lanes=lanes,
        uplinks=2,
        destinations=4,
        size_classes=1,
        ranks_per_stage=ranks_per_stage,
    )
    bench = Bench()
    bench.m.submodules.dut = dut = Combine(config)
    bench.drive(dut.i)
    bench.drain(dut.o, ready=1)
    for low, high in zip(list(dut.i.p.items), list(dut.i.p.items)[1:], strict=False):
        bench.assume(low.valid | ~high.valid)
        bench.assume((low.key <= high.key) | ~high.valid)
    before: Value = Cat(dut.i.valid, dut.i.payload)
    for cycle in range(dut.latency):
        before = bench.past(before, f"{cycle}")
    batch = dut.i.payload.shape()(before[1:])
    checked = dut.o.valid
    bench.check("in_time", ~checked | before[0])
    bench.check("fence", ~checked | (dut.o.p.fence == batch.fence))
    for lane in range(lanes):
        out, item = dut.o.p.items[lane], batch.items[lane]
        passed = Cat(out.valid, out.key, out.lane) == Cat(item.valid, item.key, item.lane)
        bench.check(f"passed_{lane}", ~checked | passed)

        def mates(others: range, key: Value = item.key) -> list[Value]:
            return [batch.items[n].valid & (batch.items[n].key == key) for n in others]

        position = total(mates(range(lane)))
        last = total(mates(range(lane + 1, lanes))) == 0
        right = out.master == last
        right &= out.position == position
        bench.check(f"counted_{lane}", ~checked | ~item.valid | right)
        bench.check(f"idle_{lane}", ~checked | item.valid | ~out.master)
    prove(bench, f"combine-{lanes}", depth=dut.latency + 4, induction=False)
