"""The pseudo-random numbers of the house: a linear-feedback shift register of 64 bits.

It is Marsaglia's xorshift with shifts 13, 7 and 17: the new state is a linear function of the old
one over GF(2) in which all 64 bits move at once, so that numbers in a row share no bits, as they
would if a classic register moved on by one bit. Its period is 2**64 - 1: every state but 0.
"""

from __future__ import annotations

from models.common.mix import GOLDEN, MASK64, mix64

SHIFTS = (13, -7, 17)
"""Left, right and left: each step XORs the state with itself, shifted."""


def initial_state(seed: int) -> int:
    """Return the state that a seed starts from: mix64(seed + 0x9E3779B97F4A7C15), or that constant
    itself where it would be 0."""
    return mix64(seed + GOLDEN & MASK64) or GOLDEN


def next_state(state: int) -> int:
    """Return the state after `state`; 0 would stay 0."""
    for shift in SHIFTS:
        state ^= state << shift & MASK64 if shift > 0 else state >> -shift
    return state
