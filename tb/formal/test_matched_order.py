"""Proofs of the order in which `matched-banked` serves, for runs of any length: no packet passes an
earlier one, and the oldest one is always served."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Cat, Const, Mux, Signal, Value

import rtl.ofan.matched
from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.naive import total
from tb.formal.prove import prove
from tb.formal.test_matched import in_a_ring
from tb.formal.watch import insides

pytestmark = pytest.mark.formal


def small(lanes: int, depth: int, banks: int, keys: int, masks: int = 0) -> OfanConfig:
    engine = Engine(kind="matched-banked", group=2, banks=banks, depth=depth)
    return OfanConfig(
        lanes=lanes, uplinks=2, destinations=keys, size_classes=1, masks=masks, engine=engine
    )


CASES = {
    "two-groups": small(4, 2, banks=2, keys=6),
    "one-bank": small(2, 1, banks=1, keys=3),
    "deep": small(2, 3, banks=2, keys=4),
    "masks": small(2, 2, banks=2, keys=4, masks=1),
}


class OrderBench(Bench):
    """The engine, and what waits in it as a line of batches, the oldest first; any batches, stalls
    and writes, and resets in any cycle."""

    def __init__(self, config: OfanConfig, matched: ModuleType = rtl.ofan.matched) -> None:
        super().__init__(resets=True)
        self.config = config
        self.m.submodules.dut = dut = matched.MatchedBanked(config)
        front = insides(dut, "_front")
        self.queue, self.prefix, self.done = front["queue"], front["prefix"], front["done"]
        self.advance = self.see("advance", front["advance"])
        ring = insides(self.queue)
        self.drive(dut.i)
        self.drain(dut.o)
        self.m.d.comb += dut.stall.eq(self.free(1, "stall"))
        if config.masks:
            self.drive(dut.write, "write")
        self.taken = self.see("taken", self.queue.i.valid & self.queue.i.ready)
        some = Cat(request.valid for request in dut.i.p).any()
        self.check("what_is_taken_waits", self.taken == (dut.i.valid & dut.i.ready & some))
        self.served = self.see("served", self.prefix.served)
        self._line(ring)
        self._order()

    def _line(self, ring: dict[str, Any]) -> None:
        """Keep the batches in a line, each a bit and a place a lane."""
        m, lanes, depth = self.m, self.config.lanes, self.config.engine.depth
        came = list(self.queue.i.p)
        size = len(came[0].bank) + len(came[0].row)
        masks = [Signal(lanes, name=f"line_{n}") for n in range(depth)]
        places = [[Signal(size, name=f"place_{n}_{k}") for k in range(lanes)] for n in range(depth)]
        there = [mask.any() for mask in masks]
        self.masks: list[Value] = []
        self.places: list[list[Value]] = []
        for n in range(depth + 1):
            # The batch that comes stands behind the last.
            last = there[n - 1] if n else Const(1)
            comes = last & self.taken & (~there[n] if n < depth else 1)
            new = Mux(comes, Cat(packet.there for packet in came), 0)
            here = there[n] if n < depth else Const(0)
            old = masks[n] if n < depth else Const(0, lanes)
            self.masks.append(self.named(Mux(here, old, new), lanes, f"batch_{n}"))
            self.places.append(
                [
                    self.named(
                        Mux(here, places[n][k] if n < depth else 0, Cat(p.bank, p.row)),
                        size,
                        f"at_{n}_{k}",
                    )
                    for k, p in enumerate(came)
                ]
            )
        self.left = self.see("left", self.masks[0] & ~self.served)
        gone = self.advance & ~self.left.any()
        for n in range(depth):
            stays = Mux(self.advance, self.left, self.masks[0]) if n == 0 else self.masks[n]
            m.d.sync += masks[n].eq(Mux(gone, self.masks[n + 1], stays))
            for k in range(lanes):
                m.d.sync += places[n][k].eq(Mux(gone, self.places[n + 1][k], self.places[n][k]))

        # The queue is that line, and of its head what is done is not left.
        count = self.see("count", total(there))
        in_a_ring(self, ring, count)
        for n in range(depth):
            self.check(f"no_gap_{n}", ~there[n] | (there[n - 1] if n else 1))
            for first in range(depth):
                slot = self.queue.o.p.shape()(ring["slots"][(first + n) % depth])
                for k, packet in enumerate(slot):
                    bit = packet.there & ~self.done[k] if n == 0 else packet.there
                    at = Cat(packet.bank, packet.row)
                    same = (bit == masks[n][k]) & (~bit | (at == places[n][k]))
                    due = ring["head"][first] & there[n]
                    self.check(f"slot_{n}_{first}_{k}", ~due | same)
        self.check("done_waits", ~self.done.any() | there[0])

    def _order(self) -> None:
        """Say who is served, and what must hold of it."""
        banks = len(self.queue.i.p[0].bank)
        head = self.places[0]
        for k, served in enumerate(self.served):
            ahead = range(k)
            passed = [self.masks[0][n] & ~self.served[n] for n in ahead]
            others = [
                self.served[n] & (head[n][:banks] == head[k][:banks]) & (head[n] != head[k])
                for n in ahead
            ]
            older = [self.masks[0][n] for n in ahead]
            self.check(f"only_waiting_{k}", ~served | self.masks[0][k])
            self.check(f"no_overtaking_{k}", ~served | ~any_of(passed))
            self.check(f"one_key_{k}", ~served | ~any_of(others))
            self.check(f"no_starvation_{k}", ~self.masks[0][k] | any_of(older) | served)


def any_of(bits: list[Value]) -> Value:
    return Cat(bits).any() if bits else Const(0, 1)


@pytest.mark.parametrize("name", CASES)
def test_served_in_order_and_always(name: str) -> None:
    """By 1-induction: the queue holds the batches as they came, less what was served; packets are
    served in the order in which they came, a bank serves one key, and the oldest packet is always
    served, whatever comes behind it."""
    prove(OrderBench(CASES[name]), f"matched-order-{name}", depth=1)


FAULTS = {
    "what is done is served again": ("head.there & ~done[lane]", "head.there"),
    "the next batch comes too early": ("advance & prefix.whole", "advance"),
    "done is kept for the next batch": ("(~prefix.whole).replicate(len(done))", "-1"),
    "taken while it must not": ("queue.i.ready & takes),", "queue.i.ready),"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    config = CASES["masks" if "taken" in fault else "deep"]
    bench = OrderBench(config, changed(rtl.ofan.matched, *FAULTS[fault]))
    disprove(bench, f"matched order {fault}", depth=8)
