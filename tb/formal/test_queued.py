"""Proofs of which packets `queued-banked` serves when, for runs of any length: as its model says,
those of a key in their order, and the oldest one always."""

from __future__ import annotations

from dataclasses import dataclass
from types import ModuleType
from unittest import mock

import pytest
from amaranth.hdl import Cat, Const, Mux, Signal, Value

import rtl.ofan.match
import rtl.ofan.slots
from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from rtl.ofan.place import Place
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.naive import total
from tb.formal.prove import prove
from tb.formal.watch import insides

pytestmark = pytest.mark.formal


def small(lanes: int, queues: int, depth: int, banks: int, keys: int = 4) -> OfanConfig:
    engine = Engine(kind="queued-banked", banks=banks, queues=queues, depth=depth)
    return OfanConfig(
        lanes=lanes, uplinks=2, destinations=keys, size_classes=1, masks=0, engine=engine
    )


GROUP = 2
"""Queues that are looked at together for hidden packets."""

CASES = {
    "four-lanes": small(4, 2, 2, banks=2),
    "own-queues": small(3, 3, 2, banks=2),
    "one-bank": small(4, 2, 1, banks=1, keys=2),
    "deep": small(2, 1, 3, banks=2),
    "three-waves": small(3, 1, 1, banks=2),
}


@dataclass
class Packet:
    """A packet in the order of arrival: whether it waits, its key, wave (from 0, the oldest set's)
    and queue."""

    there: Value
    key: Value
    wave: int
    queue: int


class ServeBench(Bench):
    """Queues and Match as the engine joins them, and batches in a line as they came; any batches,
    any stalls, and resets in any cycle."""

    def __init__(
        self,
        config: OfanConfig,
        slots: ModuleType = rtl.ofan.slots,
        match: ModuleType = rtl.ofan.match,
    ) -> None:
        super().__init__(resets=True)
        c, m = self.config, self.m = config, self.m
        self.count = c.engine.queues_of(c.lanes)
        self.dut = dut = m.submodules.slots = slots.Slots(c)
        with mock.patch.object(slots, "GROUP", GROUP):
            self.inside = insides(dut)
        self.match = m.submodules.match = match.Match(c)
        offered, self.advance = self.free(1, "offered"), self.free(1, "advance")
        m.d.comb += [dut.offered.eq(offered), dut.advance.eq(self.advance)]
        self.lanes: list[tuple[Value, Value]] = []
        for number, lane in enumerate(dut.lanes):
            key = self.free(c.destination_bits, f"key_{number}")
            valid = self.free(1, f"valid_{number}")
            self.assume(key < c.destinations)
            m.submodules[f"place_{number}"] = place = Place(c)
            m.d.comb += [
                place.destination.eq(key),
                lane.packet.bank.eq(place.bank),
                lane.packet.row.eq(place.row),
                lane.valid.eq(valid),
            ]
            self.lanes.append((valid, key))
        for queue, head in enumerate(self.match.heads):
            m.d.comb += [
                head.bank.eq(dut.packets[queue].bank),
                head.row.eq(dut.packets[queue].row),
                head.old.eq(dut.old[queue]),
                head.there.eq(dut.old[queue] | dut.young[queue]),
            ]
        m.d.comb += [self.match.allowed.eq(dut.allowed), dut.served.eq(self.match.served)]
        self.see("served", self.match.served)
        self.taken = self.see("taken", offered & dut.ready)
        self._line()
        self._served()

    def _line(self) -> None:
        """Keep the batches in a line, the oldest first, each a mask and a key a lane."""
        c, m, dut = self.config, self.m, self.dut
        sets = c.engine.depth
        masks = [Signal(c.lanes, name=f"line_{n}") for n in range(sets)]
        keys = [
            [Signal(c.destination_bits, name=f"line_key_{n}_{lane}") for lane in range(c.lanes)]
            for n in range(sets)
        ]
        self.packets: list[Packet] = []
        fold = c.lanes // self.count
        for n in range(sets + 1):
            for lane in range(c.lanes):
                there, key = (masks[n][lane], keys[n][lane]) if n < sets else self.lanes[lane]
                there = there if n < sets else there & self.taken
                wave = n * fold + lane // self.count
                self.packets.append(Packet(there, key, wave, lane % self.count))
        self.gone = [
            self.named(p.there & self.match.served[p.queue] & self._first(p), 1, f"gone_{n}")
            for n, p in enumerate(self.packets)
        ]
        stays = [p.there & ~gone for p, gone in zip(self.packets, self.gone, strict=True)]
        with m.If(self.advance):
            for n in range(sets):
                kept = Cat(stays[n * c.lanes : (n + 1) * c.lanes])
                moved = Cat(stays[(n + 1) * c.lanes : (n + 2) * c.lanes])
                m.d.sync += masks[n].eq(Mux(self.taken, moved, kept))
                with m.If(self.taken):
                    behind = self.packets[(n + 1) * c.lanes : (n + 2) * c.lanes]
                    m.d.sync += [q.eq(p.key) for q, p in zip(keys[n], behind, strict=True)]

        # The sets of slots are that line, from the one whose turn it is.
        turn = self.inside["turn"]
        self.check("one_turn", (turn != 0) & ((turn & (turn - 1)) == 0))
        for n in range(sets):
            for first in range(sets):
                place = (first + n) % sets
                for lane in range(c.lanes):
                    number, queue = divmod(lane, self.count)
                    mask = self.inside["masks"][place, number][queue]
                    slot = self.inside["slots"][place, number][queue]
                    key = keys[n][lane]
                    there = (slot.bank == self._bank(key)) & (slot.row == self._row(key))
                    same = (mask == masks[n][lane]) & (~mask | there)
                    self.check(f"set_{n}_{first}_{lane}", ~turn[first] | same)
        self.check("ready", dut.ready == ~masks[0].any())

    def _first(self, packet: Packet) -> Value:
        """No older packet waits in its queue."""
        ahead = [p.there for p in self.packets if p.queue == packet.queue and p.wave < packet.wave]
        return ~Cat(ahead).any() if ahead else Const(1)

    def _bank(self, key: Value) -> Value:
        banks = self.config.engine.banks
        bank: Value = Const(0)
        for low in range(0, len(key), max(1, banks.bit_length() - 1)):
            bank = bank ^ (key >> low) & (banks - 1)
        return bank

    def _row(self, key: Value) -> Value:
        return key >> self.config.engine.bank_bits

    def _served(self) -> None:
        """Say who is served, packet by packet, and what must hold of it."""
        packets = self.packets
        waves = 1 + max(p.wave for p in packets)
        some = [Cat(p.there for p in packets if p.wave == n).any() for n in range(waves)]
        old = [some[n] & ~Cat(some[:n]).any() if n else some[0] for n in range(waves)]
        young = [some[n] & (total(some[:n]) == 1) for n in range(waves)]
        may: list[Value] = []
        for p in packets:
            hidden = [
                other.there & ~self._first(other)
                for other in packets
                if other.wave == p.wave and other.queue // GROUP <= p.queue // GROUP
            ]
            may.append(p.there & (old[p.wave] | young[p.wave] & ~Cat(hidden).any()))
        banks = [self.named(self._bank(p.key), 8, f"bank_{n}") for n, p in enumerate(packets)]
        for n, p in enumerate(packets):
            ahead = range(n)
            in_bank = [may[i] & (banks[i] == banks[n]) for i in ahead]
            unlike = [
                here & (Const(1) if packets[i].wave != p.wave else packets[i].key != p.key)
                for i, here in zip(ahead, in_bank, strict=True)
            ]
            blocked = Cat(unlike).any() if unlike else Const(0)
            self.check(f"as_modelled_{n}", self.gone[n] == (may[n] & ~blocked))
            alike = [packets[i].there & (packets[i].key == p.key) for i in ahead]
            left = [same & ~self.gone[i] for i, same in zip(ahead, alike, strict=True)]
            self.check(f"no_overtaking_{n}", ~self.gone[n] | ~(Cat(left).any() if left else 0))
            others = [self.gone[i] & (banks[i] == banks[n]) & ~alike[i] for i in ahead]
            self.check(f"one_key_{n}", ~self.gone[n] | ~(Cat(others).any() if others else 0))
            rank = self.match.ranks[p.queue]
            self.check(f"rank_{n}", ~self.gone[n] | (rank == total(alike)))
            older = Cat(other.there for other in packets[:n]).any() if n else Const(0)
            self.check(f"no_starvation_{n}", ~(p.there & ~older) | self.gone[n])
        for queue in range(self.count):
            mine = [gone for gone, p in zip(self.gone, packets, strict=True) if p.queue == queue]
            self.check(f"only_waiting_{queue}", self.match.served[queue] == Cat(mine).any())
            fold = self.config.lanes // self.count
            folds = [
                ~gone | (self.dut.folds[queue] == p.wave % fold)
                for gone, p in zip(self.gone, packets, strict=True)
                if p.queue == queue
            ]
            self.check(f"fold_{queue}", Cat(folds).all())


