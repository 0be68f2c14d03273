"""Batches that wait in front of a banked engine (models/ofan/waiting.py)."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Module, Signal, Value
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import integer
from rtl.ofan.banks import gather


class BatchQueue(wiring.Component):
    """A queue that a batch passes through in no time while it is empty. Latency 0 cycles where
    nothing waits; a batch a cycle.

    ```
    i ──┬────────────────────────────┐
        └─► slot 0 … slot depth-1 ──►┴─► o       one slot is the next to fill, one the next to leave
    ```

    Args:
        layout: of a batch.
        depth: batches that may wait, 1 and up.
        tells: whether there is the port `waits`.

    Ports:
        i, o (stream of `layout`): i.ready does not depend on o.ready.
        waits (out): a batch waits that came in an earlier cycle.
    """

    def __init__(self, layout: Any, depth: int, *, tells: bool = False) -> None:
        self.depth = integer("depth", depth, 1, 64)
        self.latency = 0
        self._tells = tells
        ports = {"i": In(stream.Signature(layout)), "o": Out(stream.Signature(layout))}
        super().__init__(ports | ({"waits": Out(1)} if tells else {}))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        came, leaves = Value.cast(self.i.payload), Value.cast(self.o.payload)
        width = len(came)
        head = Signal(self.depth, init=1)
        tail = Signal(self.depth, init=1)
        used = Signal(self.depth)
        waiting, push, pop = Signal(), Signal(), Signal()
        m.d.comb += [
            waiting.eq(used.any()),
            self.i.ready.eq(~used.all()),
            self.o.valid.eq(waiting | self.i.valid),
            pop.eq(waiting & self.o.ready),
            push.eq(self.i.valid & self.i.ready & (waiting | ~self.o.ready)),
        ]
        slots: list[Value] = []
        for number in range(self.depth):
            slot = Signal(width, name=f"slot_{number}", reset_less=True)
            # What passes is written too: whether it passes comes late, and nobody looks.
            with m.If(self.i.valid & self.i.ready & tail[number]):
                m.d.sync += slot.eq(came)
            with m.If(push & tail[number]):
                m.d.sync += used[number].eq(1)
            with m.Elif(pop & head[number]):
                m.d.sync += used[number].eq(0)
            slots.append(slot)
        with m.If(push):
            m.d.sync += tail.eq(tail.rotate_left(1))
        with m.If(pop):
            m.d.sync += head.eq(head.rotate_left(1))
        shown = Cat(~waiting, head & waiting.replicate(self.depth))
        m.d.comb += leaves.eq(gather([came, *slots], shown))
        if self._tells:
            m.d.comb += self.waits.eq(waiting)
        return m
