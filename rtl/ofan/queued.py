"""The queued-banked engine: packets wait in slots in front of banks (models/ofan/queued.py)."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Value, unsigned
from amaranth.lib import stream, wiring

from models.ofan.config import OfanConfig
from rtl.common.carrysave import ones
from rtl.common.modulo import modulo
from rtl.common.stage import Stages
from rtl.ofan.bank_masks import BankMasks, take_writes
from rtl.ofan.banks import BankFile, Route
from rtl.ofan.match import Match, queues
from rtl.ofan.pipeline import engine_ports
from rtl.ofan.place import Place
from rtl.ofan.replies import Replies
from rtl.ofan.slots import Slots


class QueuedBanked(wiring.Component):
    """Answers packets as soon as their banks serve them, exactly as if all were served one by one
    in lane order. Latency 3 cycles where no packet waits, 8 with failure logic; a batch a cycle
    while no two packets meet in a queue, and no bank is asked for two keys or by two waves.

    ```
    i ─► Place ─► Slots ─► Match ─►[reg]─► Route, count ─►[reg]─► BankFile ─► Replies ─►[reg]─► o
                    ▲         │             read the banks         advance
                    └─ served ┘
    ```

    With failure logic `BankMasks` stands between Route and the banks, and Replies takes two cycles
    more. A mask write waits until nothing is under way; no batch is taken until the cycle in which
    it is done.

    Args:
        config: an `OfanConfig` with engine `queued-banked`.
        pipe: which pipe of the switch this is, 0 to `config.pipes` - 1.

    Ports:
        i (stream of `request_layout`).
        o (stream of `reply_layout`): `valid` says which lanes have an answer in this beat.
        stall (in): nothing moves; for a switch of several pipes whose answers leave together.
        write (stream of `rtl.ofan.masks.write_layout`), pending (out: a write waits), with `masks`
            > 0.
    """

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        c = self.config = config
        self.pipe = pipe
        self.file = BankFile(c, pipe)
        self.replies = Replies(c, queues(c))
        self.latency = 2 + 3 * bool(c.masks) + self.replies.latency
        super().__init__(engine_ports(c, stalls=True))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        m.submodules.slots = slots = Slots(c)
        m.submodules.match = match = Match(c)
        m.submodules.route = route = Route(c, queues(c))
        m.submodules.file = file = self.file
        m.submodules.replies = replies = self.replies
        served = stream.Signature(unsigned(0)).create()
        left = stream.Signature(unsigned(0)).create()
        stages = Stages(m, served, left, depth=self.latency, stall=self.stall)
        later = stages.register

        running = file.running
        if c.masks:
            m.submodules.masks = masks = BankMasks(c)
            inside = ~slots.empty | Cat(stages.valid).any()
            running = running & take_writes(m, self, masks, inside, stages.advance)
        m.d.comb += [
            served.valid.eq(slots.some),
            left.ready.eq(self.o.ready),
            self.o.valid.eq(left.valid),
            self.i.ready.eq(slots.ready & stages.advance & running),
            slots.offered.eq(self.i.valid & running),
            slots.advance.eq(stages.advance),
            file.advance.eq(stages.advance),
            replies.advance.eq(stages.advance),
        ]
        self._heads(m, slots, match)

        # The packets that are served, on their way to the banks.
        bank = later([head.bank for head in match.heads], "bank")
        row = later([head.row for head in match.heads], "row")
        there = later(match.served, "there")
        folds = later(list(slots.folds), "fold")
        rank = later(list(match.ranks), "rank")
        for number, packet in enumerate(route.packets):
            m.d.comb += [
                packet.there.eq(there[number] & stages.valid[0]),
                packet.bank.eq(bank[number]),
                packet.row.eq(row[number]),
            ]
        # The turn of a group's last packet: how many of the group follow its first.
        follows = Cat(number.any() for number in rank)
        rows = list(route.rows)
        last = [ones(m, list(asks & follows), f"last_{n}") for n, asks in enumerate(route.asks)]
        some = [asks.any() for asks in route.asks]
        ways: list[Value] = [Const(c.uplinks)] * len(rows)
        if c.masks:
            m.d.comb += masks.rows.eq(route.rows)
            for _ in range(3):
                rows, last, some = later(rows, "rows"), later(last, "last"), later(some, "some")
                bank, row, rank = later(bank, "bank"), later(row, "row"), later(rank, "rank")
            ways = list(masks.ways)
        bank, row, rank = later(bank, "bank"), later(row, "row"), later(rank, "rank")
        at_banks = self.latency - self.replies.latency - 1
        for number, visit in enumerate(file.visits):
            limits = {"least": 1 if c.masks else c.uplinks, "name": f"turn_{number}"}
            turn = modulo(m, last[number], ways[number], bound=queues(c), **limits)
            m.d.comb += [
                file.rows[number].eq(rows[number]),
                visit.turn.eq(later(turn, "turn")),
                # What was under way when a reset came must not write behind the sweep.
                visit.writes.eq(
                    later(some[number] & ways[number].any(), "writes") & stages.valid[at_banks]
                ),
            ]
            if c.masks:
                mask = later(masks.masks[number], "mask")
                number_of_ways = later(ways[number], "ways")
                m.d.comb += [
                    visit.mask.eq(mask),
                    visit.ways.eq(number_of_ways),
                    replies.masks[number].eq(mask),
                    replies.ways[number].eq(number_of_ways),
                ]
        m.d.comb += replies.bases.eq(file.bases)
        for number, packet in enumerate(replies.packets):
            m.d.comb += [
                packet.bank.eq(bank[number]),
                packet.row.eq(row[number] if c.order != "plain" else 0),
                packet.rank.eq(rank[number]),
            ]
        for _ in range(self.latency - 2):
            there, folds = later(there, "there"), later(folds, "fold")
        for lane, reply in enumerate(self.o.p):
            fold, queue = divmod(lane, queues(c))
            m.d.comb += [
                reply.uplink.eq(replies.uplinks[queue]),
                reply.unroutable.eq(replies.unroutable[queue]),
                reply.valid.eq(later(there[queue] & (folds[queue] == fold), f"valid_{lane}")),
            ]
        return m

    def _heads(self, m: Module, slots: Slots, match: Match) -> None:
        """Wire the lanes to the queues, and what they show to Match."""
        for number, (lane, request) in enumerate(zip(slots.lanes, self.i.p, strict=True)):
            m.submodules[f"place_{number}"] = place = Place(self.config)
            m.d.comb += [
                place.destination.eq(request.destination),
                place.size_class.eq(request.size_class),
                lane.packet.bank.eq(place.bank),
                lane.packet.row.eq(place.row),
                lane.valid.eq(request.valid),
            ]
        m.d.comb += [slots.served.eq(match.served), match.allowed.eq(slots.allowed)]
        for queue, head in enumerate(match.heads):
            m.d.comb += [
                head.bank.eq(slots.packets[queue].bank),
                head.row.eq(slots.packets[queue].row),
                head.old.eq(slots.old[queue]),
                head.there.eq(slots.old[queue] | slots.young[queue]),
            ]
