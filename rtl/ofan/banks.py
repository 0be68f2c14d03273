"""The pointers in banks, each of which serves one key a cycle (models/ofan/place.py)."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, memory, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for, integer
from models.ofan.config import OfanConfig
from models.ofan.place import key_of, rows
from models.ofan.switch import initial_pointer
from rtl.common.store import Store
from rtl.ofan.masks import turn_bits
from rtl.ofan.match import place_fields, row_bits
from rtl.ofan.update import Advance, base_bits


def gather(words: list[Value], chosen: Value) -> Value:
    """Return the OR of the words whose bit in `chosen` is set: an AND-OR tree a bit."""
    slices = (Cat(word[bit] for word in words) for bit in range(len(words[0])))
    return Cat((one & chosen).any() for one in slices)


class Route(wiring.Component):
    """Brings the rows of the packets to their banks. Combinational: an AND-OR a bank, which does
    not mind that several packets bring the same row.

    Args:
        config: an `OfanConfig` with a banked engine.
        packets: how many there are.

    Ports:
        packets (in, `there`, `bank` and `row` a packet): those of one bank have one row.
        rows (out, a row a bank; 0 where no packet comes).
        asks (out, a bit a packet for each bank): whose packets they are.
    """

    def __init__(self, config: OfanConfig, packets: int) -> None:
        c = self.config = config
        packet = data.StructLayout({"there": 1, **place_fields(c)})  # type: ignore[arg-type]
        super().__init__(
            {
                "packets": In(data.ArrayLayout(packet, packets)),
                "rows": Out(data.ArrayLayout(row_bits(c), c.engine.banks)),
                "asks": Out(data.ArrayLayout(packets, c.engine.banks)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        words = [packet.row for packet in self.packets]
        for number in range(self.config.engine.banks):
            asks = Cat(packet.there & (packet.bank == number) for packet in self.packets)
            m.d.comb += [
                self.asks[number].eq(asks),
                self.rows[number].eq(gather(words, self.asks[number])),
            ]
        return m


def visit_layout(c: OfanConfig) -> data.StructLayout:
    """What a group brings to its bank: `writes` if it moves the pointer, the `turn` of its last
    packet, and with failure logic its `mask` and `ways`."""
    fields: dict[str, object] = {"writes": 1, "turn": unsigned(turn_bits(c))}
    if c.masks:
        fields |= {"mask": unsigned(c.uplinks), "ways": unsigned(bits_for(c.uplinks + 1))}
    return data.StructLayout(fields)  # type: ignore[arg-type]


class Bank(wiring.Component):
    """One bank: reads a pointer a cycle and moves it on in the next. Latency 1 cycle.

    ```
          ┌────────── memory ◄───────────────┐
          │ read                             │ write
    row ──┴─►[reg]──► written just before? ──┴─► Advance ─► base, next
      └─ same as the row ahead? ─►[reg]   ▲                        │
                                          └──────────────[reg]◄────┘
    ```

    A row is read at the edge at which the row ahead is written, and the memory gives what it held
    before; so the pointer is taken from there if both are one row. Rows further apart meet in the
    memory.

    Args:
        config: an `OfanConfig` with a banked engine.

    Ports:
        row (in); visit (in, `visit_layout`, of the row given in the cycle before).
        base (out, of the row given in the cycle before): see `rtl.ofan.update.Advance`.
        advance (in): this cycle counts.
        sweeping, sweep, initial (in): a row and what is written there instead.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        super().__init__(
            {
                "row": In(row_bits(c)),
                "visit": In(visit_layout(c)),
                "base": Out(base_bits(c)),
                "advance": In(1),
                "sweeping": In(1),
                "sweep": In(row_bits(c)),
                "initial": In(c.uplink_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        b = c.uplink_bits
        depth = max(2, rows(c.keys, c.engine.banks))
        m.submodules.store = store = Store(depth, max(1, b), c.engine.storage)
        m.submodules.advance_ = advance = Advance(c)
        row = Signal(row_bits(c), reset_less=True)
        same = Signal(reset_less=True)
        written = Signal(b, reset_less=True)
        with m.If(self.advance):
            m.d.sync += [
                row.eq(self.row),
                same.eq((self.row == row) & self.visit.writes),
                written.eq(advance.next),
            ]
        m.d.comb += [
            store.read.eq(self.advance),
            store.read_row.eq(self.row),
            advance.pointer.eq(Mux(same, written, store.read_data)),
            advance.turn.eq(self.visit.turn),
            self.base.eq(advance.base),
            store.write.eq(self.sweeping | self.advance & self.visit.writes),
            store.write_row.eq(Mux(self.sweeping, self.sweep, row)),
            store.write_data.eq(Mux(self.sweeping, self.initial, advance.next)),
        ]
        if c.masks:
            m.d.comb += [advance.mask.eq(self.visit.mask), advance.ways.eq(self.visit.ways)]
        return m


class BankFile(wiring.Component):
    """All banks of a pipe. Latency 1 cycle; a row of every bank a cycle.

    After a reset the rows are swept with the initial pointers, one row of all banks a cycle.

    Args:
        config: an `OfanConfig` with a banked engine.
        pipe: the pipe whose initial pointers are wanted, 0 to `config.pipes` - 1.

    Ports:
        rows (in), visits (in), bases (out): as `Bank`'s, one a bank.
        advance (in): this cycle counts; low while not running. running (out): the sweep is over.
    """

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        c = self.config = config
        self.pipe = integer("pipe", pipe, 0, c.pipes - 1)
        banks = c.engine.banks
        super().__init__(
            {
                "rows": In(data.ArrayLayout(row_bits(c), banks)),
                "visits": In(data.ArrayLayout(visit_layout(c), banks)),
                "bases": Out(data.ArrayLayout(base_bits(c), banks)),
                "advance": In(1),
                "running": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        depth = rows(c.keys, c.engine.banks)
        width = max(1, c.uplink_bits)
        words = [
            sum(
                self._initial(key_of(bank, row, c.engine.banks)) << bank * width
                for bank in range(c.engine.banks)
            )
            for row in range(depth)
        ]
        m.submodules.initial = initial = memory.Memory(
            shape=unsigned(width * c.engine.banks), depth=max(2, depth), init=words
        )
        first = initial.read_port()
        sweep = Signal(range(depth + 2))
        m.d.comb += [
            self.running.eq(sweep == depth + 1),
            first.addr.eq(sweep),
            first.en.eq(1),
        ]
        with m.If(~self.running):
            m.d.sync += sweep.eq(sweep + 1)
        for number in range(c.engine.banks):
            m.submodules[f"bank_{number}"] = bank = Bank(c)
            m.d.comb += [
                bank.row.eq(self.rows[number]),
                bank.visit.eq(self.visits[number]),
                self.bases[number].eq(bank.base),
                bank.advance.eq(self.advance),
                bank.sweeping.eq(~self.running & (sweep != 0)),
                bank.sweep.eq(sweep - 1),
                bank.initial.eq(first.data.word_select(number, width)),
            ]
        return m

    def _initial(self, key: int) -> int:
        c = self.config
        if key >= c.keys:  # a row need not be full
            return 0
        size_class, destination = divmod(key, c.destinations)
        return initial_pointer(c, self.pipe, destination, size_class)
