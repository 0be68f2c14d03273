"""Which positions a bank's pointer may stop at (models/ofan/bank_masks.py)."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out, connect, flipped

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from models.ofan.place import rows
from rtl.common.select import counts
from rtl.ofan.masks import write_layout
from rtl.ofan.match import row_bits
from rtl.ofan.order import Positions
from rtl.ofan.place import Place


class BankMasks(wiring.Component):
    """Finds the set of valid positions of the pointer in each bank's row. Latency 3 cycles; a row
    of every bank a cycle.

    ```
    row ─►[mask numbers of the bank]─►[shared masks]─► Positions (π backwards) ─►[reg]─► masks
           rows × ⌈log2 masks⌉ bits    masks × w bits   and a count of ones              ways
    ```

    A write is done while nothing is under way: one cycle for a set, one for each size class for a
    destination. After a reset all uplinks are valid; the tables are swept, max(rows, masks) cycles.

    Args:
        config: an `OfanConfig` with a banked engine and failure logic.

    Ports:
        rows (in, a row a bank); masks, ways (out, one a bank, of the rows of three cycles before):
            as `rtl.ofan.masks.masked_fields`.
        advance (in): this cycle counts.
        write (stream of `rtl.ofan.masks.write_layout`); idle (in): it may be done now.
        running (out): the sweep is over.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        banks = c.engine.banks
        super().__init__(
            {
                "rows": In(data.ArrayLayout(row_bits(c), banks)),
                "masks": Out(data.ArrayLayout(c.uplinks, banks)),
                "ways": Out(data.ArrayLayout(bits_for(c.uplinks + 1), banks)),
                "advance": In(1),
                "write": In(stream.Signature(write_layout(c))),
                "idle": In(1),
                "running": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        depth = rows(c.keys, c.engine.banks)
        swept = max(depth, c.masks)
        sweep = Signal(range(swept + 1))
        m.d.comb += self.running.eq(sweep == swept)
        with m.If(~self.running):
            m.d.sync += sweep.eq(sweep + 1)

        change = self.write.p
        changing, size_class = Signal(), Signal(range(c.size_classes))
        m.submodules.place = place = Place(c)
        m.d.comb += [
            changing.eq(self.write.valid & self.idle & self.running),
            self.write.ready.eq(
                self.idle & self.running & (change.select | (size_class == c.size_classes - 1))
            ),
            place.destination.eq(change.address),
            place.size_class.eq(size_class),
        ]
        with m.If(changing):
            m.d.sync += size_class.eq(Mux(self.write.ready, 0, size_class + 1))

        m.submodules.sets = sets = memory.Memory(
            shape=unsigned(c.uplinks), depth=max(2, c.masks), init=[]
        )
        set_write = sets.write_port()
        m.d.comb += [
            set_write.addr.eq(Mux(self.running, change.address, sweep)),
            set_write.data.eq(Mux(self.running, change.value, -1)),
            set_write.en.eq(Mux(self.running, changing & change.select, sweep < c.masks)),
        ]
        for number in range(c.engine.banks):
            index = memory.Memory(shape=unsigned(max(1, c.mask_bits)), depth=max(2, depth), init=[])
            m.submodules[f"index_{number}"] = index
            m.submodules[f"positions_{number}"] = positions = Positions(c)
            index_write, index_read = index.write_port(), index.read_port()
            set_read = sets.read_port()
            row = [Signal(row_bits(c), name=f"row_{number}_{n}", reset_less=True) for n in (1, 2)]
            mask = Signal(c.uplinks, name=f"mask_{number}", reset_less=True)
            ways = Signal(bits_for(c.uplinks + 1), name=f"ways_{number}", reset_less=True)
            some_down = Signal(name=f"some_down_{number}")
            levels = counts(m, set_read.data, some_down, f"counts_{number}")
            mine = place.bank == number
            m.d.comb += [
                index_write.addr.eq(Mux(self.running, place.row, sweep)),
                index_write.data.eq(Mux(self.running, change.value, 0)),
                index_write.en.eq(
                    Mux(self.running, changing & ~change.select & mine, sweep < depth)
                ),
                index_read.addr.eq(self.rows[number]),
                index_read.en.eq(self.advance),
                set_read.addr.eq(index_read.data),
                set_read.en.eq(self.advance),
                some_down.eq(~set_read.data.all()),
                positions.key.eq(Place.key(c, Const(number, c.engine.bank_bits), row[1])),
                positions.uplinks.eq(set_read.data),
                self.masks[number].eq(mask),
                self.ways[number].eq(ways),
            ]
            with m.If(self.advance):
                m.d.sync += [
                    row[0].eq(self.rows[number]),
                    row[1].eq(row[0]),
                    mask.eq(positions.positions),
                    ways.eq(Mux(some_down, levels[-1], c.uplinks)),
                ]
        return m


def take_writes(m: Module, engine: Any, masks: BankMasks, inside: Value, advance: Value) -> Value:
    """Wire the write port of an engine to its tables; return whether batches may be taken.

    `inside` says that packets are under way, `advance` that this cycle counts. A batch that a
    lookup in front has already taken goes before the write. The cycle in which a write is done
    takes a batch, which sees it, so that batches get on however many writes come.
    """
    connect(m, flipped(engine.write), masks.write)
    in_lookup = engine.i.valid if engine.config.lookup != "none" else Const(0)
    waits = engine.write.valid & ~masks.write.ready
    m.d.comb += [
        engine.pending.eq(waits),
        masks.idle.eq(~in_lookup & ~inside),
        masks.advance.eq(advance),
    ]
    return masks.running & (~waits | in_lookup)
