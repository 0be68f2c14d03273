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

    `log`: all are logarithms in units of 2^-f; psn_rec and the packet's position come in as such.
    ```
    α ─► log2 ────────────►[reg]─┐
    k + progress - rec ───►[reg]─┴─► sum: the gap ─┬──────────────►[reg]─► gap
    random ─► log2 ───────►[reg]───────────────────┴─► below it? ─►[reg]─► symphony
    ```
    `exact`: U is the random number, `scaled` its mantissa by the code of 1/k.
    ```
    α·progress, two rows ─►[reg]─► one sum ─►[reg]────────►[reg]────────────────┐
    U ─► scaled ──────────►[reg]─► ·rec ────►[reg]─► sum ─►[reg]─► moved, below? ─►[reg]─► symphony
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
        # Twice the mantissa and one: the middle of what its bits stand for.
        odd = Cat(Const(1, 1), coin[:mantissa_bits], Const(1, 1))
        drop = scaled_drop(c)
        scaled = Signal(EXACT_RANDOM_BITS)
        position, found = leading_one(m, coin[mantissa_bits:])
        zeros = Signal(range(exponent_bits + 1))
        m.d.comb += [
            scaled.eq((odd * self.k + (1 << drop)) >> (drop + 1)),
            zeros.eq(Mux(found[-1], exponent_bits - 1 - position, exponent_bits)),
        ]
        product_bits = c.alpha_bits + c.psn_bits
        product = _sum(m, stages, product_rows(i.progress, i.alpha), product_bits, "product")

        scaled, rec = stages.register(scaled, "scaled"), stages.register(i.rec, "rec")
        drawn_bits = EXACT_RANDOM_BITS + c.psn_bits
        drawn = _sum(m, stages, product_rows(rec, scaled), drawn_bits, "drawn")

        some: Value = i.tossed & i.some
        for _ in range(3):
            some, zeros = stages.register(some, "some"), stages.register(zeros, "zeros")
        for _ in range(2):
            product, rec = stages.register(product, "product"), stages.register(rec, "rec")
        drawn = stages.register(drawn, "drawn")
        shift = exact_shift(c)
        moved = drawn << max(0, -shift) >> max(0, shift) >> zeros
        return Mux(some, Cat(product, rec), 0), some & (moved < product)


def _sum(m: Module, stages: Stages, rows: list[Value], width: int, name: str) -> Value:
    """Return the sum of rows, one stage later. Carries run through its lower part ahead of the
    registers, behind those that are saved, and through its upper part behind them."""
    a, b, *_ = [*carry_save(m, rows, width, name), Const(0, width)]
    split = width * 2 // 5
    low = Signal(split + 1, name=f"{name}_low")
    high = Signal(width - split, name=f"{name}_high")
    m.d.comb += low.eq(a[:split] + b[:split])
    low = stages.register(low, f"{name}_low")
    upper = [stages.register(row[split:], f"{name}_upper") for row in (a, b)]
    m.d.comb += high.eq(upper[0] + upper[1] + low[-1])
    return Cat(low[:-1], high)
