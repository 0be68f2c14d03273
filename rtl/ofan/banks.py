"""The pointers in banks, each of which serves one key a cycle (models/ofan/banks.py)."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.banks import key_of, rows
from models.ofan.config import OfanConfig
from models.ofan.switch import initial_pointer
from rtl.common.carrysave import ones
from rtl.common.modulo import modulo
from rtl.ofan.match import place_fields, row_bits


def request_layout(c: OfanConfig) -> data.StructLayout:
    """What a packet wants of its bank: `there` if it is served, `bank`, `row`."""
    return data.StructLayout({"there": 1, **place_fields(c)})  # type: ignore[arg-type]


class Route(wiring.Component):
    """Brings the rows of the packets to their banks. Combinational: an AND-OR a bank, which does
    not mind that several packets bring the same row.

    Ports:
        requests (in, `request_layout` a packet), rows (out, a row a bank; 0 where none comes).
    """

    def __init__(self, config: OfanConfig, packets: int) -> None:
        self.config = config
        super().__init__(
            {
                "requests": In(data.ArrayLayout(request_layout(config), packets)),
                "rows": Out(data.ArrayLayout(row_bits(config), config.engine.banks)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        wants = [
            [Signal(name=f"wants_{p}_{b}") for b in range(len(self.rows))]
            for p in range(len(self.requests))
        ]
        for bank in range(len(self.rows)):
            for want, request in zip(wants, self.requests, strict=True):
                m.d.comb += want[bank].eq(request.there & (request.bank == bank))
            m.d.comb += self.rows[bank].eq(
                reduce(
                    or_,
                    (
                        request.row & want[bank].replicate(len(request.row))
                        for want, request in zip(wants, self.requests, strict=True)
                    ),
                )
            )
        return m


class Bank(wiring.Component):
    """One bank: reads a pointer a cycle, and moves it on in the next. Latency 1 cycle.

    ```
                 ┌────────── memory ◄───────────────┐
                 │ read                             │ write
    row ─────────┴─►[reg]──► written just before? ──┼─► pointer
      └─ same as the row behind? ─►[reg]   ▲        └── + count mod w ◄── count
                                           └──[reg]◄────┘
    ```

    A row is read at the edge at which the one before it is written, and the memory gives what it
    held before; so the pointer is taken from there if both rows are one. Rows further apart meet in
    the memory.

    Args:
        config: an `OfanConfig` with a banked engine.
        most: packets that may be served in a cycle.

    Ports:
        row (in), count (in, of the row given in the cycle before: packets served; 0 changes
        nothing), pointer (out, of the row given in the cycle before), advance (in: this cycle
        counts).
        initial (in), sweep (in, a row), sweeping (in): what is written after a reset.
    """

    def __init__(self, config: OfanConfig, most: int) -> None:
        c = self.config = config
        self.most = most
        super().__init__(
            {
                "row": In(row_bits(c)),
                "count": In(bits_for(most + 1)),
                "pointer": Out(c.uplink_bits),
                "advance": In(1),
                "initial": In(c.uplink_bits),
                "sweep": In(row_bits(c)),
                "sweeping": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c, w = self.config, self.config.uplinks
        b = c.uplink_bits
        depth = max(2, rows(c.keys, c.engine.banks))
        m.submodules.memory = file = memory.Memory(shape=unsigned(max(1, b)), depth=depth, init=[])
        read, write = file.read_port(), file.write_port()
        row, same = Signal(row_bits(c), reset_less=True), Signal(reset_less=True)
        written, after = Signal(b, reset_less=True), Signal(b)
        with m.If(self.advance):
            m.d.sync += [
                row.eq(self.row),
                same.eq((self.row == row) & (self.count != 0)),
                written.eq(after),
            ]
        step = modulo(m, self.count, w, bound=self.most + 1, least=w, name="step")
        total = Signal(bits_for(2 * w))
        m.d.comb += total.eq(self.pointer + step)
        m.d.comb += [
            read.addr.eq(self.row),
            read.en.eq(self.advance),
            self.pointer.eq(Mux(same, written, read.data)),
            after.eq(modulo(m, total, w, bound=2 * w, least=w, name="after")),
            write.addr.eq(Mux(self.sweeping, self.sweep, row)),
            write.data.eq(Mux(self.sweeping, self.initial, after)),
            write.en.eq(self.sweeping | self.advance & (self.count != 0)),
        ]
        return m


class Banks(wiring.Component):
    """All banks of a pipe with the ways there and back. Latency 1 cycle; a set of requests a cycle.

    ```
    requests ──► Route ──► rows ──► Bank … Bank ──► pointers ──► each packet's own
        └─►[reg]──► packets of each bank, counted ─────┘
    ```

    After a reset the rows are swept with the initial pointers, a row of all banks a cycle.

    Args:
        config: an `OfanConfig` with a banked engine.
        pipe: the pipe whose initial pointers are wanted, 0 to `config.pipes` - 1.
        packets: requests in a cycle.

    Ports:
        requests (in, `request_layout` a packet): packets of one bank have one row.
        pointers (out, a pointer a packet; of the cycle before): where its pointer stood.
        advance (in): this cycle counts. running (out): the sweep is over.
    """

    def __init__(self, config: OfanConfig, pipe: int, packets: int) -> None:
        c = self.config = config
        self.pipe = pipe
        self.packets = packets
        super().__init__(
            {
                "requests": In(data.ArrayLayout(request_layout(c), packets)),
                "pointers": Out(data.ArrayLayout(c.uplink_bits, packets)),
                "advance": In(1),
                "running": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        count, depth = c.engine.banks, rows(c.keys, c.engine.banks)
        m.submodules.route = route = Route(c, self.packets)
        m.d.comb += route.requests.eq(self.requests)

        there = Signal(self.packets)
        where = [
            Signal(c.engine.bank_bits, name=f"bank_of_{p}", reset_less=True)
            for p in range(self.packets)
        ]
        with m.If(self.advance):
            m.d.sync += there.eq(Cat(request.there for request in self.requests))
            m.d.sync += [
                bank.eq(request.bank) for bank, request in zip(where, self.requests, strict=True)
            ]

        sweep = Signal(range(depth + 2))
        m.d.comb += self.running.eq(sweep == depth + 1)
        with m.If(~self.running):
            m.d.sync += sweep.eq(sweep + 1)
        b = c.uplink_bits
        words = [self._initial(row) for row in range(depth)]
        m.submodules.initial = initial = memory.Memory(
            shape=unsigned(max(1, b) * count), depth=max(2, depth), init=words
        )
        first = initial.read_port()
        m.d.comb += [first.addr.eq(sweep), first.en.eq(1)]

        pointers: list[Value] = []
        mine: list[list[Value]] = []
        for number in range(count):
            m.submodules[f"bank_{number}"] = bank = Bank(c, self.packets)
            of_bank = [Signal(name=f"of_bank_{number}_{p}") for p in range(self.packets)]
            m.d.comb += [of.eq(there[p] & (where[p] == number)) for p, of in enumerate(of_bank)]
            m.d.comb += [
                bank.row.eq(route.rows[number]),
                bank.count.eq(ones(m, of_bank, f"count_{number}")),
                bank.advance.eq(self.advance),
                bank.initial.eq(first.data.word_select(number, b)),
                bank.sweep.eq(sweep - 1),
                bank.sweeping.eq(~self.running & (sweep != 0)),
            ]
            pointers.append(bank.pointer)
            mine.append(of_bank)
        for p in range(self.packets):
            m.d.comb += self.pointers[p].eq(
                reduce(
                    or_,
                    (
                        pointer & of_bank[p].replicate(b)
                        for pointer, of_bank in zip(pointers, mine, strict=True)
                    ),
                )
            )
        return m

    def _initial(self, row: int) -> int:
        """The initial pointers of a row, bank 0 in the low bits."""
        c = self.config
        word = 0
        for bank in range(c.engine.banks):
            key = key_of(bank, row, c.engine.banks)
            if key < c.keys:
                size_class, destination = divmod(key, c.destinations)
                pointer = initial_pointer(c, self.pipe, destination, size_class)
                word |= pointer << (bank * max(1, c.uplink_bits))
        return word
