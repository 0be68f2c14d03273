"""Stage 1 of Ofan's pipeline: sort the batch by pointer key (seed appendix I)."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Value, unsigned
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


def beat_layout(c: OfanConfig, fields: dict[str, object]) -> BeatLayout:
    """A batch in sorted order: `fence`, and `items` with the given fields."""
    return BeatLayout(fields, c.lanes_per_pipe)


class BeatLayout(data.StructLayout):
    """A beat of alike lanes that is read lane by lane (`beat.items[lane].key`) and stored field by
    field: all lanes' keys side by side. So a block passes a field on as it is, in one piece.

    Args:
        fields: name and shape of each field of an item.
        lanes: number of items.
    """

    def __init__(self, fields: dict[str, object], lanes: int) -> None:
        item = data.StructLayout(fields)  # type: ignore[arg-type]
        self.by_lane = data.StructLayout({"fence": 1, "items": data.ArrayLayout(item, lanes)})
        """The same beat as a structure of structures, lane by lane."""
        self.lanes = lanes
        columns = {name: data.ArrayLayout(field.shape, lanes) for name, field in item}
        super().__init__({**columns, "fence": 1})

    def __call__(self, target: Any) -> Beat:
        return Beat(self, target)

    def const(self, init: Any) -> data.Const:
        """Return a constant; `init` has `fence` and `items`, or nothing."""
        if not init:
            return super().const(None)
        columns = {
            name: [item[name] for item in init["items"]] for name in self.members if name != "fence"
        }
        return super().const({**columns, "fence": init["fence"]})

    def from_bits(self, raw: int) -> data.Const:
        """Return the constant with the given bits, lane by lane."""
        columns = super().from_bits(raw)
        names = [name for name in self.members if name != "fence"]
        items = [{name: columns[name][n] for name in names} for n in range(self.lanes)]
        return self.by_lane.const({"fence": columns.fence, "items": items})


class Beat(data.View):
    """A value with a `BeatLayout`."""

    @property
    def items(self) -> list[Item]:
        """The beat's lanes, as things with the item's fields."""
        return [Item(self, lane) for lane in range(self.shape().lanes)]


class Item:
    """One lane of a beat; its fields are attributes."""

    def __init__(self, beat: Beat, lane: int) -> None:
        self._beat, self._lane = beat, lane

    def __getattr__(self, name: str) -> Value:
        return self._beat[name][self._lane]


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
