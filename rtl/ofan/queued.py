"""The queued-banked engine: short queues in front of banks (models/ofan/queued.py)."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from rtl.common.modulo import modulo
from rtl.common.stage import Stages
from rtl.ofan.banks import Banks
from rtl.ofan.match import Match, queues, rank_bits
from rtl.ofan.order import Uplink
from rtl.ofan.pipeline import reply_layout, request_layout
from rtl.ofan.place import Place
from rtl.ofan.queues import Queues, fold_of


class QueuedBanked(wiring.Component):
    """Answers packets of a batch as soon as their banks serve them, exactly as if all were served
    one by one in lane order. Latency 3 cycles where no packet waits; a batch a cycle while banks
    are not asked for two keys at once.

    ```
    i ─► Queues ─► Place ─► Match ─►[reg]─► Banks: route, read ─►[reg]─► advance, return, + rank,
            ▲                 │                                          π ─►[reg]─► o
            └───── served ────┘
    ```

    Args:
        config: an `OfanConfig` with engine `queued-banked`.
        pipe: which pipe of the switch this is, 0 to `config.pipes` - 1.

    Ports:
        i (stream of `request_layout`).
        o (stream of `reply_layout`): `valid` says which lanes have an answer in this beat.
        stall (in): nothing moves; for a switch of several pipes whose answers leave together.
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
        count, fold, b, w = queues(c), fold_of(c), c.uplink_bits, c.uplinks
        m.submodules.queues = heads = Queues(c)
        m.submodules.match = match = Match(c)
        m.submodules.banks = banks = Banks(c, self.pipe, count)

        served = stream.Signature(unsigned(count)).create()
        left = stream.Signature(unsigned(1)).create()
        stages = Stages(m, served, left, depth=3, stall=self.stall)
        m.d.comb += [
            served.valid.eq(heads.old.any()),  # the first packet of the oldest wave is served
            served.payload.eq(match.served),
            left.ready.eq(self.o.ready),
            self.o.valid.eq(left.valid),
            self.i.ready.eq(heads.ready & stages.advance & banks.running),
            heads.offered.eq(self.i.valid & banks.running),
            heads.advance.eq(stages.advance),
            heads.served.eq(match.served),
            match.allowed.eq(heads.allowed),
            banks.advance.eq(stages.advance),
        ]
        for lane, request in zip(heads.lanes, self.i.p, strict=True):
            m.d.comb += [
                lane.packet.destination.eq(request.destination),
                lane.packet.size_class.eq(request.size_class),
                lane.valid.eq(request.valid),
            ]
        for queue in range(count):
            head, packet, request = match.heads[queue], heads.packets[queue], banks.requests[queue]
            m.submodules[f"place_{queue}"] = place = Place(c)
            m.d.comb += [
                place.destination.eq(packet.destination),
                place.size_class.eq(packet.size_class),
                head.bank.eq(place.bank),
                head.row.eq(place.row),
                head.old.eq(heads.old[queue]),
                head.there.eq(heads.old[queue] | heads.young[queue]),
            ]
            there = stages.register(match.served[queue], f"there_{queue}")
            row = stages.register(place.row, f"row_{queue}")
            bank = stages.register(place.bank, f"bank_{queue}")
            ranks = [stages.register(part, f"rank_{queue}") for part in match.ranks[queue]]
            fold_number = stages.register(heads.folds[queue], f"fold_{queue}")
            m.d.comb += [
                request.there.eq(there & stages.valid[0]),
                request.bank.eq(bank),
                request.row.eq(row),
            ]
            rank = Signal(rank_bits(c), name=f"rank_{queue}")
            m.d.comb += rank.eq(ranks[0] + ranks[1])
            turn = modulo(m, rank, w, bound=count, least=w, name=f"turn_{queue}")
            turn = stages.register(turn, f"turn_{queue}")
            total, position = (
                Signal(bits_for(2 * w), name=f"total_{queue}"),
                Signal(b, name=f"position_{queue}"),
            )
            m.submodules[f"uplink_{queue}"] = uplink = Uplink(c)
            m.d.comb += [
                total.eq(banks.pointers[queue] + turn),
                position.eq(modulo(m, total, w, bound=2 * w, least=w, name=f"position_{queue}")),
                uplink.position.eq(position),
            ]
            if c.order != "plain":
                m.d.comb += uplink.key.eq(
                    Place.key(c, stages.register(bank, "bank"), stages.register(row, "row"))
                )
            answer = stages.register(uplink.uplink, f"uplink_{queue}")
            there = stages.register(there, f"there_{queue}")
            fold_number = stages.register(fold_number, f"fold_{queue}")
            for number in range(fold):
                lane = self.o.p[number * count + queue]
                m.d.comb += [
                    lane.uplink.eq(answer),
                    lane.valid.eq(
                        stages.register(there & (fold_number == number), f"valid_{queue}")
                    ),
                ]
        return m
