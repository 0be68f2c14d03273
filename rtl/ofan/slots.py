"""The packets that wait for their banks, and which may be served (models/ofan/queued.py)."""

from __future__ import annotations

from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, ResetSignal, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from models.ofan.slots import GROUP
from rtl.ofan.banks import gather
from rtl.ofan.match import place_fields, queues

Place = tuple[int, int]
"""Of a wave: the set of slots it is in, one more than there are for the batch that comes, and its
number in the batch."""

Waves = dict[Place, Any]
"""Something for each wave."""


def fold_of(c: OfanConfig) -> int:
    """Lanes that share a queue: lane = fold · queues + queue."""
    return c.lanes_per_pipe // queues(c)


def packet_layout(c: OfanConfig) -> data.StructLayout:
    """A packet as it waits: `bank` and `row` of its pointer."""
    return data.StructLayout(place_fields(c))  # type: ignore[arg-type]


class Slots(wiring.Component):
    """Holds packets until they are served, and shows those that may be. A batch that is taken is
    shown in the same cycle; a batch a cycle while there is room.

    ```
    lanes ─┬─►[slots of set 0]──┐
           ├─►[slots of set 1]──┼──► each queue's oldest packet
           └────────────────────┘
                 ▲      masks: which slots hold a packet; which set is next (turn)
    ```

    A batch goes to the set that is next in turn, a slot a lane, and stays there. So the sets are in
    order of age from that one on, and so are their waves: a slot's wave is its set and ⌊lane / Q⌋.

    Args:
        config: an `OfanConfig` with engine `queued-banked`.

    Ports:
        lanes (in, `packet` and `valid` a lane), offered (in): a batch is there.
        ready (out): there is room for a batch.
        packets (out, `packet_layout` a queue), old, young (out, a bit a queue): there is a packet,
        and of which of the two waves it is. folds (out, a number a queue): lane = fold · Q + queue.
        allowed (out, a bit a queue): no packet of the younger wave is hidden in its group of queues
            or a lower one.
        served (in, a bit a queue): the packet shown is served.
        advance (in): this cycle counts. empty (out): no packet waits from before.
        some (out): a packet is shown.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        count = queues(c)
        lane = data.StructLayout({"packet": packet_layout(c), "valid": 1})
        super().__init__(
            {
                "lanes": In(data.ArrayLayout(lane, c.lanes_per_pipe)),
                "offered": In(1),
                "ready": Out(1),
                "packets": Out(data.ArrayLayout(packet_layout(c), count)),
                "old": Out(count),
                "young": Out(count),
                "folds": Out(data.ArrayLayout(bits_for(fold_of(c)), count)),
                "allowed": Out(count),
                "served": In(count),
                "advance": In(1),
                "empty": Out(1),
                "some": Out(1),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        count, fold, sets = queues(c), fold_of(c), c.engine.depth
        turn = Signal(sets, init=1)
        accept = Signal()
        # A place is (set, fold) of a wave; the batch that comes is one set more.
        places = [(n, number) for n in range(sets + 1) for number in range(fold)]
        stored = places[: sets * fold]
        masks = {
            place: Signal(count, name="mask_{}_{}".format(*place), reset_less=True)
            for place in stored
        }
        some = self._some(m, turn, accept, masks)
        first = self._two(m, turn, accept, masks, some)
        slots = {
            place: [
                Signal(
                    packet_layout(c), name="slot_{}_{}_{}".format(*place, queue), reset_less=True
                )
                for queue in range(count)
            ]
            for place in stored
        }
        self._show(m, slots, first)
        # The masks' reset is applied where it is early, not behind what is served.
        reset = ResetSignal()
        with m.If(self.advance | reset):
            for n, number in stored:
                place = (n, number)
                comes = self._lanes((sets, number)) & ~(first[sets, number] & self.served)
                fills = (accept & turn[n] & ~reset).replicate(count)  # nothing else is there then
                kept = masks[place] & (~reset).replicate(count)
                m.d.sync += masks[place].eq(kept & ~(first[place] & self.served) | comes & fills)
        with m.If(self.advance), m.If(accept):
            m.d.sync += turn.eq(turn.rotate_left(1))
            for n, number in stored:
                with m.If(turn[n]):
                    m.d.sync += [
                        slot.eq(self.lanes[number * count + queue].packet)
                        for queue, slot in enumerate(slots[n, number])
                    ]
        return m

    def _some(self, m: Module, turn: Value, accept: Value, masks: Waves) -> Waves:
        """Decide whether the batch is taken; return which waves have packets."""
        fold, sets = fold_of(self.config), self.config.engine.depth
        some: Waves = {place: Signal(name="any_{}_{}".format(*place)) for place in masks}
        m.d.comb += [some[place].eq(masks[place].any()) for place in masks]
        full = Cat(
            turn[n] & Cat(some[n, number] for number in range(fold)).any() for n in range(sets)
        ).any()
        m.d.comb += [
            self.ready.eq(~full),
            accept.eq(self.offered & self.ready),
            self.empty.eq(~Cat(some.values()).any()),
        ]
        for number in range(fold):
            place = (sets, number)
            some[place] = Signal(name=f"any_comes_{number}")
            m.d.comb += some[place].eq(accept & self._lanes(place).any())
        m.d.comb += self.some.eq(Cat(some.values()).any())
        return some

    def _two(self, m: Module, turn: Value, accept: Value, masks: Waves, some: Waves) -> Waves:
        """Find the two oldest waves that have packets, and what is hidden; return of each wave
        which of its packets are the oldest of their queues."""
        count, fold, sets = queues(self.config), fold_of(self.config), self.config.engine.depth
        here: Waves = masks | {(sets, n): self._lanes((sets, n)) for n in range(fold)}
        waves: Waves = masks | {(sets, n): Mux(accept, here[sets, n], 0) for n in range(fold)}
        old, young, first = {}, {}, {}
        for place in here:
            ahead = self._ahead(turn, place, here)
            old[place], young[place] = Signal(), Signal()
            m.d.comb += old[place].eq(
                some[place] & ~Cat(some[other] & when for other, when in ahead).any()
            )
            first[place] = Signal(count, name="first_{}_{}".format(*place))
            others = [here[other] & when.replicate(count) for other, when in ahead]
            m.d.comb += first[place].eq(here[place] & ~reduce(or_, others, Const(0, count)))
        later = {place: some[place] & ~old[place] for place in here}
        for place in here:
            between = [later[other] & when for other, when in self._ahead(turn, place, here)]
            m.d.comb += young[place].eq(later[place] & ~Cat(between).any())

        older, younger = Signal(count), Signal(count)
        for mask, flags in ((older, old), (younger, young)):
            m.d.comb += mask.eq(
                reduce(or_, (waves[place] & flags[place].replicate(count) for place in here))
            )
        m.d.comb += [self.old.eq(older), self.young.eq(younger & ~older)]
        hidden = older & younger
        for number, queue in enumerate(range(0, count, GROUP)):
            held = Signal(name=f"held_{number}")
            m.d.comb += held.eq(hidden[: queue + GROUP].any())
            m.d.comb += self.allowed[queue : queue + GROUP].eq((~held).replicate(GROUP))
        return first

    def _show(self, m: Module, slots: dict[Place, list[Any]], first: Waves) -> None:
        """Bring the oldest packet of each queue to the output, from its slot or its lane."""
        count = queues(self.config)
        for queue in range(count):
            sources = [packets[queue].as_value() for packets in slots.values()]
            sources += [
                self.lanes[number * count + queue].packet.as_value()
                for number in range(fold_of(self.config))
            ]
            chosen = Cat(mask[queue] for mask in first.values())
            folds = [Const(number, len(self.folds[queue])) for _, number in first]
            m.d.comb += [
                self.packets[queue].as_value().eq(gather(sources, chosen)),
                self.folds[queue].eq(gather(folds, chosen)),
            ]

    def _lanes(self, place: Place) -> Value:
        """Which lanes of the batch that comes have a packet, of one fold."""
        count = queues(self.config)
        return Cat(self.lanes[place[1] * count + queue].valid for queue in range(count))

    def _ahead(
        self, turn: Value, place: Place, places: Iterable[Place]
    ) -> list[tuple[Place, Value]]:
        """The waves that may be older than one, and when they are."""
        found = [(other, self._before(turn, other, place)) for other in places]
        return [(other, when) for other, when in found if when is not None]

    def _before(self, turn: Value, other: Place, place: Place) -> Value | None:
        """When a wave is older than another one: its set comes first from `turn` on; None if
        never."""
        if other[0] == place[0]:
            return Const(1) if other[1] < place[1] else None
        if self.config.engine.depth in (other[0], place[0]):
            return Const(1) if other[0] < place[0] else None
        low, high = sorted((other[0], place[0]))
        between = turn[low + 1 : high + 1].any()
        return ~between if other[0] == low else between
