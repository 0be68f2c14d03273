"""A memory with one read and one write port, of flip-flops, latches or static cells."""

from __future__ import annotations

from pathlib import Path

from amaranth.hdl import ClockSignal, Instance, Module, unsigned
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for, choice, integer

MODELS = Path(__file__).with_suffix(".v")
"""Behavioural models, in Verilog, of what is no flip-flops."""

MODULES = {"latches": "netweave_latches", "sram": "netweave_sram"}
"""The module of each storage; its ports and parameters stand in `store.v`."""


class Store(wiring.Component):
    """A memory with one read and one write port. Latency of a read 1 cycle; a read and a write a
    cycle.

    A row that is written and read in the same cycle reads as it was before; in the next cycle it
    reads as written. Amaranth's simulator knows flip-flops only.

    Args:
        depth: rows, 2 to 65,536. width: bits of a row, 1 to 1,024.
        storage: "flops", "latches" or "sram".

    Ports:
        read, read_row (in), read_data (out, of the row given in the cycle before).
        write, write_row, write_data (in).
    """

    def __init__(self, depth: int, width: int, storage: str) -> None:
        self.depth = integer("depth", depth, 2, 65536)
        self.width = integer("width", width, 1, 1024)
        self.storage = choice("storage", storage, ("flops", *MODULES))
        row = bits_for(depth)
        super().__init__(
            {
                "read": In(1),
                "read_row": In(row),
                "read_data": Out(width),
                "write": In(1),
                "write_row": In(row),
                "write_data": In(width),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.storage == "flops":
            shape = unsigned(self.width)
            m.submodules.words = words = memory.Memory(shape=shape, depth=self.depth, init=[])
            read, write = words.read_port(), words.write_port()
            m.d.comb += [
                read.addr.eq(self.read_row),
                read.en.eq(self.read),
                self.read_data.eq(read.data),
                write.addr.eq(self.write_row),
                write.data.eq(self.write_data),
                write.en.eq(self.write),
            ]
        else:
            m.submodules.words = Instance(
                MODULES[self.storage],
                p_DEPTH=self.depth,
                p_WIDTH=self.width,
                p_ADDRESS=len(self.read_row),
                i_clk=ClockSignal(),
                i_read=self.read,
                i_read_address=self.read_row,
                o_read_data=self.read_data,
                i_write=self.write,
                i_write_address=self.write_row,
                i_write_data=self.write_data,
            )
        return m


def models_of(verilog: str) -> str:
    """Return the models of the storage that `verilog` has instances of, nothing if it has none."""
    head, *models = MODELS.read_text().split("\n\n")
    used = [name for name in MODULES.values() if name in verilog]
    found = [model.rstrip() for model in models if any(f"module {n} " in model for n in used)]
    return "\n\n".join([head, *found]) + "\n" if found else ""
