"""TossCoin of Algorithm 1 (seed equations 1 and 4): α·k·psn/psn_rec against a random number."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.symphony.beat import tossed, tracked
from models.symphony.coin import (
    EXACT_RANDOM_BITS,
    exact_shift,
    gap_bits,
    random_rests,
    scaled_drop,
)
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.settings import setting_bits
from rtl.common.carrysave import carry_save, product_rows
from rtl.common.log2 import Log2, fraction_of, leading_one
from rtl.common.stage import Stages


class Coin(wiring.Component):
    """Decides whether Symphony marks a packet, by its random number. Latency 2 cycles in `log`
    arithmetic, 4 in `exact`; throughput one beat a cycle. No division and no exponential.

    `log`, in units of 2^-f (α, psn and psn_rec come in as they are stored):
    ```
    α ─► log2 ───────────────────────────────────────────►[reg]─┐
    k + progress - rec ──────────────────────────────────►[reg]─┴─► sum, the gap ─► below it? ─►[reg]
    random ─► leading one of the exponent, table of the mantissa ─►[reg]────────────────┘
    ```
    `exact`, U the random number:
    ```
    α·progress, two rows ─►[reg]─► their sum ──────────►[reg]────────────►[reg]──────────┐
    U's mantissa·1/k ─►[reg]─► ·rec, two rows ─►[reg]─► sum ─►[reg]─► >> U's exponent, below? ─►[reg]
    ```

    Args:
        config: a `SymphonyConfig`.

    Ports:
        i (stream of `beat.tracked`), o (stream of `beat.tossed`): `gap` is 0 where Algorithm 1 does
        not reach the coin, and then `symphony` is 0, too.
        k (in): `models.symphony.settings.k_code`.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        self.latency = 2 if c.arithmetic == "log" else 4
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(tracked(c)))),
                "o": Out(stream.Signature(data.StructLayout(tossed(c)))),
                "k": In(setting_bits(c)["k"]),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c, o = self.config, self.o
        stages = Stages(m, self.i, o, depth=self.latency)
        stages.carry(self.i, o)
        gap, marks = (self._log if c.arithmetic == "log" else self._exact)(m, stages)
        m.d.comb += [
            o.p.gap.eq(stages.register(gap, "gap")),
            o.p.symphony.eq(stages.register(marks, "symphony")),
        ]
        return m

    def _log(self, m: Module, stages: Stages) -> tuple[Value, Value]:
        c, i = self.config, self.i.p
        f, mantissa_bits = c.fraction_bits, c.random_mantissa_bits
        coin = i.random[RED_BITS:]
        m.submodules.log2 = log2 = Log2(c.alpha_bits, c.mantissa_bits, f)
        # One bit more, for a k set so small that the gap falls below 0.
        width = gap_bits(c) + 1
        ratio, total = Signal(signed(width)), Signal(signed(width))
        rests = random_rests(mantissa_bits, f)
        fraction = fraction_of(m, coin[:mantissa_bits], rests, f, "fraction")
        exponent, moved = leading_one(m, coin[mantissa_bits:])
        m.d.comb += [
            log2.value.eq(i.alpha),
            ratio.eq(self.k + i.progress - i.rec),
        ]
        logarithm = stages.register(log2.code, "logarithm")
        ratio = stages.register(ratio, "ratio")
        some = stages.register(i.tossed & i.some, "some")
        drawn = stages.register(Cat(Mux(moved[-1], fraction, 0), exponent), "drawn")

        gap = Signal(gap_bits(c))
        m.d.comb += [
            total.eq(ratio + logarithm),
            gap.eq(Mux(some & (total >= 0), total, 0)),
        ]
        return gap, drawn < gap

    def _exact(self, m: Module, stages: Stages) -> tuple[Value, Value]:
        c, i = self.config, self.i.p
        mantissa_bits, exponent_bits = c.random_mantissa_bits, c.random_exponent_bits
        coin = i.random[RED_BITS:]
        # 1: U's mantissa times 1/k, rounded; U's exponent; the other product.
        mantissa = coin[:mantissa_bits]
        scaled = Signal(EXACT_RANDOM_BITS)
        drop = scaled_drop(c)
        odd = Cat(Const(1, 1), mantissa, Const(1, 1))
        m.d.comb += scaled.eq((odd * self.k + (1 << drop)) >> (drop + 1))
        position, moved = leading_one(m, coin[mantissa_bits:])
        zeros = Signal(range(exponent_bits + 1))
        m.d.comb += zeros.eq(Mux(moved[-1], exponent_bits - 1 - position, exponent_bits))
        product = Sum(m, stages, product_rows(i.progress, i.alpha), c.alpha_bits + c.psn_bits, "p")
        some, rec = i.tossed & i.some, i.rec

        # 2: times psn_rec
        scaled, zeros, some, rec = (stages.register(part) for part in (scaled, zeros, some, rec))
        product = product.total
        width = EXACT_RANDOM_BITS + c.psn_bits
        drawn = Sum(m, stages, product_rows(rec, scaled), width, "drawn")
        # 3
        zeros, some, rec, product = (stages.register(part) for part in (zeros, some, rec, product))
        drawn = drawn.total
        # 4
        zeros, some, rec, product, drawn = (
            stages.register(part) for part in (zeros, some, rec, product, drawn)
        )
        shift = exact_shift(c)
        moved = drawn << max(0, -shift) >> max(0, shift)
        gap = Mux(some, Cat(product, rec), 0)
        return gap, some & ((moved >> zeros) < product)


class Sum:
    """The sum of many rows in two stages: carries that run through its lower half in the first,
    with the carry-save part, and through its upper half in the second."""

    def __init__(self, m: Module, stages: Stages, rows: list[Value], width: int, name: str) -> None:
        two = carry_save(m, rows, width, name)
        a, b = (two + [Const(0, width)])[:2] if len(two) < 2 else two
        half = width * 2 // 5
        low = Signal(half + 1, name=f"{name}_low")
        m.d.comb += low.eq(a[:half] + b[:half])
        low = stages.register(low, f"{name}_low")
        upper_a = stages.register(a[half:], f"{name}_a")
        upper_b = stages.register(b[half:], f"{name}_b")
        high = Signal(width - half, name=f"{name}_high")
        m.d.comb += high.eq(upper_a + upper_b + low[-1])
        self.total = Cat(low[:-1], high)
