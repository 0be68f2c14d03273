"""Proofs of Quantize's compact codes: the search counts thresholds, a write lands in its place, and
no packet sees half a table."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Array, Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import connect

import rtl.csig.quantize
from models.csig.config import CsigConfig
from models.csig.tables import CODE, LEVEL
from rtl.csig.lookup import Lookup
from rtl.csig.meter import Meter
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.naive import total
from tb.formal.prove import Disproved, prove
from tb.formal.test_csig_meter import SMALL, signals_of
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal


class FewBits(CsigConfig):
    """A configuration whose measures are smaller than any real one has them."""

    @property
    def measure_bits(self) -> int:
        return 1


CONFIG = FewBits(**SMALL)
SIGNAL = 2


class SearchBench(Bench):
    """A table of one signal, in any bank, that is not written while packets pass: any rising
    thresholds, the same ones twice too, and any codes."""

    def __init__(self, module: ModuleType = rtl.csig.quantize) -> None:
        super().__init__()
        m = self.m
        m.submodules.dut = dut = module.Quantize(CONFIG)
        watch = Watch(dut)
        inner: Module = dut.elaborate(None)
        (stages,) = watch.stages
        self.drain(dut.o)
        at = dut.i.p
        given: Any = self.free(at.shape(), "given")
        m.d.comb += [dut.i.valid.eq(self.free(1, "valid")), at.eq(given), at.signal.eq(SIGNAL)]
        bank = self.constant(1, "a_bank")
        place = Cat(bank, Const(SIGNAL, 3))
        # Could never be written, Yosys would take the tables for the zeros that they are made with.
        self.drive(dut.write, "write")
        self.assume(~dut.write.valid)

        def peek(name: str, below: Value, bits: int) -> Any:
            memory: Any = inner._named_submodules[name][0]  # type: ignore[index]
            port = memory.read_port(domain="comb")
            m.d.comb += port.addr.eq(Cat(below[:bits], place))
            return port.data

        words: dict[int, Value] = {}
        for level in (0, 1, 3):
            for n in range(1 << level):
                row = peek(f"thresholds_{level}", Value.cast(n) | Signal(8), level)
                upper = (1 << level) + n
                for word, value in zip((upper, 2 * upper, 2 * upper + 1), row, strict=False):
                    words[word] = value
        assert sorted(words) == list(range(1, 32))
        rising = [words[n] for n in self._in_order(1)]
        for low, high in pairwise(rising):
            self.assume(low <= high)
        mine: Value = at.bank == bank
        count = total([at.measure >= word for word in rising])
        codes = Array(peek("codes", Value.cast(n) | Signal(8), 5) for n in range(32))
        expected: Value = self.named(codes[count[:5]], 5, "code")
        for stage in range(dut.latency):
            expected = stages.register(expected, f"expected_{stage}")
            mine = stages.register(mine, f"mine_{stage}")
        self.check("code", ~(dut.o.valid & mine) | (dut.o.p.code == expected))

    @classmethod
    def _in_order(cls, node: int) -> list[int]:
        """The words of the tree from the least threshold up."""
        if node > 31:
            return []
        return [*cls._in_order(2 * node), node, *cls._in_order(2 * node + 1)]


class LandBench(Bench):
    """One word of one table, any that there is, and any writes."""

    def __init__(self, module: ModuleType = rtl.csig.quantize) -> None:
        super().__init__()
        m = self.m
        m.submodules.dut = dut = module.Quantize(CONFIG)
        inner: Module = dut.elaborate(None)
        self.drive(dut.i)
        self.drain(dut.o)
        self.drive(dut.write, "write")
        place, number = self.constant(3, "place"), self.constant(5, "number")
        word: Value = Const(0, 1)
        for level in (0, 1, 3):
            memory: Any = inner._named_submodules[f"thresholds_{level}"][0]  # type: ignore[index]
            port = memory.read_port(domain="comb")
            upper = (number >> level) == 1
            row = Mux(upper, number[:level], number[1 : level + 1])[:level]
            m.d.comb += port.addr.eq(Cat(row, place))
            lower = (number >> level + 1) == 1
            words = [*port.data]
            found = words[0] if level == 0 else Mux(upper, words[0], words[1])
            if level:
                found = Mux(lower & number[0], words[2], found)
            word = Mux(upper | (lower if level else 0), found, word)
        given = dut.write.p
        done = dut.write.valid & dut.write.ready & (given.kind == LEVEL)
        into = Cat(~dut.bank, given.signal)
        hit = done & (into == place) & (given.index == number)
        following = self.named(Mux(hit, given.value, word), len(given.value), "following")
        before = self.past(following, "following")
        started = Signal()
        m.d.sync += started.eq(1)
        self.check("word", ~started | (number == 0) | (word == before[: len(word)]))


class SwapBench(Bench):
    """The real blocks from where the bank is read to where the tables are, and one port, any."""

    def __init__(self, module: ModuleType = rtl.csig.quantize) -> None:
        super().__init__(resets=True)
        m = self.m
        config = replace(CONFIG, ports=2)
        lookup, meter, dut = Lookup(config), Meter(config), module.Quantize(config)
        with signals_of(module) as made:
            first, ahead, here = (Watch(block).stages[0] for block in (lookup, meter, dut))
        m.submodules += [lookup, meter, dut]
        self.drive(lookup.i)
        connect(m, lookup.o, meter.i)
        connect(m, meter.o, dut.i)
        self.drain(dut.o)
        m.d.comb += lookup.bank.eq(dut.bank)
        for block, prefix in ((lookup, "record"), (meter, "capacity")):
            for name in block.signature.members:
                if name.startswith(prefix):
                    inner = Value.cast(getattr(block, name))
                    m.d.comb += inner.eq(self.free(len(inner), f"in_{name}"))
        self.drive(dut.write, "write")
        given = dut.write.p
        port = self.constant(1, "a_port")
        bank = self.see("its_bank", dut.bank.bit_select(port, 1))
        waiting = self.see("waiting", made["waiting"])
        self.check("lookup", first.one_beat())
        # Packets on their way to their last reading, which is that of the code.
        packets = [
            (ahead.valid[n], ahead.registers["passed_bank"][n], ahead.registers["passed_port"][n])
            for n in range(2)
        ]
        for n, level in enumerate((0, 1, 3)):
            (place,) = here.registers[f"place_{level}"]
            packets.append((here.valid[n], place[0], place[3]))
        old = []
        for n, (valid, its_bank, its_port) in enumerate(packets):
            old.append(valid & (its_port == port) & (its_bank != bank))
            self.check(f"old_{n}", ~old[n] | (waiting + n >= 6))
        written = (given.kind == LEVEL) | (given.kind == CODE)
        done = dut.write.valid & dut.write.ready & (given.port == port)
        self.check("none_reads_it", ~(done & written & Cat(old).any()))


def test_search() -> None:
    """For the cycles that a packet is under way, with stalls and others around it."""
    prove(SearchBench(), "csig-search", depth=7, induction=False)


def test_writes_land() -> None:
    """By 1-induction: a write changes the word of the tree that it names, and no other does."""
    prove(LandBench(), "csig-land", depth=2, induction=False)


def test_no_half_tables() -> None:
    """By 1-induction: as long as a packet that read the bank before a swap has yet to read a table,
    nothing is written into those tables."""
    prove(SwapBench(), "csig-swap", depth=1)


FAULTS: dict[str, tuple[type[Bench], str, str]] = {
    "the other half": (
        SearchBench,
        "Mux(reached[0], reached[2], reached[1])",
        "Mux(reached[0], reached[1], reached[2])",
    ),
    "greater, not equal": (SearchBench, "measure >= word for", "measure > word for"),
    "lower words swapped": (
        LandBench,
        "[upper, lower & ~index[0], lower & index[0]]",
        "[upper, lower & index[0], lower & ~index[0]]",
    ),
    "the valid bank": (LandBench, "into = Cat(~self.bank", "into = Cat(self.bank"),
    "waits for its own stages only": (SwapBench, "AHEAD = 2", "AHEAD = 0"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    kind, old, new = FAULTS[fault]
    bench: Any = kind
    broken, name = bench(changed(rtl.csig.quantize, old, new)), f"csig-quantize {fault}"
    if kind is SwapBench:  # by the induction: a run of so many cycles is dear
        with pytest.raises(Disproved, match=r"check_old_\d .*FAILS"):
            prove(broken, re.sub("[^a-z]+", "-", name), depth=1)
    else:
        disprove(broken, name, depth=6)