@pytest.mark.parametrize("name", CASES)
def test_served_in_order_and_always(name: str) -> None:
    """By 1-induction: the slots hold the batches as they came, less what was served; of the packets
    of one key no later one is served before an earlier, those served together have ranks in that
    order, a bank serves one key, the oldest packet is always served; and all as in the model."""
    prove(ServeBench(CASES[name]), f"queued-{name}", depth=1)


FAULTS = {
    # (module, old text, new text)
    "hidden packets are passed": (
        rtl.ofan.slots,
        "held.eq(hidden[: queue + GROUP].any())",
        "held.eq(0)",
    ),
    "the younger wave goes first": (
        rtl.ofan.match,
        "(lower.old & ~upper.old) | ~row",
        "~row",
    ),
    "packets pass another key of their bank": (
        rtl.ofan.match,
        "near & ((lower.old & ~upper.old) | ~row & (lower.old | ~upper.old))",
        "near & (lower.old & ~upper.old)",
    ),
    "rank counts the other wave": (
        rtl.ofan.match,
        "ahead[high].append(near & ~(lower.old ^ upper.old))",
        "ahead[high].append(near)",
    ),
    "served packets stay": (
        rtl.ofan.slots,
        "kept & ~(first[place] & self.served) |",
        "kept |",
    ),
    "a batch comes over another": (
        rtl.ofan.slots,
        "self.ready.eq(~full)",
        "self.ready.eq(1)",
    ),
    "stalls are not seen": (
        rtl.ofan.slots,
        "with m.If(self.advance | reset):",
        "with m.If(1):",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    module, old, new = FAULTS[fault]
    name = module.__name__.rpartition(".")[2]
    bench = ServeBench(CASES["four-lanes"], **{name: changed(module, old, new)})
    disprove(bench, f"queued {fault}", depth=5)
