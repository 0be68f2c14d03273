"""Short queues that the lanes of a pipe share, in front of the banks (models/ofan/queued.py)."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from models.ofan.queued import WAVES
from rtl.ofan.match import head_layout, place_fields, queues

WAVE_BITS = bits_for(WAVES)


def fold_of(c: OfanConfig) -> int:
    """Lanes that share a queue."""
    return c.lanes_per_pipe // queues(c)


def entry_layout(c: OfanConfig) -> data.StructLayout:
    """A packet in a queue: where its pointer lives, the lane it came in on (its `fold`, the lane
    being fold · queues + queue), and the number of its wave."""
    fields = {**place_fields(c), "fold": unsigned(bits_for(fold_of(c))), "wave": WAVE_BITS}
    return data.StructLayout(fields)  # type: ignore[arg-type]


class Queues(wiring.Component):
    """Takes batches, shows the head of every queue, and drops what was served. A batch that is
    taken is at the heads in the same cycle; one a cycle while there is room.

    ```
    lanes ─► first, second, … of the queue's lanes ──┬──────────────► head, if the queue is empty
                                                     ▼
                                         [E2]─►[E1]─►[E0]───────────► head
    ```

    Entry 0 is the head; what leaves makes the others move up, what comes goes behind the last.

    Args:
        config: an `OfanConfig` with engine `queued-banked`.

    Ports:
        lanes (in, `place_fields` and `valid` a lane), offered (in): a batch is there.
        ready (out): there is room for the offered lanes.
        heads (out, `head_layout` a queue), folds (out, a number a queue): what may be served now.
        allowed (out, one bit a queue): see `Match`.
        served (in, one bit a queue): what is served now.
        advance (in): this cycle counts.
        empty (out): no packet waits in a queue.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        count = queues(c)
        lane = data.StructLayout({**place_fields(c), "valid": 1})  # type: ignore[arg-type]
        super().__init__(
            {
                "lanes": In(data.ArrayLayout(lane, c.lanes_per_pipe)),
                "offered": In(1),
                "ready": Out(1),
                "heads": Out(data.ArrayLayout(head_layout(c), count)),
                "folds": Out(data.ArrayLayout(bits_for(fold_of(c)), count)),
                "allowed": Out(count),
                "served": In(count),
                "advance": In(1),
                "empty": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        count, fold, depth = queues(c), fold_of(c), c.engine.depth
        layout = entry_layout(c)
        oldest, following = Signal(WAVE_BITS + 1), Signal(WAVE_BITS + 1)
        under_way = Signal(WAVE_BITS + 1)
        accept = Signal()
        m.d.comb += [
            under_way.eq(following - oldest),
            accept.eq(self.offered & self.ready & self.advance),
            self.empty.eq(under_way == 0),
        ]

        # The waves of the batch: their numbers, and which of them are the two that may be served.
        waves: list[Value] = []
        olds: list[Value] = []
        youngs: list[Value] = []
        ahead: Value = Const(0, bits_for(fold + 1))
        for number in range(fold):
            there = Cat(self.lanes[number * count + queue].valid for queue in range(count)).any()
            waves.append((following + ahead)[:WAVE_BITS])
            olds.append(under_way + ahead == 0)
            youngs.append(under_way + ahead == 1)
            following_ahead = Signal(bits_for(fold + 1), name=f"ahead_{number}")
            m.d.comb += following_ahead.eq(ahead + there)
            ahead = following_ahead

        room = [under_way <= WAVES - fold]
        hidden: list[Value] = []
        old_left: list[Value] = []
        young_left: list[Value] = []
        for queue in range(count):
            valid = Signal(depth, name=f"valid_{queue}")
            entries = [
                Signal(layout, name=f"entry_{queue}_{place}", reset_less=True)
                for place in range(depth)
            ]
            lanes = [self.lanes[number * count + queue] for number in range(fold)]
            come = [lane.valid for lane in lanes]
            arrivals, more = self._arrivals(m, queue, lanes, waves)
            room += [~(some & valid[depth - 1 - k]) for k, some in enumerate(more)]

            head, old, young = (
                self.heads[queue],
                Signal(name=f"old_{queue}"),
                Signal(name=f"young_{queue}"),
            )
            first = arrivals[0]
            waiting = valid[0]
            stored = [entries[0].wave == (oldest + age)[:WAVE_BITS] for age in range(2)]
            arrives_old = self._chosen(come, olds)
            arrives_young = self._chosen(come, youngs)
            m.d.comb += [
                old.eq(Mux(waiting, stored[0], accept & more[0] & arrives_old)),
                young.eq(Mux(waiting, stored[1], accept & more[0] & arrives_young)),
                head.there.eq(old | young),
                head.old.eq(old),
                head.bank.eq(Mux(waiting, entries[0].bank, first.bank)),
                head.row.eq(Mux(waiting, entries[0].row, first.row)),
                self.folds[queue].eq(Mux(waiting, entries[0].fold, first.fold)),
            ]
            # Numbers of waves rise in a queue, so the younger wave is at the head or right behind.
            behind = (
                valid[1] & (entries[1].wave == (oldest + 1)[:WAVE_BITS]) if depth > 1 else Const(0)
            )
            comes = (
                accept
                & Cat(lane & is_young for lane, is_young in zip(come, youngs, strict=True)).any()
            )
            hides = Signal(name=f"hides_{queue}")
            m.d.comb += hides.eq((behind | comes) & ~young)
            stays = ~self.served[queue]
            old_left.append(old & stays)
            young_left.append(young & stays | hides)
            m.d.comb += self.allowed[queue].eq(~Cat(hidden).any() if hidden else 1)
            hidden.append(hides)

            with m.If(self.advance):
                self._move(m, queue, valid, entries, arrivals, more, accept)
        m.d.comb += self.ready.eq(Cat(room).all())

        # What is behind the oldest wave is only known to be there if it has a number already.
        after, done = Signal(WAVE_BITS + 1), Signal(2)
        m.d.comb += [
            after.eq(following + Mux(accept, ahead, 0)),
            done[0].eq((after != oldest) & ~Cat(old_left).any()),
            done[1].eq(done[0] & (after != (oldest + 1)[: WAVE_BITS + 1]) & ~Cat(young_left).any()),
        ]
        with m.If(self.advance):
            m.d.sync += [following.eq(after), oldest.eq(oldest + done[0] + done[1])]
        return m

    def _chosen(self, come, values) -> Value:
        """The value that belongs to the first lane that has a packet."""
        chosen: Value = values[-1]
        for there, value in zip(reversed(come[:-1]), reversed(values[:-1]), strict=True):
            chosen = Mux(there, value, chosen)
        return chosen

    def _arrivals(self, m: Module, queue: int, lanes, waves):
        """Bring the packets of a queue's lanes together, in the order of lanes. Returns the packets
        (number k is the k-th that comes) and how many come (bit k: more than k)."""
        layout = entry_layout(self.config)
        packets: list[tuple[Value, Value]] = []
        for number, lane in enumerate(lanes):
            packet = Signal(layout, name=f"lane_{queue}_{number}")
            m.d.comb += [
                packet.bank.eq(lane.bank),
                packet.row.eq(lane.row),
                packet.fold.eq(number),
                packet.wave.eq(waves[number]),
            ]
            packets.append((lane.valid, packet.as_value()))
        arrivals, more = [], []
        while packets:
            arrival = Signal(layout, name=f"arrival_{queue}_{len(arrivals)}")
            m.d.comb += arrival.as_value().eq(self._chosen(*zip(*packets, strict=True)))
            arrivals.append(arrival)
            more.append(Cat(there for there, _ in packets).any())
            # The next one is the first that has another in front of it.
            seen: Value = Const(0)
            rest = []
            for there, packet in packets:
                rest.append((there & seen, packet))
                seen = seen | there
            packets = rest[1:]
        return arrivals, more

    def _move(self, m: Module, queue: int, valid, entries, arrivals, more, accept) -> None:
        depth = len(entries)
        served = self.served[queue]
        for place, entry in enumerate(entries):
            # Before this cycle's arrivals, entry `place` is to hold what stood `served` further on.
            stays, moves = (
                Signal(name=f"stays_{queue}_{place}"),
                Signal(name=f"moves_{queue}_{place}"),
            )
            m.d.comb += [
                stays.eq(valid[place] & ~served),
                moves.eq(valid[place + 1] & served if place + 1 < depth else 0),
            ]
            # arrival k comes to rest here if `count + k - served` is `place`
            sources: list[tuple[Value, Value]] = []
            if place + 1 < depth:
                sources.append((moves, entries[place + 1].as_value()))
            for k, arrival in enumerate(arrivals):
                number = place - k  # packets in front of it, once the head is gone
                here: Value = Const(0)
                for gone in (0, 1):
                    held = number + gone
                    if not 0 <= held <= depth:
                        continue
                    exactly = (valid[held - 1] if held else Const(1)) & (
                        ~valid[held] if held < depth else Const(1)
                    )
                    here = here | exactly & (served if gone else ~served)
                fits = Signal(name=f"fits_{queue}_{place}_{k}")
                m.d.comb += fits.eq(here & more[k] & accept)
                sources.append((fits, arrival.as_value()))
            comes = Cat(when for when, _ in sources).any()
            value = reduce(or_, (source & when.replicate(len(source)) for when, source in sources))
            with m.If(comes):
                m.d.sync += entry.as_value().eq(value)
            m.d.sync += valid[place].eq(stays | comes)
