"""A memory whose words each beat reads, changes and writes back, one beat every cycle."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value, ValueLike
from amaranth.lib import memory

from models.common.check import integer
from rtl.common.stage import Stages


class Rewrite:
    """A memory inside a block of `Stages`: read as a beat enters, rewritten while it is in stage 0.

    ```
                 ┌──────────── memory, one read and one write port ◄──────────┐
                 │ read                                                       │ write
    address ─────┴─►[reg]──► value: written just before? ──► (block) ──► next ┤
       │                            ▲          ▲                              │
       └─ same as in stage 0? ─►[reg]          └───────────[reg]◄─────────────┘
    ```

    A beat reads at the edge at which the beat ahead of it writes, and the memory gives it the word
    from before; so it takes that beat's `next` instead where the addresses are the same. Beats
    further apart meet in the memory. Every beat thus sees what all beats before it have left, at
    every distance, and none waits.

    After a reset the memory is swept with `init`, `depth` cycles; `running` is 0 meanwhile.

    Args:
        m: the module that gets the statements.
        shape: of a word. depth: words, 1 to 65,536. init: the word after a reset, its bits.
        name: of the submodule.
    """

    def __init__(self, m: Module, shape: Any, depth: int, init: int, name: str) -> None:
        integer("depth", depth, 1, 65536)
        self._m = m
        self._shape = shape
        self._depth = depth
        self._name = name
        rows = max(2, depth)  # Yosys knows no address of no bits
        self._memory = memory.Memory(shape=shape, depth=rows, init=[])
        m.submodules[name] = self._memory
        self._write_port = self._memory.write_port()
        sweep = Signal(range(rows + 1), name=f"{name}_sweep")
        self.running = Signal(name=f"{name}_running")
        m.d.comb += self.running.eq(sweep == rows)
        with m.If(~self.running):
            m.d.sync += sweep.eq(sweep + 1)
            port = self._write_port
            m.d.comb += [
                port.addr.eq(sweep),
                Value.cast(port.data).eq(Const(init, Value.cast(port.data).shape())),
                port.en.eq(1),
            ]

    def connect(self, stages: Stages, address: Value, write: ValueLike = 1) -> tuple[Any, Any]:
        """Attach the memory to a block; return (value, next).

        Args:
            stages: of a block with one stage or more, enabled by `running`.
            address: of the word that the beat at the block's input wants.
            write: the beat in stage 0 rewrites its word.

        `value` is the word of the beat in stage 0; the block drives `next`, its new value.
        """
        m = self._m
        read = self._memory.read_port()
        after = Signal(self._shape, name=f"{self._name}_next")
        value = Signal(self._shape, name=f"{self._name}_value")
        held = stages.register(address, f"{self._name}_address")
        writes = Signal(name=f"{self._name}_writes")
        same = stages.register((address == held) & writes, f"{self._name}_same")
        written = stages.register(after, f"{self._name}_written")
        m.d.comb += [
            writes.eq(stages.valid[0] & Value.cast(write)),
            read.addr.eq(address),
            read.en.eq(stages.advance),
            Value.cast(value).eq(Mux(same, Value.cast(written), Value.cast(read.data))),
        ]
        port = self._write_port
        with m.If(self.running):
            m.d.comb += [
                port.addr.eq(held),
                Value.cast(port.data).eq(Value.cast(after)),
                port.en.eq(writes & stages.advance),
            ]
        return value, after
