"""The update of the sorted-banked engine: pointers in banks, in as many rounds as the fullest bank
has keys (models/ofan/rounds.py)."""

from __future__ import annotations

from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for, integer
from models.common.prefix import scan
from models.ofan.banks import key_of, rows
from models.ofan.config import OfanConfig
from models.ofan.switch import initial_pointer
from rtl.common.stage import Stages
from rtl.ofan.masks import masked_fields, turn_bits
from rtl.ofan.match import row_bits
from rtl.ofan.sort import beat_layout
from rtl.ofan.update import Advance, base_bits, updated_fields


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
        m.submodules.file = file = memory.Memory(
            shape=unsigned(max(1, b)), depth=max(2, rows(c.keys, c.engine.banks)), init=[]
        )
        read, write = file.read_port(), file.write_port()
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
            read.addr.eq(self.row),
            read.en.eq(self.advance),
            advance.pointer.eq(Mux(same, written, read.data)),
            advance.turn.eq(self.visit.turn),
            self.base.eq(advance.base),
            write.addr.eq(Mux(self.sweeping, self.sweep, row)),
            write.data.eq(Mux(self.sweeping, self.initial, advance.next)),
            write.en.eq(self.sweeping | self.advance & self.visit.writes),
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


def gather(words: list[Value], chosen: Value) -> Value:
    """Return the OR of the words whose bit in `chosen` is set: an AND-OR tree a bit."""
    slices = (Cat(word[bit] for word in words) for bit in range(len(words[0])))
    return Cat((one & chosen).any() for one in slices)


class Rounds(wiring.Component):
    """Fetches each group's pointer and advances it by the group's size, where every bank serves one
    group a cycle. Latency 3 cycles and one a round; throughput a batch in as many cycles as its
    fullest bank has groups, one at least.

    ```
             ┌─ the batch stands here until its last round
    i ─►[reg]─► first master left ─►[reg]─► rows to ─►[reg]─► bases to ─►[reg]─► o
                of each bank                banks, read       their lanes
    ```

    The batch comes sorted by keys that are places, bank above row
    (`rtl.ofan.place.to_place`). Of the masters that are not served, each bank takes the
    first; what it gives back waits at its lane for the batch's last round. Exact also when one key
    comes in batches behind each other, since a bank forwards.

    After a reset the banks are swept, a cycle a row and one, without ready.

    Args:
        config: an `OfanConfig` with a banked engine.
        pipe: the pipe whose initial pointers are wanted, 0 to `config.pipes` - 1.

    Ports:
        i (stream of `masked_fields`), o (stream of `updated_fields`).
    """

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        c = self.config = config
        self.latency = 4
        self.pipe = pipe
        self.file = BankFile(c, pipe)
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(c, masked_fields(c)))),
                "o": Out(stream.Signature(beat_layout(c, updated_fields(c)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        lanes, size = range(c.lanes_per_pipe), row_bits(c)
        m.submodules.file = file = self.file
        here, last, take = Signal(), Signal(), Signal()
        leaving = stream.Signature(data.StructLayout({})).create()
        stages = Stages(m, leaving, self.o, depth=3)
        held = Signal(self.i.p.shape(), name="held", reset_less=True)
        left, first = Signal(len(lanes)), Signal(len(lanes))
        same = Signal(len(lanes), reset_less=True)
        banks = [item.key[size:] for item in self.i.p.items]
        m.d.comb += [
            first.eq(self._first(left, same)),
            last.eq(~(left & ~first).any()),
            self.i.ready.eq(stages.advance & file.running & (~here | last)),
            take.eq(self.i.valid & self.i.ready),
            leaving.valid.eq(here & last),
            file.advance.eq(stages.advance),
        ]
        with m.If(take):
            m.d.sync += [
                held.eq(self.i.p),
                # Whether an item's bank is that of the item before it.
                same.eq(Cat(Const(0, 1), *(a == b for a, b in pairwise(banks)))),
                here.eq(1),
                left.eq(Cat(item.master for item in self.i.p.items)),
            ]
        with m.Elif(stages.advance):
            m.d.sync += [here.eq(here & ~last), left.eq(left & ~first)]

        active = Signal(len(lanes))  # with a reset: what stands here writes
        with m.If(stages.advance):
            m.d.sync += active.eq(first)
        asking = stages.register(held, "asking")
        rows = [item.key[:size] for item in asking.items]
        visits = [self._visit(item) for item in asking.items]
        for number in range(c.engine.banks):
            want = Signal(len(lanes), name=f"want_{number}")
            visit = Signal(visit_layout(c), name=f"visit_{number}")
            m.d.comb += [
                want.eq(active & Cat(item.key[size:] == number for item in asking.items)),
                file.rows[number].eq(gather(rows, want)),
                visit.as_value().eq(gather(visits, want)),
                file.visits[number].eq(stages.register(visit, f"visit_{number}")),
            ]

        served = stages.register(active, "served")
        given = stages.register(asking, "given")
        out = stages.register(given, "out")
        m.d.comb += self.o.p.fence.eq(out.fence)
        for lane in lanes:
            bank = given.items[lane].key[size:]
            mine = Signal(c.engine.banks, name=f"mine_{lane}")
            m.d.comb += mine.eq(Cat(bank == number for number in range(c.engine.banks)))
            base = gather(list(file.bases), mine)
            answer = self.o.p.items[lane]
            m.d.comb += answer.base.eq(stages.register(base, f"base_{lane}", enable=served[lane]))
            for name in masked_fields(c):
                m.d.comb += getattr(answer, name).eq(getattr(out.items[lane], name))
        return m

    def _visit(self, item) -> Value:
        """Return what a master brings to its bank, in the order of `visit_layout`."""
        if self.config.masks:
            return Cat(item.ways != 0, item.turn, item.mask, item.ways)
        return Cat(Const(1, 1), item.turn)

    def _first(self, left: Value, same: Value) -> Value:
        """Return which of the masters left are the first of their bank."""
        nodes = scan(
            list(zip(left, same, strict=True)),
            lambda before, here: (here[0] | here[1] & before[0], here[1] & before[1]),
        )
        earlier = Cat(Const(0, 1), *(node[0] for node in nodes[:-1]))
        return left & ~(same & earlier)
