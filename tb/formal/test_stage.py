"""Proofs of the handshakes: the stream rules at each block's output, nothing lost or doubled, and
no path from valid to ready."""

from __future__ import annotations

from typing import Any

import pytest
from amaranth.hdl import Signal, unsigned
from amaranth.lib import stream

from models.common.sorter import sorting_network
from models.ofan.config import OfanConfig
from rtl.common.sorter import Sorter
from rtl.common.stage import Stages
from rtl.ofan.combine import Combine
from rtl.ofan.decombine import Decombine
from rtl.ofan.lookup import Lookup
from rtl.ofan.masks import Masks
from rtl.ofan.pipeline import Pipeline
from rtl.ofan.sort import Sort
from rtl.ofan.switch import Switch
from rtl.ofan.unsort import Unsort
from rtl.ofan.update import Update
from tb.formal.bench import Bench
from tb.formal.naive import total
from tb.formal.paths import combinational_inputs
from tb.formal.prove import Disproved, prove

pytestmark = pytest.mark.formal

SMALL = OfanConfig(lanes=2, uplinks=3, destinations=2, size_classes=2, masks=2)
TABLE = OfanConfig(lanes=2, uplinks=2, destinations=3, masks=0, lookup="table", host_bits=1)
ALIGNED = OfanConfig(lanes=2, uplinks=2, destinations=3, masks=0, lookup="aligned", host_bits=1)


def blocks() -> dict[str, Any]:
    """One of each block with a stream at both ends."""
    sorter = Sorter(sorting_network("bitonic", 4), lanes=4, key_bits=2, ranks_per_stage=1)
    made = [Sort, Combine, Masks, Update, Decombine, Unsort, Pipeline]
    return {
        "sorter": sorter,
        **{block.__name__.lower(): block(SMALL) for block in made},
        "table": Lookup(TABLE),
        "aligned": Lookup(ALIGNED),
    }


def test_blocks_keep_the_stream_rules() -> None:
    """By 2-induction: for any input, any stalls, and resets in any cycle."""
    bench = Bench(resets=True)
    for name, block in blocks().items():
        bench.m.submodules[name] = block
        bench.drive(block.i, f"{name}_i")
        bench.drain(block.o, f"{name}_o")
        if hasattr(block, "write"):
            bench.drive(block.write, f"{name}_write")
        bench.keeps_stream_rules(block.o.valid, block.o.ready, block.o.payload, f"{name}_o")
    prove(bench, "stream-rules", depth=2)


def tracked(depth: int, forget: bool = False) -> Bench:
    """A bench in which beats carry running numbers through `depth` stages.

    With `forget` a beat that enters while another leaves is not counted.
    """
    width = (depth + 1).bit_length() + 1
    bench = Bench(resets=True)
    m = bench.m
    ends = stream.Signature(unsigned(width))
    i, o = ends.flip().create(), ends.create()
    enabled = bench.free(1, "enabled")
    bench.m.d.comb += i.valid.eq(bench.free(1, "i_valid"))
    stages = Stages(m, i, o, depth=depth, enabled=enabled)
    held = [stages.register(i.payload, "held_0")]
    for stage in range(1, depth):
        held.append(stages.register(held[-1], f"held_{stage}"))
    bench.drain(o)
    sent, left = Signal(width), Signal(width)
    entered = bench.see("entered", i.valid & i.ready)
    counted = entered & ~(o.valid & o.ready) if forget else entered
    gone = bench.see("gone", o.valid & o.ready)
    m.d.comb += [i.payload.eq(sent), o.payload.eq(held[-1])]
    m.d.sync += [sent.eq(sent + counted), left.eq(left + gone)]
    under_way = total(stages.valid)
    bench.check("each_once_in_order", ~o.valid | (o.payload == left))
    bench.check("none_lost", (sent - left)[:width] == under_way)
    for stage, number in enumerate(held):
        ahead = total(stages.valid[stage + 1 :])
        bench.check(f"stage_{stage}", ~stages.valid[stage] | (number == (left + ahead)[:width]))
    bench.check("moves_on", ~(enabled & ~stages.valid[-1]) | i.ready)
    return bench


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_no_beat_is_lost_doubled_or_reordered(depth: int) -> None:
    """By 1-induction: each stage holds the number that is due there."""
    prove(tracked(depth), f"stages-{depth}", depth=1)


def test_a_lost_beat_is_seen() -> None:
    with pytest.raises(Disproved, match=r"a counterexample is\ncycle +0 +1 (.|\n)*FAILS"):
        prove(tracked(2, forget=True), "stages-forget", depth=6, induction=False)


@pytest.mark.parametrize("name", blocks())
def test_ready_does_not_hang_on_valid(name: str) -> None:
    block = blocks()[name]
    inputs = combinational_inputs(block, "i__ready")
    assert "o__ready" in inputs
    assert "i__valid" not in inputs
    assert "i__payload" not in inputs
    assert "o__ready" not in combinational_inputs(block, "o__valid")


def test_switch_ready_does_not_hang_on_valid() -> None:
    ready = combinational_inputs(Switch(SMALL), "s_axis_tready")
    assert "m_axis_tready" in ready
    assert not ready & {"s_axis_tvalid", "s_axis_tkeep", "s_axis_tdata"}
    assert combinational_inputs(Switch(SMALL), "m_axis_tvalid") == set()
    assert "s_mask_tvalid" not in combinational_inputs(Switch(SMALL), "s_mask_tready")


def test_a_path_is_seen() -> None:
    """With no stage the two ends are wired together, and then there is such a path."""
    straight = Sorter(sorting_network("bitonic", 1), lanes=1, key_bits=1)
    assert "i__valid" in combinational_inputs(straight, "o__valid")
