"""Carry-save addition: many rows become two of the same sum, without a carry that runs."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value

from models.common.carrysave import reduction


def carry_save(
    m: Module, rows: Sequence[Value], width: int, name: str, most: int = 2
) -> list[Value]:
    """Return at most `most` signals of `width` bits with the sum of `rows` modulo 2**width: one
    full adder deep for each rank of `models.common.carrysave.reduction`.

    Args:
        m: the module that gets the statements.
        rows: unsigned values, 1 to 64 of them.
        width: of the sum, bits.
        name: of the signals.
        most: signals that may be left, 2 and up: for a register between two ranks.
    """
    left: list[Value] = []
    for number, row in enumerate(rows):
        whole = Signal(width, name=f"{name}_row{number}")
        m.d.comb += whole.eq(row)
        left.append(whole)
    for rank, threes in enumerate(reduction(len(left))):
        if len(left) <= most:
            break
        joined: list[Value] = []
        for n in range(threes):
            a, b, c = left[3 * n : 3 * n + 3]
            half = a ^ b
            total = Signal(width, name=f"{name}_sum{rank}_{n}")
            carry = Signal(width, name=f"{name}_carry{rank}_{n}")
            m.d.comb += [total.eq(half ^ c), carry.eq((a & b | half & c) << 1)]
            joined += [total, carry]
        left = joined + left[3 * threes :]
    return left


def product_rows(left: Value, right: Value) -> list[Value]:
    """Return the rows of a product: `left`, shifted, for each bit of `right` that is set."""
    return [Mux(right[bit], left, Const(0, len(left))) << bit for bit in range(len(right))]


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
