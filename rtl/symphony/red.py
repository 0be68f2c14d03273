"""RED, the mark by queue depth (seed section 3.3, coexistence with congestion control)."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.symphony.beat import colored, tossed
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.red import RED_SCALE_BITS
from models.symphony.settings import setting_bits
from rtl.common.stage import Stages


class Red(wiring.Component):
    """Draws the queue depth from which this packet is marked, and compares. Latency 3 cycles;
    throughput one beat a cycle.

    ```
    random × low, high half of scale ─►[reg]─► sum ─►[reg]─────────────────► ≤ ? ─►[reg]─► red
    depth - kmin - 1, low half       ─►[reg]─► high half ─►[reg]─► >> shift ─┘
    ```

    With x = depth - kmin, the packet is marked if x·2^12 > random·scale·2^shift, which for x ≥ 1 is
    (x·2^12 - 1) >> shift ≥ random·scale; or if the depth is above kmax.

    Args:
        config: a `SymphonyConfig`.

    Ports:
        i (stream of `beat.tossed`), o (stream of `beat.colored`).
        kmin, kmax, red_scale, red_shift (in): settings.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        self.latency = 3
        names = ("kmin", "kmax", "red_scale", "red_shift")
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(tossed(c)))),
                "o": Out(stream.Signature(data.StructLayout(colored(c)))),
                **{name: In(setting_bits(c)[name]) for name in names},
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        i, o = self.i, self.o
        stages = Stages(m, i, o, depth=3)
        stages.carry(i, o)
        depth, random = i.p.queue, i.p.random

        half = c.queue_bits // 2
        low = Signal(half + 1)
        m.d.comb += low.eq(depth[:half] + Cat(~self.kmin[:half]))
        low, high = stages.register(low, "low"), stages.register(depth[half:], "high")
        upper = Signal(c.queue_bits - half)
        m.d.comb += upper.eq(high + ~self.kmin[half:] + low[half])
        less = Cat(stages.register(low[:half], "less_low"), stages.register(upper, "less_high"))

        digit = RED_SCALE_BITS // 2
        products: list[Value] = []
        for number in range(2):
            product = Signal(RED_BITS + digit, name=f"product_{number}")
            m.d.comb += product.eq(random * self.red_scale.word_select(number, digit))
            products.append(stages.register(product, f"product_{number}"))
        total = Signal(RED_BITS + RED_SCALE_BITS)
        m.d.comb += total.eq(products[0] + (products[1] << digit))
        drawn = stages.register(total, "drawn")

        some, always = depth > self.kmin, depth > self.kmax
        for _ in range(2):
            some, always = stages.register(some, "some"), stages.register(always, "always")
        reached = Cat(Const(-1, RED_BITS), less) >> self.red_shift
        m.d.comb += o.p.red.eq(stages.register(always | (some & (reached >= drawn)), "picked"))
        return m
