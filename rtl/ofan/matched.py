"""The matched-banked engine: batches in a queue, of which banks serve the longest prefix that asks
each of them for one key (models/ofan/matched.py)."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for, integer
from models.ofan.config import OfanConfig
from rtl.common.modulo import modulo
from rtl.common.stage import Stages
from rtl.ofan.decombine import Pick
from rtl.ofan.match import place_fields, row_bits
from rtl.ofan.order import Uplink
from rtl.ofan.pipeline import reply_layout, request_layout
from rtl.ofan.place import Place
from rtl.ofan.rounds import BankFile, gather


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

    Ports:
        i, o (stream of `layout`): i.ready does not depend on o.ready.
    """

    def __init__(self, layout: Any, depth: int) -> None:
        self.depth = integer("depth", depth, 1, 64)
        self.latency = 0
        super().__init__({"i": In(stream.Signature(layout)), "o": Out(stream.Signature(layout))})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = self.i.payload.shape().size
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
        shown = self.i.payload.as_value() & (~waiting).replicate(width)
        for number in range(self.depth):
            slot = Signal(width, name=f"slot_{number}", reset_less=True)
            with m.If(push & tail[number]):
                m.d.sync += [slot.eq(self.i.payload), used[number].eq(1)]
            with m.Elif(pop & head[number]):
                m.d.sync += used[number].eq(0)
            shown = shown | slot & (waiting & head[number]).replicate(width)
        with m.If(push):
            m.d.sync += tail.eq(tail.rotate_left(1))
        with m.If(pop):
            m.d.sync += head.eq(head.rotate_left(1))
        m.d.comb += self.o.payload.as_value().eq(shown)
        return m


def places_layout(c: OfanConfig) -> data.ArrayLayout:
    """A batch in lane order: where each packet's pointer lives, and whether it is `there`."""
    lane = data.StructLayout({**place_fields(c), "there": 1})  # type: ignore[arg-type]
    return data.ArrayLayout(lane, c.lanes_per_pipe)


def either(words: list[Value]) -> Value:
    """Return the OR of some words, a balanced tree a bit."""
    return Cat(Cat(word[bit] for word in words).any() for bit in range(len(words[0])))


def total(words: list[Value]) -> Value:
    """Return the sum of some numbers, by a balanced tree of adders."""
    if not words:
        return Const(0, 1)
    while len(words) > 1:
        odd = words[-1:] if len(words) % 2 else []
        words = [a + b for a, b in zip(words[::2], words[1::2], strict=False)] + odd
    return words[0]


def group_of(c: OfanConfig) -> int:
    """Lanes that are compared with each other."""
    return min(c.engine.group, c.lanes_per_pipe)


