"""The packets that wait for their banks, and which may be served (models/ofan/queued.py)."""

from __future__ import annotations

from functools import reduce
from operator import or_

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from rtl.ofan.match import queues

Line = list[tuple[Value, Value]]
"""Things that line up: whether each is there, and what it is."""


def fold_of(c: OfanConfig) -> int:
    """Lanes that share a queue: lane = fold · queues + queue."""
    return c.lanes_per_pipe // queues(c)


def packet_layout(c: OfanConfig) -> data.StructLayout:
    """A packet as it waits: `destination` and `size_class`."""
    return data.StructLayout(
        {"destination": unsigned(c.destination_bits), "size_class": unsigned(c.class_bits)}
    )


def wave_layout(c: OfanConfig) -> data.StructLayout:
    """A wave: `mask` has a bit for each queue whose packet waits; the packets are those of `fold`
    in the set of slots `slots`."""
    return data.StructLayout(
        {
            "mask": unsigned(queues(c)),
            "fold": unsigned(bits_for(fold_of(c))),
            "slots": unsigned(bits_for(c.engine.depth)),
        }
    )


class Queues(wiring.Component):
    """Takes batches, shows the packet of each queue that may be served, drops what was served. A
    batch that is taken is shown in the same cycle; a batch a cycle while there is room.

    ```
    lanes ──┬─►[slots of set 0]──┐
            ├─►[slots of set 1]──┼─► the queue's packet of the older wave, or else of the younger
            └────────────────────┘                        ▲
    valid ──► its waves ─►[…]─►[wave 2]─►[wave 1: younger]─►[wave 0: older]
    ```

    Packets stay where they were put; only the masks of the waves move up. A wave that is served
    whole leaves the line in the next cycle, when its mask is passed over.

    Args:
        config: an `OfanConfig` with engine `queued-banked`.

    Ports:
        lanes (in, `packet_layout` and `valid` a lane), offered (in): a batch is there.
        ready (out): there is room for a batch.
        packets (out, `packet_layout` a queue), old, young (out, a bit a queue): there is a packet,
        and of which of the two oldest waves it is. folds (out, a number a queue): its lane.
        allowed (out, a bit a queue): no packet of the younger wave is hidden in a lower queue.
        served (in, a bit a queue): the packet shown is served.
        advance (in): this cycle counts. empty (out): no packet waits.
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
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        count, fold, depth = queues(c), fold_of(c), c.engine.depth
        most = c.engine.waves_of(c.lanes_per_pipe)
        layout = wave_layout(c)
        line = [Signal(layout, name=f"wave_{n}") for n in range(most)]
        length, passed = Signal(range(most + 1)), Signal(2)
        turn = Signal(range(depth))

        # The line without the waves that were served whole in the last cycle.
        left = Signal(range(most + 1))
        m.d.comb += left.eq(length - passed[0] - passed[1])
        nothing = Const(0, layout.size)
        words = [wave.as_value() for wave in line] + [nothing, nothing]
        waiting = [Signal(layout, name=f"waiting_{n}") for n in range(most)]
        for n, wave in enumerate(waiting):
            moved = Mux(passed[0], words[n + 1], words[n])
            m.d.comb += wave.as_value().eq(Mux(passed[1], words[n + 2], moved))
        taken = Cat((left > n) & (wave.slots == turn) for n, wave in enumerate(waiting))
        accept = Signal()
        m.d.comb += [
            self.ready.eq((left <= most - fold) & ~taken.any()),
            accept.eq(self.offered & self.ready),
            self.empty.eq(left == 0),
        ]

        come = self._come(m, accept, turn)
        behind = [value for _, value in come] + [nothing]
        has = [left > 0, left > 1]
        first, second = Signal(layout), Signal(layout)
        m.d.comb += [
            first.as_value().eq(Mux(has[0], waiting[0].as_value(), behind[0])),
            second.as_value().eq(
                Mux(has[1], waiting[1].as_value(), Mux(has[0], behind[0], behind[1]))
            ),
            self.old.eq(first.mask),
            self.young.eq(second.mask & ~first.mask),
        ]
        hidden = second.mask & first.mask
        for queue in range(count):
            m.d.comb += self.allowed[queue].eq(~hidden[:queue].any() if queue else 1)
            m.d.comb += self.folds[queue].eq(Mux(first.mask[queue], first.fold, second.fold))
        self._show(m, (first, second), has, turn, accept)

        after = Signal(range(most + 1))
        rest = [first.mask & ~self.served, second.mask & (first.mask | ~self.served)]
        m.d.comb += after.eq(left + sum(there for there, _ in come))
        gone = [(after > n) & ~mask.any() for n, mask in enumerate(rest)]
        with m.If(self.advance):
            m.d.sync += [
                length.eq(after),
                passed.eq(Cat(gone[0], gone[0] & gone[1])),
                *(wave.eq(now) for wave, now in zip(line, (first, second), strict=False)),
                *(wave.mask.eq(mask) for wave, mask in zip(line, rest, strict=False)),
            ]
            for n in range(2, most):
                word = reduce(
                    or_,
                    (
                        value & ((left == n - k) & there).replicate(len(value))
                        for k, (there, value) in enumerate(come)
                    ),
                )
                m.d.sync += line[n].as_value().eq(waiting[n].as_value() | word)
            if depth > 1:
                with m.If(accept):
                    m.d.sync += turn.eq(Mux(turn == depth - 1, 0, turn + 1))
        return m

    def _come(self, m: Module, accept: Value, turn: Value) -> Line:
        """The waves of the batch that is taken, in order, without those that have no packet."""
        c = self.config
        count = queues(c)
        waves: Line = []
        for fold in range(fold_of(c)):
            wave = Signal(wave_layout(c), name=f"comes_{fold}")
            lanes = Cat(self.lanes[fold * count + queue].valid for queue in range(count))
            m.d.comb += [
                wave.mask.eq(Mux(accept, lanes, 0)),
                wave.fold.eq(fold),
                wave.slots.eq(turn),
            ]
            waves.append((accept & lanes.any(), wave.as_value()))
        result: Line = []
        while waves:
            word = reduce(lambda behind, wave: Mux(*wave, behind), waves[-2::-1], waves[-1][1])
            result.append((Cat(there for there, _ in waves).any(), word))
            seen: Value = Const(0)
            others: Line = []
            for there, value in waves:
                others.append((there & seen, value))
                seen = seen | there
            waves = others[1:]
        return result

    def _show(self, m: Module, waves, has, turn: Value, accept: Value) -> None:
        """Bring the packets of the two waves out of the slots, or straight from the lanes."""
        c = self.config
        count, fold, depth = queues(c), fold_of(c), c.engine.depth
        slots = [
            [
                Signal(packet_layout(c), name=f"slot_{n}_{lane}", reset_less=True)
                for lane in range(c.lanes_per_pipe)
            ]
            for n in range(depth)
        ]
        for n in range(depth):
            with m.If(self.advance & accept & (turn == n)):
                m.d.sync += [
                    slot.eq(lane.packet) for slot, lane in zip(slots[n], self.lanes, strict=True)
                ]
        choices = []
        for age, wave in enumerate(waves):
            choice = Signal((depth + 1) * fold, name=f"choice_{age}")
            for n in range(depth + 1):
                of_set = has[age] & (wave.slots == n) if n < depth else ~has[age]
                for number in range(fold):
                    m.d.comb += choice[n * fold + number].eq(of_set & (wave.fold == number))
            choices.append(choice)
        for queue in range(count):
            choice = Signal((depth + 1) * fold, name=f"choice_of_{queue}")
            m.d.comb += choice.eq(Mux(waves[0].mask[queue], *choices))
            packets = [
                source
                for group in (*slots, [lane.packet for lane in self.lanes])
                for source in group[queue::count]
            ]
            m.d.comb += (
                self.packets[queue]
                .as_value()
                .eq(
                    reduce(
                        or_,
                        (
                            packet.as_value() & chosen.replicate(len(packet.as_value()))
                            for packet, chosen in zip(packets, choice, strict=True)
                        ),
                    )
                )
            )
