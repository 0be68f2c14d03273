"""Stage 1 of Ofan's pipeline: sort the batch by pointer key (seed appendix I)."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.sorter import sorting_network
from models.ofan.config import OfanConfig
from rtl.common.sorter import Sorter


def batch_layout(c: OfanConfig) -> data.StructLayout:
    """A batch in lane order: `fence`, and `lanes` of `valid` and pointer `key`.

    A beat with `fence` has no packets: it marks a change of the failure masks between two batches.
    """
    lane = data.StructLayout({"valid": 1, "key": unsigned(c.key_bits)})
    return data.StructLayout({"fence": 1, "lanes": data.ArrayLayout(lane, c.lanes_per_pipe)})


def item_fields(c: OfanConfig) -> dict[str, object]:
    """Fields of one packet in sorted order: `valid`, `key`, and the `lane` it came in on."""
    return {"valid": 1, "key": unsigned(c.key_bits), "lane": unsigned(c.lane_bits)}


def beat_layout(c: OfanConfig, fields: dict[str, object]) -> data.StructLayout:
    """A batch in sorted order: `fence`, and `items` with the given fields."""
    item = data.StructLayout(fields)  # type: ignore[arg-type]
    return data.StructLayout({"fence": 1, "items": data.ArrayLayout(item, c.lanes_per_pipe)})


class Sort(wiring.Component):
    """Brings packets with the same pointer key side by side, lanes in order within a key, idle
    lanes last. Latency ⌈ranks / ranks_per_stage⌉ cycles (15 for 32 bitonic lanes); throughput one
    batch a cycle.

    No sorting network is stable, so the lane number is the low end of the key that is compared:
    keys become distinct, and packets of one key stay in lane order. Implements step (1) of the
    seed's appendix I.

    Args:
        config: an `OfanConfig`; lanes of one pipe, `network` and `ranks_per_stage` are used.

    Ports:
        i (stream of `batch_layout`): the batch in lane order.
        o (stream of `beat_layout` with `item_fields`): the batch sorted by (idle, key, lane).
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        network = sorting_network(c.network, c.lanes_per_pipe)
        self.sorter = Sorter(
            network,
            lanes=c.lanes_per_pipe,
            key_bits=1 + c.key_bits + c.lane_bits,
            tag_bits=1,
            ranks_per_stage=c.ranks_per_stage,
        )
        self.latency = self.sorter.latency
        super().__init__(
            {
                "i": In(stream.Signature(batch_layout(c))),
                "o": Out(stream.Signature(beat_layout(c, item_fields(c)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        m.submodules.sorter = sorter = self.sorter
        m.d.comb += [
            sorter.i.valid.eq(self.i.valid),
            self.i.ready.eq(sorter.i.ready),
            sorter.i.p.tag.eq(self.i.p.fence),
            self.o.valid.eq(sorter.o.valid),
            sorter.o.ready.eq(self.o.ready),
            self.o.p.fence.eq(sorter.o.p.tag),
        ]
        for number in range(c.lanes_per_pipe):
            lane, item = self.i.p.lanes[number], self.o.p.items[number]
            m.d.comb += [
                sorter.i.p.items[number].key.eq(
                    Cat(Const(number, c.lane_bits), lane.key, ~lane.valid)
                ),
                Cat(item.lane, item.key, item.valid).eq(
                    sorter.o.p.items[number].key ^ (1 << (c.lane_bits + c.key_bits))
                ),
            ]
        return m