class Prefix(wiring.Component):
    """Finds the longest prefix of a batch's packets that asks no bank for two keys. Combinational.

    ```
    lanes of a group ─► pairs: same bank, same row? ─► blocked in the group ───────────────┐
                  └───► first of its bank ─► OR: the group's row at each bank              ▼
                                                    └─► another one than groups below? ─► served
    ```

    Only lanes of one group are compared with each other. Of a bank each group has one row, that of
    the first lane there, and a group is compared with the groups below it bank by bank. What an
    earlier conflict makes of a later group does not matter, for that is not served anyway.

    Args:
        config: an `OfanConfig` with engine `matched-banked`.

    Ports:
        lanes (in, `there`, `bank` and `row` a lane).
        served (out, one bit a lane).
        ranks (out, a number a lane): packets of its group that its bank serves before it.
        rows (out, a row a bank): what the bank serves; 0 if nothing.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        lanes = c.lanes_per_pipe
        super().__init__(
            {
                "lanes": In(places_layout(c)),
                "served": Out(lanes),
                "ranks": Out(data.ArrayLayout(bits_for(group_of(c)), lanes)),
                "rows": Out(data.ArrayLayout(row_bits(c), c.engine.banks)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        size, banks = group_of(c), range(c.engine.banks)
        all_served: Value = Const(1, 1)
        asked: Value = Const(0, len(banks))
        below: list[Value] = [Const(0, len(banks)) for _ in range(row_bits(c))]
        rows = below
        for start in range(0, c.lanes_per_pipe, size):
            lanes = [self.lanes[lane] for lane in range(start, start + size)]
            blocked, first = self._within(m, start, lanes)
            asks = []
            for number, lane in enumerate(lanes):
                asks.append(Signal(len(banks), name=f"asks_{start + number}"))
                m.d.comb += asks[-1].eq(Cat(lane.there & (lane.bank == bank) for bank in banks))
            asked_here = Signal(len(banks), name=f"asked_{start}")
            m.d.comb += asked_here.eq(either(asks))
            rows_here = []
            for bit in range(row_bits(c)):
                rows_here.append(Signal(len(banks), name=f"row_{start}_{bit}"))
                shown = [
                    ask & (lane.row[bit] & first[number]).replicate(len(banks))
                    for number, (ask, lane) in enumerate(zip(asks, lanes, strict=True))
                ]
                m.d.comb += rows_here[-1].eq(either(shown))
            clash = Signal(len(banks), name=f"clash_{start}")
            if start:
                differ = [a ^ b for a, b in zip(rows_here, below, strict=True)]
                m.d.comb += clash.eq(asked & asked_here & (either(differ) if differ else 0))
            for number, lane in enumerate(lanes):
                stops = Signal(name=f"stops_{start + number}")
                m.d.comb += [
                    stops.eq(
                        blocked[: number + 1].any()
                        | (either(asks[: number + 1]) & clash).any()
                    ),
                    self.served[start + number].eq(lane.there & all_served & ~stops),
                ]
            unstopped = Signal(name=f"unstopped_{start}")
            m.d.comb += unstopped.eq(all_served & ~stops)
            all_served = unstopped
            rows = [a | b & ~asked for a, b in zip(rows, rows_here, strict=True)]
            below = [a | b for a, b in zip(below, rows_here, strict=True)]
            asked = asked | asked_here
        for bank in banks:
            m.d.comb += self.rows[bank].eq(Cat(word[bank] for word in rows))
        return m

    def _within(self, m: Module, start: int, lanes: list[Any]) -> tuple[Signal, Signal]:
        """Compare the lanes of a group: return which have an earlier lane of their bank with
        another row, and which have none of their bank."""
        blocked = Signal(len(lanes), name=f"blocked_{start}")
        first = Signal(len(lanes), name=f"first_{start}")
        for high, upper in enumerate(lanes):
            near, other = [], []
            for low, lower in enumerate(lanes[:high]):
                where = f"{start + low}_{start + high}"
                near.append(Signal(name=f"near_{where}"))
                other.append(Signal(name=f"other_{where}"))
                m.d.comb += [
                    near[-1].eq(lower.there & (lower.bank == upper.bank)),
                    other[-1].eq(near[-1] & (lower.row != upper.row)),
                ]
            m.d.comb += [
                blocked[high].eq(upper.there & Cat(other).any()),
                first[high].eq(~Cat(near).any()),
                self.ranks[start + high].eq(total(near)),
            ]
        return blocked, first


class MatchedBanked(wiring.Component):
    """Answers the packets of a batch as soon as their banks serve them, exactly as if all were
    served one by one in lane order. Latency 3 cycles where no packet waits; a batch a cycle while
    no bank is asked for two keys.

    ```
    i ─► Place ─► BatchQueue ─► Prefix ─►[reg]─► banks: read  ─►[reg]─► banks: Advance
                  less what is   │               counts of groups       base + turn, π ─►[reg]─► o
                  done already ◄─┘               at every bank
    ```

    A packet's turn at its bank is its rank in its group, behind all packets of the groups below:
    the counts of the groups, chained.

    Args:
        config: an `OfanConfig` with engine `matched-banked`.
        pipe: which pipe of the switch this is, 0 to `config.pipes` - 1.

    Ports:
        i (stream of `request_layout`): ready while the queue has room, whatever `o` does.
        o (stream of `reply_layout`): `valid` says which lanes have an answer in this beat.
        stall (in): what leaves does not move, whatever `o` says; for a switch of several pipes
            whose answers leave together.
    """

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        c = self.config = config
        self.pipe = pipe
        self.latency = 3
        super().__init__(
            {
                "i": In(stream.Signature(request_layout(c))),
                "o": Out(stream.Signature(reply_layout(c))),
                "stall": In(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        lanes, banks = range(c.lanes_per_pipe), range(c.engine.banks)
        m.submodules.file = file = BankFile(c, self.pipe)
        given = stream.Signature(unsigned(0)).create()
        left = stream.Signature(unsigned(0)).create()
        stages = Stages(m, given, left, depth=2, stall=self.stall)
        m.d.comb += [
            left.ready.eq(self.o.ready),
            self.o.valid.eq(left.valid),
            file.advance.eq(stages.advance),
        ]
        prefix, served = self._front(m, stages.advance, file.running)
        m.d.comb += given.valid.eq(served.any())
        bank = [stages.register(lane.bank, "bank") for lane in prefix.lanes]
        row = [stages.register(lane.row, "row") for lane in prefix.lanes]
        rank = [stages.register(rank, "rank") for rank in prefix.ranks]
        m.d.comb += file.rows.eq(stages.register(prefix.rows, "rows"))

        # What each bank serves of each group, and of the groups below it.
        mine = self._of_banks(m, bank, "mine")
        below: list[list[Value]] = [[Const(0, 1)] for _ in banks]
        size = group_of(c)
        for number in banks:
            for start in range(0, c.lanes_per_pipe, size):
                here = total([served[n] & mine[n][number] for n in lanes[start : start + size]])
                count = Signal(bits_for(start + size + 1), name=f"count_{start}_{number}")
                m.d.comb += count.eq(below[number][-1] + here)
                below[number].append(count)
            count = below[number].pop()
            last = Signal(c.lane_bits, name=f"last_{number}")
            m.d.comb += last.eq(count - 1)
            turn = modulo(m, last, c.uplinks, bound=c.lanes_per_pipe, least=c.uplinks)
            m.d.comb += [
                file.visits[number].writes.eq(stages.register(count.any(), "writes")),
                file.visits[number].turn.eq(stages.register(turn, "turn")),
            ]
        groups = [stages.register([counts[g] for counts in below], "below")
                  for g in range(len(below[0]))]

        there = stages.register(served, "there")
        bank = stages.register(bank, "bank_read")
        row, rank = stages.register(row, "row_read"), stages.register(rank, "rank_read")
        mine = self._of_banks(m, bank, "mine_read")
        for lane in lanes:
            m.submodules[f"pick_{lane}"] = pick = Pick(c)
            m.submodules[f"uplink_{lane}"] = uplink = Uplink(c)
            turn = Signal(c.lane_bits, name=f"turn_{lane}")
            m.d.comb += [
                turn.eq(gather(groups[lane // size], mine[lane]) + rank[lane]),
                pick.turn.eq(
                    modulo(m, turn, c.uplinks, bound=c.lanes_per_pipe, least=c.uplinks)
                ),
                pick.base.eq(gather(list(file.bases), mine[lane])),
                uplink.key.eq(Place.key(c, bank[lane], row[lane])),
                uplink.position.eq(pick.position),
                self.o.p[lane].valid.eq(stages.register(there[lane], f"valid_{lane}")),
                self.o.p[lane].uplink.eq(stages.register(uplink.uplink, f"uplink_{lane}")),
            ]
        return m

    def _front(self, m: Module, advance: Value, running: Value) -> tuple[Prefix, Signal]:
        """Build the queue and the choice; return the choice, and what was served in the cycle
        before."""
        c = self.config
        m.submodules.queue = queue = BatchQueue(places_layout(c), c.engine.depth)
        m.submodules.prefix = prefix = Prefix(c)
        some = Cat(request.valid for request in self.i.p).any()
        m.d.comb += [
            self.i.ready.eq(queue.i.ready & running),
            queue.i.valid.eq(self.i.valid & running & some),
        ]
        done, served = Signal(c.lanes_per_pipe), Signal(c.lanes_per_pipe)
        for lane, request in enumerate(self.i.p):
            m.submodules[f"place_{lane}"] = place = Place(c)
            m.d.comb += [
                place.destination.eq(request.destination),
                place.size_class.eq(request.size_class),
                queue.i.p[lane].bank.eq(place.bank),
                queue.i.p[lane].row.eq(place.row),
                queue.i.p[lane].there.eq(request.valid & self.i.valid & running),
                prefix.lanes[lane].bank.eq(queue.o.p[lane].bank),
                prefix.lanes[lane].row.eq(queue.o.p[lane].row),
                prefix.lanes[lane].there.eq(queue.o.p[lane].there & ~done[lane]),
            ]
        finished = ~(Cat(lane.there for lane in prefix.lanes) & ~prefix.served).any()
        m.d.comb += queue.o.ready.eq(advance & finished)
        with m.If(advance):
            m.d.sync += [
                served.eq(prefix.served),
                done.eq((done | prefix.served) & ~finished.replicate(len(done))),
            ]
        return prefix, served

    def _of_banks(self, m: Module, bank: list[Value], name: str) -> list[Signal]:
        """Return for each lane a bit a bank: it is the lane's own."""
        words = []
        for lane, number in enumerate(bank):
            words.append(Signal(self.config.engine.banks, name=f"{name}_{lane}"))
            m.d.comb += words[-1].eq(Cat(number == b for b in range(self.config.engine.banks)))
        return words
