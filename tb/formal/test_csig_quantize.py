"""Proofs of Quantize's compact codes: the search counts thresholds, a write lands in its place, and
no packet sees half a table."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Array, Cat, Module, Mux, Signal, Value
from amaranth.lib.wiring import connect

import rtl.csig.quantize
from models.csig.config import CsigConfig
from models.csig.tables import CODE, LEVEL, SWAP
from rtl.csig.lookup import Lookup
from rtl.csig.meter import Meter
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.naive import total
from tb.formal.prove import prove
from tb.formal.test_csig_meter import SMALL
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal


class FewBits(CsigConfig):
    """A configuration whose measures are smaller than any real one has them."""

    @property
    def measure_bits(self) -> int:
        return 3


CONFIG = FewBits(**SMALL)


class SearchBench(Bench):
    """One table, any signal's in any bank, that is not written while packets pass: any rising
    thresholds, the same ones twice too, and any codes."""

    def __init__(self, module: ModuleType = rtl.csig.quantize) -> None:
        super().__init__()
        m = self.m
        m.submodules.dut = dut = module.Quantize(CONFIG)
        watch = Watch(dut)
        inner: Module = dut.elaborate(None)
        (stages,) = watch.stages
        self.drive(dut.i)
        self.drain(dut.o)
        place = self.constant(4, "place")  # bank, signal, port 0
        self.assume(~place[3])

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
        at = dut.i.p
        mine = (at.bank == place[0]) & (at.signal == place[1:3])
        count = total([at.measure >= word for word in rising])
        codes = Array(peek("codes", Value.cast(n) | Signal(8), 5) for n in range(32))
        expected: Value = self.named(codes[count[:5]], 5, "code")
        for stage in range(dut.latency):
            expected = stages.register(expected, f"expected_{stage}")
            mine = stages.register(mine, f"mine_{stage}")
        self.check("code", ~(dut.o.valid & mine) | (dut.o.p.code == expected))

        self.m.d.comb += [dut.write.valid.eq(self.free(1, "write_valid"))]
        m.d.comb += dut.write.payload.eq(self.free(dut.write.payload.shape(), "write"))
        given = dut.write.p
        into = Cat(~dut.bank, given.signal, given.port)
        hits = (given.kind == LEVEL) | (given.kind == CODE)
        self.assume(~(dut.write.valid & hits & (into[:3] == place[:3])))

    @classmethod
    def _in_order(cls, node: int) -> list[int]:
        """The words of the tree from the least threshold up."""
        if node > 31:
            return []
        return [*cls._in_order(2 * node), node, *cls._in_order(2 * node + 1)]


class SwapBench(Bench):
    """The real blocks from where the bank is read to where the tables are."""

    def __init__(self, module: ModuleType = rtl.csig.quantize) -> None:
        super().__init__(resets=True)
        m = self.m
        config = replace(CONFIG, ports=2)
        lookup, meter, dut = Lookup(config), Meter(config), module.Quantize(config)
        stages = [Watch(block).stages[0] for block in (lookup, meter, dut)]
        dut.elaborate(None)
        m.submodules += [lookup, meter, dut]
        self.drive(lookup.i)
        connect(m, lookup.o, meter.i)
        connect(m, meter.o, dut.i)
        self.drain(dut.o)
        m.d.comb += lookup.bank.eq(dut.bank)
        for block, prefix in ((lookup, "record"), (meter, "capacity")):
            for name in block.signature.members:
                if name.startswith(prefix):
                    port = Value.cast(getattr(block, name))
                    m.d.comb += port.eq(self.free(len(port), f"in_{name}"))
        self.drive(dut.write, "write")
        given = dut.write.p
        waiting = module.waiting_of(dut) if hasattr(module, "waiting_of") else None
        assert waiting is None
        done = self.see("done", dut.write.valid & dut.write.ready)
        port = self.constant(1, "a_port")
        bank = self.see("bank", dut.bank.bit_select(port, 1))
        old = []
        for behind in (stages[1], stages[2]):
            for n, valid in enumerate(behind.valid):
                (its_port, its_bank) = (
                    behind.registers[f"passed_{name}"][n] if f"passed_{name}" in behind.registers
                    else None
                    for name in ("port", "bank")
                )
                old.append((valid, its_port, its_bank))
        self.old = old
        self.parts = (done, given, bank, port)


def test_search() -> None:
    """For the cycles that a packet is under way, with stalls, others around it, and writes to all
    other tables."""
    prove(SearchBench(), "csig-search", depth=7, induction=False)


FAULTS = {
    "the other half": ("Mux(reached[0], reached[2], reached[1])", "Mux(reached[0], reached[1], reached[2])"),
    "greater, not equal": ("measure >= word for", "measure > word for"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = SearchBench(changed(rtl.csig.quantize, *FAULTS[fault]))
    disprove(broken, f"csig-search {fault}", depth=7)
