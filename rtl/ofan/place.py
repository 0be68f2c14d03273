"""Where a packet's pointer lives: its bank and row (models/ofan/place.py). Wiring and XORs."""

from __future__ import annotations

from functools import reduce
from operator import xor

from amaranth.hdl import Cat, Const, Module, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from models.ofan.config import OfanConfig
from rtl.ofan.match import place_fields, row_bits


def digits(c: OfanConfig, rest: Value) -> Value:
    """XOR of the digits of a number to the base B."""
    size = c.engine.bank_bits
    parts = [rest[start : start + size] for start in range(0, len(rest), max(1, size))]
    return reduce(xor, parts)[:size] if parts and size else Const(0, size)


class Place(wiring.Component):
    """From a packet's destination and size class to its bank and row. Combinational.

    Args:
        config: an `OfanConfig` with a banked engine.

    Ports:
        destination (in), size_class (in), bank (out), row (out).
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        super().__init__(
            {
                "destination": In(unsigned(c.destination_bits)),
                "size_class": In(unsigned(c.class_bits)),
                **{name: Out(shape) for name, shape in place_fields(c).items()},
            }
        )

    @staticmethod
    def key(c: OfanConfig, bank: Value, row: Value) -> Value:
        """The key that lives in `bank` at `row`."""
        size = c.engine.bank_bits
        return Cat(bank ^ digits(c, row) if size else Const(0, 0), row)[: c.key_bits]

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        size = c.engine.bank_bits
        key = Signal(c.key_bits)
        m.d.comb += key.eq(pointer_key(c, self.destination, self.size_class))
        m.d.comb += [self.row.eq(key[size:]), self.bank.eq(digits(c, key))]
        return m


def pointer_key(c: OfanConfig, destination: Value, size_class: Value) -> Value:
    """The key of a packet, destination + N_d · size class (equation 16)."""
    if c.destinations == 1 << c.destination_bits:
        return Cat(destination, size_class)
    return destination + size_class * c.destinations


def to_place(c: OfanConfig, key: Value) -> Value:
    """Return where a key lives, as wide as the key: the bank above the row."""
    return Cat(key[c.engine.bank_bits :], digits(c, key))[: c.key_bits]


def to_key(c: OfanConfig, place: Value) -> Value:
    """Return the key that lives at a place."""
    return Place.key(c, place[row_bits(c) :], place[: row_bits(c)])
