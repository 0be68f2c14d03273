"""The update of the sorted-banked engine: pointers in banks, in as many rounds as the fullest bank
has keys (models/ofan/rounds.py)."""

from __future__ import annotations

from itertools import pairwise

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.prefix import scan
from models.ofan.config import OfanConfig
from rtl.common.stage import Stages
from rtl.ofan.banks import BankFile, gather, visit_layout
from rtl.ofan.masks import masked_fields
from rtl.ofan.match import row_bits
from rtl.ofan.sort import beat_layout
from rtl.ofan.update import updated_fields


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
