"""Proofs of Rounds, where batches of `sorted-banked` wait for their banks, for runs of any length:
keys of a bank are served in their order, one a round, each round serves one, and batches leave as
they came."""

from __future__ import annotations

from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Cat, Const, Signal, Value

import rtl.ofan.rounds
from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.naive import total
from tb.formal.prove import prove
from tb.formal.watch import insides

pytestmark = pytest.mark.formal


def small(lanes: int, banks: int, keys: int, masks: int = 0) -> OfanConfig:
    engine = Engine(kind="sorted-banked", banks=banks, depth=1)
    return OfanConfig(
        lanes=lanes, uplinks=2, destinations=keys, size_classes=1, masks=masks, engine=engine
    )


CASES = {
    "two-banks": small(3, banks=2, keys=6),
    "one-bank": small(3, banks=1, keys=3),
    "a-row-a-bank": small(3, banks=4, keys=4),
    "masks": small(2, banks=2, keys=4, masks=1),
}


def any_of(bits: list[Value]) -> Value:
    return Cat(bits).any() if bits else Const(0, 1)


class RoundsBench(Bench):
    """Any batches that are sorted and counted, any stalls, and resets in any cycle."""

    def __init__(self, config: OfanConfig, rounds: ModuleType = rtl.ofan.rounds) -> None:
        super().__init__(resets=True)
        self.config = config
        self.m.submodules.dut = dut = self.dut = rounds.Rounds(config)
        self.inside = inside = insides(dut)
        self.drive(dut.i)
        self.drain(dut.o)
        self.assume(~dut.i.valid | self._sorted(dut.i.p.items))
        self.here = self.see("here", inside["here"])
        self.left = self.see("left", inside["left"])
        self.first = self.see("first", inside["first"])
        self.last = self.see("last", inside["last"])
        self._rounds(list(inside["held"].items), inside["size"], inside["same"])
        self._batches()

    def _sorted(self, items: Any) -> Value:
        """The packets come first, by their keys, and the last of each key is its master."""
        items = list(items)
        holds = [(~b.valid | a.valid & (a.key <= b.key)) for a, b in pairwise(items)]
        for a, b in zip(items, [*items[1:], None], strict=True):
            joined = b.valid & (a.key == b.key) if b is not None else Const(0)
            holds.append(a.master == (a.valid & ~joined))
        return Cat(holds).all()

    def _rounds(self, held: list[Any], size: int, same: Value) -> None:
        """Say which keys are served, and what must hold of it."""
        banks = [item.key[size:] for item in held]
        self.check("held_is_sorted", ~self.here | self._sorted(held))
        self.check("only_in_a_batch", self.here | ~self.left.any())
        for n, item in enumerate(held):
            near = (banks[n] == banks[n - 1]) if n else Const(0)
            self.check(f"same_{n}", ~self.here | (same[n] == near))
            self.check(f"masters_{n}", ~self.left[n] | item.master)
            earlier = [(k, banks[k] == banks[n]) for k in range(n)]
            passed = [self.left[k] & ~self.first[k] & alike for k, alike in earlier]
            others = [self.first[k] & alike for k, alike in earlier]
            waiting = [self.left[k] & alike for k, alike in earlier]
            self.check(f"only_waiting_{n}", ~self.first[n] | self.left[n])
            self.check(f"no_overtaking_{n}", ~self.first[n] | ~any_of(passed))
            self.check(f"one_key_{n}", ~self.first[n] | ~any_of(others))
            self.check(f"no_starvation_{n}", ~self.left[n] | any_of(waiting) | self.first[n])
        self.check("last_round", self.last == ((self.left & ~self.first) == 0))
        # So a batch takes as many rounds as its fullest bank has keys: each takes one of each.
        before = self.past(total(list(self.left)), "count")
        went = self.past(self.inside["stages"].advance & ~self.reset & self.here, "went")
        stayed = self.past(~self.last, "stayed")
        again = Signal()
        self.m.d.sync += again.eq(1)
        fewer = total(list(self.left)) < before
        self.check("each_round_serves", ~(again & went & stayed) | fewer)

    def _batches(self) -> None:
        """Follow one batch, whichever it is, through the stages, by its number."""
        m, dut, stages = self.m, self.dut, self.inside["stages"]
        number = self.constant(4, "number")
        sent, out = Signal(4), Signal(4)
        came = self.see("came", dut.i.valid & dut.i.ready)
        m.d.sync += [sent.eq(sent + came), out.eq(out + (dut.o.valid & dut.o.ready))]
        kept = Signal.like(Value.cast(dut.i.payload))
        with m.If(came & (sent == number)):
            m.d.sync += kept.eq(dut.i.payload)
        places = [
            (self.inside["out"], stages.valid[2]),
            (self.inside["given"], stages.valid[1]),
            (self.inside["asking"], stages.valid[0]),
            (self.inside["held"], self.here),
        ]
        ahead: list[Value] = []
        for place, (beat, there) in enumerate(places):
            mine = there & (number == (out + total(ahead))[:4])
            self.check(f"beat_{place}", ~mine | (Value.cast(beat) == kept))
            ahead.append(there)
        self.check("none_lost", sent == (out + total(ahead))[:4])
        self.check("leaves_as_it_came", dut.o.valid == stages.valid[2])
        mine = dut.o.valid & (number == out)
        was = dut.i.payload.shape()(kept)
        self.check("fence", ~mine | (dut.o.p.fence == was.fence))
        for n, (item, old) in enumerate(zip(dut.o.p.items, was.items, strict=True)):
            same = [
                getattr(item, name) == getattr(old, name) for name in ("valid", "key", "master")
            ]
            self.check(f"item_{n}", ~mine | Cat(same).all())


@pytest.mark.parametrize("name", CASES)
def test_rounds_in_order_and_always(name: str) -> None:
    """By 2-induction: of the keys that are left each bank is served the first, so none passes
    another of its bank, and every round has fewer left; a batch leaves when none is, and batches
    leave as they came."""
    prove(RoundsBench(CASES[name]), f"rounds-{name}", depth=2)


FAULTS = {
    "a key passes another": ("left & ~(same & earlier)", "left & ~same"),
    "banks serve two keys": ("return left & ~(same & earlier)", "return left"),
    "the last keys are lost": ("last.eq(~(left & ~first).any())", "last.eq(1)"),
    "the next batch comes too early": ("file.running & (~here | last)", "file.running"),
    "what is served stays": ("left.eq(left & ~first)", "left.eq(left)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    bench = RoundsBench(CASES["two-banks"], changed(rtl.ofan.rounds, *FAULTS[fault]))
    disprove(bench, f"rounds {fault}", depth=10)
