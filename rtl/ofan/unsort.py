"""Stage 4b of Ofan's pipeline: bring each answer back to the lane its packet came in on (seed
appendix I)."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.sorter import sorting_network
from models.ofan.config import OfanConfig
from rtl.common.sorter import Sorter
from rtl.ofan.decombine import answer_fields
from rtl.ofan.sort import beat_layout


def answers_layout(c: OfanConfig) -> data.StructLayout:
    """Answers in lane order: `fence`, and `lanes` of `valid`, `uplink` and `unroutable`."""
    lane = data.StructLayout({"uplink": unsigned(c.uplink_bits), "unroutable": 1, "valid": 1})
    return data.StructLayout({"fence": 1, "lanes": data.ArrayLayout(lane, c.lanes_per_pipe)})


class Unsort(wiring.Component):
    """Undoes the sort. Latency ⌈ranks / ranks_per_stage⌉ cycles; throughput one batch a cycle.

    The items of a batch carry all its lane numbers, each once, idle lanes too; sorting by lane
    number with the network of the sort stage is the inverse of the first permutation, and needs no
    record of it. Implements the second half of step (4) of the seed's appendix I.

    Args:
        config: an `OfanConfig`.

    Ports:
        i (stream of `answer_fields`), o (stream of `answers_layout`).
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        self.sorter = Sorter(
            sorting_network(c.network, c.lanes_per_pipe),
            lanes=c.lanes_per_pipe,
            key_bits=c.lane_bits,
            payload_bits=c.uplink_bits + 2,
            tag_bits=1,
            ranks_per_stage=c.ranks_per_stage,
        )
        self.latency = self.sorter.latency
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(c, answer_fields(c)))),
                "o": Out(stream.Signature(answers_layout(c))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.sorter = sorter = self.sorter
        m.d.comb += [
            sorter.i.valid.eq(self.i.valid),
            self.i.ready.eq(sorter.i.ready),
            sorter.i.p.tag.eq(self.i.p.fence),
            self.o.valid.eq(sorter.o.valid),
            sorter.o.ready.eq(self.o.ready),
            self.o.p.fence.eq(sorter.o.p.tag),
        ]
        for number in range(self.config.lanes_per_pipe):
            item = self.i.p.items[number]
            m.d.comb += [
                sorter.i.p.items[number].key.eq(item.lane),
                sorter.i.p.items[number].payload.eq(Cat(item.uplink, item.unroutable, item.valid)),
                self.o.p.lanes[number].as_value().eq(sorter.o.p.items[number].payload),
            ]
        return m
