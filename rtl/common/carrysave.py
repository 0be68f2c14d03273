"""Carry-save addition: many rows become two of the same sum, without a carry that runs."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from models.common.carrysave import reduction

WORD = 64
"""Most bits of a signal here: as many as a simulator's integer has, which takes several times as
long over the words of a wider one. The gates are the same."""


def carry_save(
    m: Module, rows: Sequence[Value], width: int, name: str, most: int = 2
) -> list[Value]:
    """Return at most `most` values of `width` bits with the sum of `rows` modulo 2**width: one
    full adder deep for each rank of `models.common.carrysave.reduction`.

    Args:
        m: the module that gets the statements.
        rows: unsigned values, 1 to 64 of them.
        width: of the sum, bits.
        name: of the signals, of which a value has one for every `WORD` bits.
        most: values that may be left, 2 and up: for a register between two ranks.
    """
    words = [slice(at, min(at + WORD, width)) for at in range(0, width, WORD)]

    def signals(what: str) -> list[Signal]:
        return [
            Signal(word.stop - word.start, name=f"{name}_{what}" + f"_{word.start}" * (n > 0))
            for n, word in enumerate(words)
        ]

    left: list[list[Signal]] = []
    for number, row in enumerate(rows):
        whole = signals(f"row{number}")
        m.d.comb += [part.eq(row[word]) for part, word in zip(whole, words, strict=True)]
        left.append(whole)
    for rank, threes in enumerate(reduction(len(left))):
        if len(left) <= most:
            break
        joined: list[list[Signal]] = []
        for n in range(threes):
            sums, carries = signals(f"sum{rank}_{n}"), signals(f"carry{rank}_{n}")
            over: Value = Const(0, 1)
            for a, b, c, total, carry in zip(*left[3 * n : 3 * n + 3], sums, carries, strict=True):
                half = a ^ b
                majority = a & b | half & c
                m.d.comb += [total.eq(half ^ c), carry.eq(Cat(over, majority))]
                over = majority[-1]
            joined += [sums, carries]
        left = joined + left[3 * threes :]
    return [Cat(*value) for value in left]


def product_rows(left: Value, right: Value) -> list[Value]:
    """Return the rows of a product: `left`, shifted, for each bit of `right` that is set."""
    none = Const(0, len(left))
    return [Cat(Const(0, n), Mux(right[n], left, none)) for n in range(len(right))]


def ones(m: Module, bits: Sequence[Value], name: str) -> Value:
    """Return how many of `bits` are set: three bits of one weight become a sum and a carry until
    each weight has one bit left, a full adder for each of the bits but the last few.

    Args:
        m: the module that gets the statements.
        bits: any number of single bits, none too.
        name: of the signals.
    """
    columns: list[list[Value]] = [list(bits)]
    result: list[Value] = []
    made = 0
    while columns:
        column = columns.pop(0)
        carries: list[Value] = []
        while len(column) > 1:
            a, b, *column = column
            c = column.pop(0) if column else None
            total, carry = Signal(name=f"{name}_sum{made}"), Signal(name=f"{name}_carry{made}")
            made += 1
            if c is None:
                m.d.comb += [total.eq(a ^ b), carry.eq(a & b)]
            else:
                m.d.comb += [total.eq(a ^ b ^ c), carry.eq(a & b | (a ^ b) & c)]
            column.append(total)
            carries.append(carry)
        result += column
        if carries:
            columns = [carries + columns[0], *columns[1:]] if columns else [carries]
    return Cat(*result) if result else Const(0, 1)
