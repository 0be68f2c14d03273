"""Proof of the coin, pipelined and without a division, against equations 1 and 4 as the model has
them, for all inputs and random words."""

from __future__ import annotations

from types import ModuleType

import pytest
from amaranth.hdl import Array, Const, Mux, Value

import rtl.symphony.coin
from models.common.log2 import log2_table
from models.symphony.coin import exact_shift, gap_bits, random_table, scaled_drop
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.settings import k_code
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.small import SMALL, surrounded
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal


class CoinBench(Bench):
    """A coin with any beats, and what it should say, delayed as the beats are. In `log` arithmetic
    with any k."""

    def __init__(self, config: SymphonyConfig, module: ModuleType = rtl.symphony.coin) -> None:
        super().__init__()
        c = self.config = config
        dut = self.dut = module.Coin(c)
        (stages,) = Watch(dut).stages
        surrounded(self, dut)
        coin = dut.i.p.random[RED_BITS:]
        self.mantissa = coin[: c.random_mantissa_bits]
        exponent = coin[c.random_mantissa_bits :]
        self.zeros: Value = Const(c.random_exponent_bits)
        for bit in range(c.random_exponent_bits):
            self.zeros = Mux(exponent[bit], c.random_exponent_bits - 1 - bit, self.zeros)
        gap, marks = self.log() if c.arithmetic == "log" else self.exact()
        gap = self.named(gap, gap_bits(c), "gap")
        for _ in stages.valid:
            gap, marks = stages.register(gap, "gap_due"), stages.register(marks, "marks_due")
        self.check("gap", ~dut.o.valid | (dut.o.p.gap == gap))
        self.check("symphony", ~dut.o.valid | (dut.o.p.symphony == marks))
        self.depth = dut.latency + 2

    def log(self) -> tuple[Value, Value]:
        c, dut, given = self.config, self.dut, self.dut.i.p
        f = c.fraction_bits
        self.assume(dut.k <= c.random_exponent_bits << f)
        self.assume((given.progress < c.psn_bits << f) & (given.rec < c.psn_bits << f))
        table = log2_table(c.mantissa_bits, f, c.alpha_bits)
        codes = [0]
        for alpha in range(1, 1 << c.alpha_bits):
            exponent = alpha.bit_length() - 1
            rest = (alpha - (1 << exponent)) << c.mantissa_bits >> exponent
            codes.append((exponent << f) + table[rest])
        total = dut.k + Array(codes)[given.alpha] + given.progress - given.rec
        gap = Mux(given.tossed & given.some & (total > 0), total, 0)
        drawn = Array(random_table(c.random_mantissa_bits, f))[self.mantissa]
        drawn = drawn + ((c.random_exponent_bits - 1 - self.zeros) << f)
        return gap, Mux(drawn < 0, 0, drawn) < gap

    def exact(self) -> tuple[Value, Value]:
        c, dut, given = self.config, self.dut, self.dut.i.p
        # Two products of free factors, each made in two ways, are more than a SAT solver likes.
        self.assume(dut.k == k_code(c))
        tossed = given.tossed & given.some
        width = c.alpha_bits + c.psn_bits
        product = self.named(given.alpha * given.progress, width, "product")
        odd = 2 ** (c.random_mantissa_bits + 1) + 2 * self.mantissa + 1
        drop = scaled_drop(c)
        scaled = (odd * dut.k + (1 << drop)) >> drop + 1
        shift = exact_shift(c)
        drawn = scaled * given.rec << max(0, -shift) >> self.zeros + max(0, shift)
        return Mux(tossed, product | given.rec << width, 0), tossed & (drawn < product)


CASES = {
    "log": SymphonyConfig(jobs=2, **{**SMALL, "alpha_max": 15}),
    "exact": SymphonyConfig(jobs=2, arithmetic="exact", **SMALL),
    "exact-small-k": SymphonyConfig(jobs=2, arithmetic="exact", **{**SMALL, "k": 0.01}),
}


@pytest.mark.parametrize("name", CASES)
def test_coin(name: str) -> None:
    bench = CoinBench(CASES[name])
    prove(bench, f"coin-{name}", depth=bench.depth, induction=False)


FAULTS = {
    "marks at the gap": ("log", "drawn < gap", "drawn <= gap"),
    "does not round": ("exact", "(1 << drop)) >>", "0) >>"),
    "carry lost": ("exact", "upper[1] + low[-1]", "upper[1]"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    name, old, new = FAULTS[fault]
    bench = CoinBench(CASES[name], changed(rtl.symphony.coin, old, new))
    disprove(bench, f"coin {fault}", depth=bench.depth)
