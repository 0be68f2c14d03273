"""The sorted-banked engine: Ofan's pipeline with its pointers in banks
(models/ofan/sorted_banked.py)."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out, connect

from models.ofan.config import OfanConfig
from rtl.common.stage import Stages
from rtl.ofan.combine import Combine, combined_fields
from rtl.ofan.decombine import Decombine
from rtl.ofan.masks import Masks, masked_fields
from rtl.ofan.pipeline import announce_writes, engine_ports, reply_layout
from rtl.ofan.place import pointer_key, to_key, to_place
from rtl.ofan.rounds import Rounds
from rtl.ofan.sort import Sort, batch_layout, beat_layout
from rtl.ofan.unsort import Unsort
from rtl.ofan.update import updated_fields
from rtl.ofan.waiting import BatchQueue


class Rekey(wiring.Component):
    """Turns the keys of sorted items to places, or back. Latency 0 cycles; XORs.

    A place is as wide as a key: the bank above the row (models/ofan/place.py).

    Args:
        config: an `OfanConfig` with a banked engine.
        fields: of an item.
        convert: `to_place` or `to_key`.

    Ports:
        i, o (stream of items with these fields).
    """

    def __init__(
        self,
        config: OfanConfig,
        fields: dict[str, object],
        convert: Callable[[OfanConfig, Value], Value],
    ) -> None:
        self.config = config
        self.convert = convert
        self.latency = 0
        layout = stream.Signature(beat_layout(config, fields))
        super().__init__({"i": In(layout), "o": Out(layout)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += [
            self.o.valid.eq(self.i.valid),
            self.i.ready.eq(self.o.ready),
            self.o.payload.eq(self.i.payload),
        ]
        for item, out in zip(self.i.p.items, self.o.p.items, strict=True):
            m.d.comb += out.key.eq(self.convert(self.config, item.key))
        return m


class SortedBanked(wiring.Component):
    """Answers the packets of a batch together, exactly as if they were served one by one in lane
    order. Latency `latency` cycles where no batch waits and no two keys of a batch have one bank,
    one more for each further round; throughput a batch in as many cycles as it has rounds.

    ```
    i ─►[place]─► queue ─► Sort ─► Combine ─► Masks ─► Rounds ─► Decombine ─► Unsort ─► o
           ▲                                    ▲
     write ┴──── a fence goes along ────────────┘
    ```

    Keys are sorted as places, so that the keys of one bank are neighbours. A write of the mask
    tables goes along as a batch without packets; see `rtl.ofan.pipeline.Pipeline`.

    Args:
        config: an `OfanConfig` with engine `sorted-banked`.
        pipe: which pipe of the switch this is, 0 to `config.pipes` - 1.

    Ports:
        i (stream of `request_layout`), o (stream of `reply_layout`): a beat for every batch that
            has a packet.
        stall (in): what leaves does not move, whatever `o` says; for a switch of several pipes
            whose answers leave together.
        write (stream of `rtl.ofan.masks.write_layout`), pending (out), with `masks` > 0: as
            `Pipeline`'s.
    """

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        c = self.config = config
        self.pipe = pipe
        self.masks = Masks(c)
        self.blocks: dict[str, Any] = {
            "queue": BatchQueue(batch_layout(c), c.engine.depth),
            "sort": Sort(c),
            "combine": Combine(c),
        }
        if c.masks:  # the tables are read by key
            self.blocks["keys"] = Rekey(c, combined_fields(c), to_key)
        self.blocks["masks"] = self.masks
        if c.masks:
            self.blocks["places"] = Rekey(c, masked_fields(c), to_place)
        self.blocks |= {
            "rounds": Rounds(c, pipe),
            "keys_again": Rekey(c, updated_fields(c), to_key),
            "decombine": Decombine(c),
            "unsort": Unsort(c),
        }
        # Answers of several pipes leave from a register that stands still while they stall.
        self._parting = int(c.pipes > 1)
        self.latency = 1 + sum(block.latency for block in self.blocks.values()) + self._parting
        super().__init__(engine_ports(c, stalls=True))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        for name, block in self.blocks.items():
            m.submodules[name] = block
        for ahead, behind in pairwise(self.blocks.values()):
            connect(m, ahead.o, behind.i)

        placed = stream.Signature(unsigned(0)).create()
        queue_i = self.blocks["queue"].i
        stages = Stages(m, placed, queue_i, depth=1)
        announce = announce_writes(m, self, self.masks, placed.ready)
        some = Cat(request.valid for request in self.i.p).any()
        m.d.comb += [
            placed.valid.eq(self.i.valid & some | announce),
            self.i.ready.eq(placed.ready & ~announce),
        ]
        # Side by side as `batch_layout` says; in one signal a linter sees a loop from bit to bit.
        came: list[Value] = [announce]
        for request in self.i.p:
            key = Signal(c.key_bits)
            m.d.comb += key.eq(pointer_key(c, request.destination, request.size_class))
            came += [request.valid & ~announce, to_place(c, key)]
        m.d.comb += queue_i.payload.as_value().eq(stages.register(Cat(came), "placed"))

        last = self.blocks["unsort"].o
        leaving = stream.Signature(reply_layout(c)).create()
        parting = Stages(m, leaving, self.o, depth=self._parting, stall=self.stall)
        answers = Signal(reply_layout(c))
        m.d.comb += answers.eq(last.p.lanes)
        if self._parting:  # another pipe's answers may leave while this one has none
            for lane, reply in zip(answers, last.p.lanes, strict=True):
                m.d.comb += lane.valid.eq(reply.valid & leaving.valid)
            answers = parting.register(answers, "answers")
        m.d.comb += [
            leaving.valid.eq(last.valid & ~last.p.fence),
            last.ready.eq(leaving.ready | last.p.fence),
            self.o.payload.eq(answers),
        ]
        return m
