"""The matched-banked engine: banks serve the longest prefix of a batch that asks each of them for
one key (models/ofan/matched.py)."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal, Value, unsigned
from amaranth.lib import stream, wiring

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from rtl.common.carrysave import ones
from rtl.common.modulo import modulo
from rtl.common.stage import Stages
from rtl.ofan.bank_masks import BankMasks, take_writes
from rtl.ofan.banks import BankFile, gather
from rtl.ofan.pipeline import engine_ports
from rtl.ofan.place import Place
from rtl.ofan.prefix import Prefix, group_of, places_layout
from rtl.ofan.replies import Replies
from rtl.ofan.waiting import BatchQueue


class MatchedBanked(wiring.Component):
    """Answers the packets of a batch as soon as their banks serve them, exactly as if all were
    served one by one in lane order. Latency 3 cycles where no packet waits (8 with failure logic);
    a batch a cycle while no bank is asked for two keys.

    ```
    i ─► Place ─► BatchQueue ─► Prefix ─►[reg]─► banks: read  ─►[reg]─► banks: Advance
                  less what is   │               counts of groups       base + turn, π ─►[reg]─► o
                  done already ◄─┘               at every bank
    ```

    A packet's turn at its bank is its rank in its group, behind all packets of the groups below:
    the counts of the groups, chained. With failure logic, `BankMasks` stands behind the first
    register, and turns are taken modulo the valid positions; a mask write waits until nothing is
    under way, and no batch is taken until the cycle in which it is done.

    Args:
        config: an `OfanConfig` with engine `matched-banked`.
        pipe: which pipe of the switch this is, 0 to `config.pipes` - 1.

    Ports:
        i (stream of `request_layout`): ready while the queue has room, whatever `o` does.
        o (stream of `reply_layout`): `valid` says which lanes have an answer in this beat.
        stall (in): what leaves does not move, whatever `o` says; for a switch of several pipes
            whose answers leave together.
        write (stream of `rtl.ofan.masks.write_layout`), pending (out: a write waits), with `masks`
            > 0.
    """

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        c = self.config = config
        self.pipe = pipe
        self.file = BankFile(c, pipe)
        self.masks = BankMasks(c) if c.masks else None
        self.replies = Replies(c, c.lanes_per_pipe)
        self.latency = 2 + 3 * bool(c.masks) + self.replies.latency
        super().__init__(engine_ports(c, stalls=True))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        given = stream.Signature(unsigned(0)).create()
        left = stream.Signature(unsigned(0)).create()
        self._stages = Stages(m, given, left, depth=self.latency - 1, stall=self.stall)
        m.submodules.file = self.file
        m.d.comb += [
            left.ready.eq(self.o.ready),
            self.o.valid.eq(left.valid),
            self.file.advance.eq(self._stages.advance),
        ]
        if self.masks is not None:
            m.submodules.masks = self.masks
        prefix, served = self._front(m)
        m.d.comb += given.valid.eq(served.any())

        later = self._stages.register
        bank = later([lane.bank for lane in prefix.lanes], "bank")
        row = later([lane.row for lane in prefix.lanes], "row")
        rank = later(list(prefix.ranks), "rank")
        rows = later(prefix.rows, "rows")
        *below, count = self._counts(m, served, bank)
        if self.masks is not None:
            m.d.comb += self.masks.rows.eq(rows)
            for _ in range(3):  # as long as the masks take
                bank, row, rank = later(bank, "bank"), later(row, "row"), later(rank, "rank")
                rows, below, count = later(rows, "rows"), later(below, "below"), later(count, "all")
        m.d.comb += self.file.rows.eq(rows)
        self._visit(m, count)
        self._answer(m, bank, row, rank, below)
        for _ in range(self.latency - 1):
            served = later(served, "served")
        m.d.comb += [lane.valid.eq(bit) for lane, bit in zip(self.o.p, served, strict=True)]
        return m

    def _front(self, m: Module) -> tuple[Prefix, Signal]:
        """Build the queue and the choice; return the choice, and what was served in the cycle
        before."""
        c = self.config
        advance = self._stages.advance
        m.submodules.queue = queue = BatchQueue(
            places_layout(c), c.engine.depth, tells=self.masks is not None
        )
        m.submodules.prefix = prefix = Prefix(c)
        done, served = Signal(c.lanes_per_pipe), Signal(c.lanes_per_pipe)
        takes = self.file.running
        if self.masks is not None:
            inside = Cat(queue.waits, served, *self._stages.valid).any()
            takes = takes & take_writes(m, self, self.masks, inside, advance)
        m.d.comb += [
            self.i.ready.eq(queue.i.ready & takes),
            queue.i.valid.eq(
                self.i.valid & takes & Cat(request.valid for request in self.i.p).any()
            ),
        ]
        for lane, request in enumerate(self.i.p):
            m.submodules[f"place_{lane}"] = place = Place(c)
            came, head, here = queue.i.p[lane], queue.o.p[lane], prefix.lanes[lane]
            m.d.comb += [
                place.destination.eq(request.destination),
                place.size_class.eq(request.size_class),
                came.bank.eq(place.bank),
                came.row.eq(place.row),
                came.there.eq(request.valid & self.i.valid & takes),
                here.bank.eq(head.bank),
                here.row.eq(head.row),
                here.there.eq(head.there & ~done[lane]),
            ]
        m.d.comb += queue.o.ready.eq(advance & prefix.whole)
        with m.If(advance):
            m.d.sync += [
                served.eq(prefix.served),
                done.eq((done | prefix.served) & (~prefix.whole).replicate(len(done))),
            ]
        return prefix, served

    def _counts(self, m: Module, served: Value, bank: list[Value]) -> list[list[Value]]:
        """Return for each group how many packets of the groups below each bank serves, and at last
        how many packets it serves."""
        size, banks = group_of(self.config), range(self.config.engine.banks)
        mine = self._own(m, bank, "asked")
        chain: list[list[Value]] = [[Const(0, 1) for _ in banks]]
        for start in range(0, len(bank), size):
            sums: list[Value] = []
            for number in banks:
                here = [served[lane] & mine[lane][number] for lane in range(start, start + size)]
                sums.append(Signal(bits_for(start + size + 1), name=f"count_{start}_{number}"))
                m.d.comb += sums[-1].eq(
                    chain[-1][number] + ones(m, here, f"group_{start}_{number}")
                )
            chain.append(sums)
        return chain

    def _visit(self, m: Module, counts: list[Value]) -> None:
        """Tell each bank what it serves."""
        c = self.config
        later = self._stages.register
        # Behind a reset, data registers still tell of packets that are lost.
        there = self._stages.valid[3 if self.masks is not None else 0]
        for number, (count, visit) in enumerate(zip(counts, self.file.visits, strict=True)):
            last = Signal(c.lane_bits, name=f"last_{number}")
            m.d.comb += last.eq(count - 1)
            ways: Value | int = c.uplinks
            if self.masks is not None:
                ways = self.masks.ways[number]
                m.d.comb += [
                    visit.mask.eq(later(self.masks.masks[number], "mask")),
                    visit.ways.eq(later(ways, "ways")),
                ]
            least = ways if isinstance(ways, int) else 1
            turn = modulo(m, last, ways, bound=c.lanes_per_pipe, least=least)
            m.d.comb += [
                visit.turn.eq(later(turn, "turn")),
                visit.writes.eq(later(count.any() & (ways != 0), "writes") & there),
            ]

    def _answer(
        self,
        m: Module,
        bank: list[Value],
        row: list[Value],
        rank: list[Value],
        below: list[list[Value]],
    ) -> None:
        """Give each packet what its bank's pointer leads it to. What comes in is of the cycle in
        which the banks read."""
        c = self.config
        later = self._stages.register
        m.submodules.replies = replies = self.replies
        before = self._own(m, bank, "before")
        bank, row = later(bank, "bank"), later(row, "row")
        if self.masks is None:
            before = self._own(m, bank, "mine")
            rank, below = later(rank, "rank"), later(below, "below")
        for lane, packet in enumerate(replies.packets):
            group = lane // group_of(c)
            behind = gather(below[group], before[lane]) if group else Const(0)
            whole = Signal(c.lane_bits, name=f"whole_{lane}")
            m.d.comb += [
                whole.eq(behind + rank[lane]),
                packet.bank.eq(bank[lane]),
                packet.row.eq(row[lane] if c.order != "plain" else 0),
                packet.rank.eq(whole if self.masks is None else later(whole, "whole")),
                self.o.p[lane].uplink.eq(replies.uplinks[lane]),
                self.o.p[lane].unroutable.eq(replies.unroutable[lane]),
            ]
        m.d.comb += [
            replies.bases.eq(self.file.bases),
            replies.advance.eq(self._stages.advance),
        ]
        if self.masks is not None:
            for number, visit in enumerate(self.file.visits):
                m.d.comb += [
                    replies.masks[number].eq(visit.mask),
                    replies.ways[number].eq(visit.ways),
                ]

    def _own(self, m: Module, bank: list[Value], name: str) -> list[Signal]:
        """Return for each lane a bit a bank: it is the lane's own."""
        words = []
        for lane, number in enumerate(bank):
            words.append(Signal(self.config.engine.banks, name=f"{name}_{lane}"))
            m.d.comb += words[-1].eq(Cat(number == b for b in range(self.config.engine.banks)))
        return words
