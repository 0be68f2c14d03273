"""Ofan's pipeline: sort, combine, update, decombine and unsort, for one pipe (seed appendix I)."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from models.ofan.config import OfanConfig
from rtl.common.stage import Stages
from rtl.ofan.combine import Combine
from rtl.ofan.decombine import Decombine
from rtl.ofan.masks import Masks, write_layout
from rtl.ofan.sort import Sort, batch_layout
from rtl.ofan.unsort import Unsort, answers_layout
from rtl.ofan.update import Update


def request_layout(c: OfanConfig) -> data.ArrayLayout:
    """A batch as it arrives: lanes of `destination`, `size_class` and `valid`."""
    lane = data.StructLayout(
        {"destination": c.destination_bits, "size_class": c.class_bits, "valid": 1}
    )
    return data.ArrayLayout(lane, c.lanes_per_pipe)


def reply_layout(c: OfanConfig) -> data.ArrayLayout:
    """A batch as it leaves: lanes of `uplink`, `unroutable` and `valid`."""
    lanes = answers_layout(c).members["lanes"]
    assert isinstance(lanes, data.ArrayLayout)
    return lanes


def announce_writes(m: Module, engine: Any, masks: Masks, ready: Value) -> Value:
    """Return whether a fence takes the place of a batch in this cycle, if `ready`.

    A write is announced once, by its fence, then waits for it to reach the mask tables.

    Args:
        m: the module that gets the statements.
        engine: what has the ports `i`, `write` and `pending`.
        masks: the block with the tables; its `write` is wired here.
        ready: a fence may go in now.
    """
    c: OfanConfig = engine.config
    announce = Signal()
    if c.masks:
        announced = Signal()
        m.d.comb += engine.pending.eq(engine.write.valid & ~announced)
        # A batch that a lookup in front has already taken goes before the write.
        in_lookup = engine.i.valid if c.lookup != "none" else 0
        m.d.comb += announce.eq(engine.pending & ~in_lookup)
        connect(m, flipped(engine.write), masks.write)
        with m.If(ready & announce):
            m.d.sync += announced.eq(1)
        with m.Elif(engine.write.valid & engine.write.ready):
            m.d.sync += announced.eq(0)
    return announce


def engine_ports(c: OfanConfig, *, stalls: bool = False) -> dict[str, Any]:
    """The ports of every pointer engine; `stalls` adds `stall`, which stops all that leaves."""
    ports: dict[str, Any] = {
        "i": In(stream.Signature(request_layout(c))),
        "o": Out(stream.Signature(reply_layout(c))),
    }
    if stalls:
        ports["stall"] = In(1)
    if c.masks:
        ports |= {"write": In(stream.Signature(write_layout(c))), "pending": Out(1)}
    return ports


class Pipeline(wiring.Component):
    """Answers a batch of packets a cycle with an uplink each, exactly as if they were served one
    by one in lane order. Fixed latency (`latency` cycles: 23 for `edge-k64`); throughput one batch
    a cycle without bubbles.

    ```
    i ─►[key]─► Sort ─► Combine ─► Masks ─► Update ─► Decombine ─► Unsort ─► o
          ▲                          ▲
    write ┴──── a fence goes along ──┘
    ```

    A write of the mask tables takes one slot between two batches, in the cycle in which its valid
    rises: every batch accepted before sees the old sets of valid uplinks, every later one the new
    ones. One write is under way at a time; its ready comes when its fence has reached the tables.

    Args:
        config: an `OfanConfig`.
        pipe: which pipe of the switch this is, 0 to `config.pipes` - 1.

    Ports:
        i (stream of `request_layout`): destinations below N_d and size classes below T on valid
            lanes; others are not defined.
        o (stream of `reply_layout`): `valid` as it came in.
        write (stream of `rtl.ofan.masks.write_layout`, with `masks` > 0).
        pending (out, with `masks` > 0): a write waits for its place between two batches. Whoever
            puts a lookup in front lets no batch into it meanwhile.
    """

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        c = self.config = config
        self.blocks = {
            "sort": Sort(c),
            "combine": Combine(c),
            "masks": Masks(c),
            "update": Update(c, pipe),
            "decombine": Decombine(c),
            "unsort": Unsort(c),
        }
        self.latency = 1 + sum(block.latency for block in self.blocks.values())
        super().__init__(engine_ports(c))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        blocks = self.blocks
        for name, block in blocks.items():
            m.submodules[name] = block
        for ahead, behind in zip(list(blocks.values()), list(blocks.values())[1:], strict=False):
            connect(m, ahead.o, behind.i)

        keyed = stream.Signature(batch_layout(c)).create()
        sort_i = blocks["sort"].i
        stages = Stages(m, keyed, sort_i, depth=1)
        announce = announce_writes(m, self, blocks["masks"], keyed.ready)
        m.d.comb += [
            keyed.valid.eq(self.i.valid | announce),
            keyed.p.fence.eq(announce),
            self.i.ready.eq(keyed.ready & ~announce),
        ]
        for lane, request in zip(keyed.p.lanes, self.i.p, strict=True):
            m.d.comb += [
                lane.valid.eq(request.valid & ~announce),
                lane.key.eq(self._key(request)),
            ]
        m.d.comb += sort_i.payload.eq(stages.register(keyed.p, "keyed"))

        last = blocks["unsort"].o
        m.d.comb += [
            self.o.valid.eq(last.valid & ~last.p.fence),
            last.ready.eq(self.o.ready | last.p.fence),
            self.o.payload.eq(last.p.lanes),
        ]
        return m

    def _key(self, request):
        c = self.config
        if c.destinations == 1 << c.destination_bits:
            return Cat(request.destination, request.size_class)
        return request.destination + request.size_class * c.destinations
