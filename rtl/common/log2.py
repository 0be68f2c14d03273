"""Binary logarithms of integers by a small table."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for, integer
from models.common.log2 import log2_rests


def fraction_of(m: Module, mantissa: Value, rests: tuple[int, ...], bits: int, name: str) -> Value:
    """Return log2 of 1 + mantissa as `models.common.log2` makes it: the mantissa cut to `bits`
    places, and an entry of the table for two mantissas."""
    # One constant for each bit of an entry: a switch would become a memory in Yosys's hands.
    columns = [
        sum((rest >> bit & 1) << n for n, rest in enumerate(rests))
        for bit in range(max(rests).bit_length())
    ]
    rest = Cat(Const(column, len(rests)).bit_select(mantissa[1:], 1) for column in columns)
    fraction = Signal(bits, name=name)
    m.d.comb += fraction.eq(((mantissa << bits) >> len(mantissa)) + rest)
    return fraction


def leading_one(m: Module, value: Value, name: str = "lead") -> tuple[Value, Value]:
    """Return the position of a value's leading one, 0 if it has none, and the value moved up until
    that is its top bit, in a power of two of bits."""
    bits = bits_for(len(value))
    size = 1 << bits
    rest: Value = Cat(value, Const(0, size - len(value)))
    position: list[Value] = []
    # Each step halves where the leading one may be, and moves what may hold it to the top.
    for level in reversed(range(bits)):
        half = 1 << level
        upper = Signal(name=f"{name}_upper_{level}")
        moved = Signal(size, name=f"{name}_moved_{level}")
        m.d.comb += [
            upper.eq(rest[size - half :].any()),
            moved.eq(Mux(upper, rest, rest << half)),
        ]
        position.insert(0, upper)
        rest = moved
    return Cat(position), rest


class Log2(wiring.Component):
    """Finds the leading one, shifts it to the top, and looks the bits below it up. Combinational.

    Args:
        width: bits of the value, 1 to 64.
        mantissa_bits: bits below the leading one that count, 2 to 12.
        fraction_bits: binary places of the logarithm, 1 to 12.

    Ports:
        value (in, width bits).
        code (out): log2 of it in units of 2**-fraction_bits, as `models.common.log2.log2_code`
        gives it: the exponent above the fraction. 0 for 0, too.
    """

    def __init__(self, width: int, mantissa_bits: int, fraction_bits: int) -> None:
        self.width = integer("width", width, 1, 64)
        self.mantissa_bits = integer("mantissa_bits", mantissa_bits, 2, 12)
        self.fraction_bits = integer("fraction_bits", fraction_bits, 1, 12)
        super().__init__({"value": In(width), "code": Out(bits_for(width) + fraction_bits)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        exponent, rest = leading_one(m, self.value)
        size = len(rest)
        below = Cat(Const(0, max(0, self.mantissa_bits - size + 1)), rest[: size - 1])
        mantissa = below[len(below) - self.mantissa_bits :]
        rests = log2_rests(self.mantissa_bits, self.fraction_bits, self.width)
        fraction = fraction_of(m, mantissa, rests, self.fraction_bits, "fraction")
        m.d.comb += self.code.eq(Cat(Mux(rest[-1], fraction, 0), exponent))
        return m
