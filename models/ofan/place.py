"""Where a pointer lives in a banked engine: its bank and its row.

    row = ⌊key / B⌋,   bank = XOR of the digits of key to the base B

Both together give the key back, since the lowest digit is the bank XOR all the others. Keys that
differ in one digit are in different banks: the B keys of a row, and most that are neighbours or a
power of B apart.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np

Number = TypeVar("Number", int, np.ndarray)


def place(key: Number, banks: int) -> tuple[Number, Number]:
    """Return (bank, row) of a pointer key, or of an array of keys; `banks` is a power of two."""
    bits = banks.bit_length() - 1
    bank, rest = key & (banks - 1), key >> bits
    row = rest
    for _ in range(64 // bits if bits else 0):
        bank = bank ^ (rest & (banks - 1))
        rest = rest >> bits
    return bank, row


def key_of(bank: Number, row: Number, banks: int) -> Number:
    """Return the key that lives there."""
    bits = banks.bit_length() - 1
    low, rest = bank, row
    for _ in range(64 // bits if bits else 0):
        low = low ^ (rest & (banks - 1))
        rest = rest >> bits
    return (row << bits) | low


def rows(keys: int, banks: int) -> int:
    """Rows of a bank."""
    return -(-keys // banks)
