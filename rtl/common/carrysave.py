"""Carry-save addition: many rows become two of the same sum, without a carry that runs."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Const, Module, Mux, Signal, Value

from models.common.carrysave import reduction


def carry_save(m: Module, rows: Sequence[Value], width: int, name: str) -> list[Value]:
    """Return at most two signals of `width` bits with the sum of `rows` modulo 2**width: one full
    adder deep for each rank of `models.common.carrysave.reduction`.

    Args:
        m: the module that gets the statements.
        rows: unsigned values, 1 to 64 of them.
        width: of the sum, bits.
        name: of the signals.
    """
    left: list[Value] = []
    for number, row in enumerate(rows):
        whole = Signal(width, name=f"{name}_row{number}")
        m.d.comb += whole.eq(row)
        left.append(whole)
    for rank, threes in enumerate(reduction(len(left))):
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
