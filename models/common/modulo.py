"""Remainder as the hardware takes it: conditional subtraction of shifted moduli."""

from __future__ import annotations


def subtractions(bound: int, least: int) -> int:
    """Return how many conditional subtractions reduce a value below `bound` by any modulus from
    `least` up: the smallest s with least·2^s ≥ bound."""
    return max(0, (-(-bound // least) - 1).bit_length())


def modulo(value: int, modulus: int, bound: int, least: int) -> int:
    """Return `value` mod `modulus` for value < bound and modulus ≥ least, both 1 and up."""
    for shift in reversed(range(subtractions(bound, least))):
        if value >= modulus << shift:
            value -= modulus << shift
    return value
