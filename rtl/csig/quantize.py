"""From a measure to the code of a tag: a search tree for compact tags, a product for wide ones."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from models.csig.beat import coded, measured, table_write
from models.csig.config import CsigConfig
from models.csig.quantize import WIDE_BITS
from models.csig.signals import SIGNAL_BITS
from models.csig.tables import (
    CODE,
    LEAST_SHIFT,
    LEVEL,
    LEVELS,
    SCALE,
    SCALE_BITS,
    SHIFT_BITS,
    START_BITS,
    SWAP,
)
from rtl.common.carrysave import WORD, carry_save, product_rows
from rtl.common.stage import Stages

DIGIT = 17
"""Bits that an addition takes in one stage."""

DIGITS = -(-START_BITS // DIGIT)

AHEAD = 2
"""Registers between the reading of the bank in `rtl.csig.lookup` and this block."""


def scale_layout() -> data.StructLayout:
    """A word of the wide tables, as `models.csig.tables.Scale.word` packs it."""
    return data.StructLayout({"factor": SCALE_BITS, "start": START_BITS, "shift": SHIFT_BITS})


class Quantize(wiring.Component):
    """Turns a measure into a code. Latency 4 cycles, 9 with wide tags, none where software writes
    all values; throughput one packet a cycle.

    ```
    compact   ≥ word 1? ─► ≥ word 2 or 3? two more below ─► the same, 8 rows ─► code of the range
    wide      · factor + start, carry-save ─► five digits of the sum ─► >> shift, into 20 bits
    ```

    The search tree of 31 thresholds is three memories: a row has a threshold and the two below it,
    all compared at once. Carry-save addition takes two stages.

    Every port has two sets of tables. Writes go to the one that is not valid; a swap makes it the
    valid one for packets that enter later, and writes wait until no packet is left that entered
    before. So no packet sees half a table. Where software writes all values there are no tables,
    and writes go nowhere.

    Args:
        config: a `CsigConfig`.

    Ports:
        i (stream of `beat.measured`), o (stream of `beat.coded`).
        write (stream of `beat.table_write`): thresholds, codes, scales, swaps.
        bank (out, one bit a port): which tables are valid; only where there are some.
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        self.latency = (DIGITS + 4 if "wide" in c.formats else 4) if c.native else 0
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(measured(c)))),
                "o": Out(stream.Signature(data.StructLayout(coded(c)))),
                "write": In(stream.Signature(data.StructLayout(table_write(c)))),
                **({"bank": Out(c.ports)} if c.native else {}),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c, i, o = self.config, self.i, self.o
        stages = Stages(m, i, o, depth=self.latency)
        if not c.native:
            stages.carry(i, o)
            m.d.comb += [o.p.code.eq(i.p.written), self.write.ready.eq(1)]
            return m

        waiting = Signal(range(self.latency + AHEAD + 1))
        written = self.write.p
        done = Signal()
        m.d.comb += [
            self.write.ready.eq(waiting == 0),
            done.eq(self.write.valid & self.write.ready),
        ]
        with m.If(done & (written.kind == SWAP)):
            m.d.sync += [
                waiting.eq(self.latency + AHEAD),
                self.bank.eq(self.bank ^ (Const(1) << written.port)),
            ]
        with m.Elif(stages.advance & (waiting != 0)):
            m.d.sync += waiting.eq(waiting - 1)
        into = Cat(~self.bank.bit_select(written.port, 1), written.signal, written.port)

        makers = {"compact": self._compact, "wide": self._wide}
        code, *more = [makers[format](m, stages, done, into) for format in c.formats]
        later = self._later(stages)
        if more:
            code = Mux(later.wide, more[0], code)
        if c.agent:
            code = Mux(later.by_agent, later.written, code)
        m.d.comb += [
            o.p.code.eq(code),
            *(o.p[name].eq(later[name]) for name in coded(c) if name != "code"),
        ]
        return m

    def _later(self, stages: Stages) -> data.View:
        """What is wanted of the packet when its code is there, in one register a stage: a simulator
        then moves a word, not a dozen fields."""
        fields = measured(self.config)
        wanted = {name: fields[name] for name in fields if name not in ("measure", "bank")}
        later = Cat(self.i.p[name] for name in wanted)
        for _ in range(self.latency):
            later = stages.register(later, "later")
        return data.View(data.StructLayout(wanted), later)

    def _table(self, m: Module, name: str, shape: Any, below: int) -> memory.Memory:
        """A memory of `2**below` rows for each port, signal and bank."""
        m.submodules[name] = table = memory.Memory(
            shape=shape, depth=max(1, self.config.ports) * 2 << SIGNAL_BITS + below, init=[]
        )
        return table

    def _compact(self, m: Module, stages: Stages, done: Value, into: Value) -> Value:
        i, written = self.i.p, self.write.p
        bits = self.config.measure_bits + 1
        measure, place = i.measure, Cat(i.bank, i.signal, i.port)
        path: Value = Const(0, 0)
        for level, words in ((0, 1), (1, 3), (3, 3)):
            row = data.ArrayLayout(bits, words)
            table = self._table(m, f"thresholds_{level}", row, level)
            write, read = table.write_port(granularity=1), table.read_port()
            # The words of level l are 2**l and up; a row has one of them and its two below.
            index = written.index
            upper = (index >> level) == 1
            lower = (index >> (level + 1)) == 1
            which = [upper, lower & ~index[0], lower & index[0]][:words]
            address = Mux(upper, index[:level], index[1 : level + 1])
            m.d.comb += [
                write.addr.eq(Cat(address, into)),
                *(word.eq(written.value) for word in write.data),
                write.en.eq(Mux(done & (written.kind == LEVEL), Cat(which), 0)),
                read.addr.eq(Cat(path, place)),
                read.en.eq(stages.advance),
            ]
            measure = stages.register(measure, f"measure_{level}")
            place = stages.register(place, f"place_{level}")
            path = stages.register(path, f"path_{level}")
            reached = [measure >= word for word in read.data]
            below = [] if words == 1 else [Mux(reached[0], reached[2], reached[1])]
            path = Cat(*below, reached[0], path)
        codes = self._table(m, "codes", 5, LEVELS)
        write, read = codes.write_port(), codes.read_port()
        m.d.comb += [
            write.addr.eq(Cat(written.index, into)),
            write.data.eq(written.value),
            write.en.eq(done & (written.kind == CODE)),
            read.addr.eq(Cat(path, place)),
            read.en.eq(stages.advance),
        ]
        code = read.data
        for _ in range(self.latency - 4):
            code = stages.register(code, "code")
        return code

    def _wide(self, m: Module, stages: Stages, done: Value, into: Value) -> Value:
        i, written = self.i.p, self.write.p
        scales = self._table(m, "scales", scale_layout(), 0)
        write, read = scales.write_port(), scales.read_port()
        m.d.comb += [
            write.addr.eq(into),
            Value.cast(write.data).eq(written.value),
            write.en.eq(done & (written.kind == SCALE)),
            read.addr.eq(Cat(i.bank, i.signal, i.port)),
            read.en.eq(stages.advance),
        ]
        scale = read.data
        measure = stages.register(i.measure, "measured")
        rows = [scale.start, *product_rows(scale.factor, measure)]
        shift = scale.shift
        for most in (4, 2):  # two stages, or the paths would be too long
            sums = carry_save(m, rows, START_BITS, f"to_{most}", most)
            words = [[row[:WORD], row[WORD:]] for row in sums]
            rows = [Cat(stages.register(row, "row")) for row in words]
            shift = stages.register(shift, "shift")
        left, right = rows
        total: Value = Const(0, 0)  # from bit LEAST_SHIFT up: none below it comes to the code
        carry: Value = Const(0, 1)
        for digit in range(DIGITS):
            start, bits = digit * DIGIT, min(DIGIT, len(left))
            part = Signal(bits + 1, name=f"digit_{digit}")
            m.d.comb += part.eq(left[:bits] + right[:bits] + carry)
            kept = stages.register(part, f"sum_{digit}")
            needed = kept[min(DIGIT, max(0, LEAST_SHIFT - start)) : -1]
            total = Cat(stages.register(total, f"total_{digit}"), needed)
            carry = kept[-1]
            left, right = (stages.register(row[bits:], "rest") for row in (left, right))
            shift = stages.register(shift, "shift")
        moved = Signal(len(total))
        m.d.comb += moved.eq(total >> shift)
        code = Mux(moved[WIDE_BITS:].any(), Const(-1, WIDE_BITS), moved[:WIDE_BITS])
        return stages.register(Mux(total[-1], 0, code), "wide_code")
