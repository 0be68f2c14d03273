"""Remainder by conditional subtraction, for moduli that are no powers of two or not constant."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, ValueLike

from models.common.modulo import subtractions


def modulo(
    m: Module,
    value: ValueLike,
    modulus: ValueLike,
    *,
    bound: int,
    least: int,
    once: bool = False,
    name: str = "mod",
) -> Value:
    """Return `value` mod `modulus`, combinational: ⌈log2 ⌈bound / least⌉⌉ conditional subtractions,
    none for a constant power of two.

    Args:
        m: the module that gets the statements.
        value: unsigned, always less than `bound`.
        modulus: a constant or a signal, always at least `least` where the answer matters.
        bound: exclusive upper bound of `value`, 1 and up.
        least: smallest modulus, 1 and up.
        once: `value` is known to be less than twice the modulus, so one subtraction will do.
    """
    rest = Value.cast(value)
    if isinstance(modulus, int) and modulus & (modulus - 1) == 0:
        return rest[: modulus.bit_length() - 1]
    shift = 1 if once else subtractions(bound, least)
    while shift:
        shift -= 1
        multiple = Value.cast(modulus) << shift
        less = Signal(len(rest), name=f"{name}_{shift}")
        m.d.comb += less.eq(Mux(rest >= multiple, rest - multiple, rest))
        rest = less
    return rest
