"""What software writes into the hardware to make it a set of ports, word by word.

Thresholds of a compact quantizer lie in a binary tree: word n of 1 to 31 is compared first if it is
1, and after it word 2n or 2n + 1. They are whole numbers of what is measured (bits, ns, bytes), so
that comparing with them is the exact comparison of rational numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from models.csig.config import MOST_MEASURE_BITS, CsigConfig
from models.csig.port import ACTIONS, Port
from models.csig.quantize import RANGES, WIDE_BITS, Compact, Wide
from models.csig.signals import SIGNALS, Signal

LEVELS = 5
SCALE_BITS = 52
"""Bits of the factor that turns what is measured into codes of a wide tag: enough for all of them
to be exact, see `scale`."""
START_BITS = MOST_MEASURE_BITS + SCALE_BITS + 1
LEAST_SHIFT, SHIFT_BITS = SCALE_BITS - 21, 6
"""A unit of a measure is less than 2**21 codes (1.25e6 for a bit of a window of 100 ns)."""

RECORD_BITS = 16 + 2 + 3 * len(SIGNALS)

LEVEL, CODE, SCALE, SWAP, RECORD, CAPACITY, EDGE = range(7)
"""What a write is for: a threshold (its index is the word's place in the tree), a code of a range,
the scale of wide codes; then the port's tables are swapped. A port's record, the bits of its
window, and a clock's next edge take effect at once."""


@dataclass(frozen=True)
class Write:
    """One word for the hardware."""

    kind: int
    port: int
    signal: int
    index: int
    value: int


def threshold(port: Port, signal: Signal, bound: Fraction, bits: int) -> int:
    """Return the least measure whose value is `bound` or more: 2**bits where none of so many bits
    is."""
    return min(max(0, math.ceil(bound / port.value(signal, 1))), 1 << bits)


def tree(thresholds: list[int], never: int) -> list[int]:
    """Return the words 1 to 31 of the search tree of up to 31 rising thresholds."""
    full = [*thresholds, *[never] * (RANGES - 1 - len(thresholds))]
    words = []
    for level in range(LEVELS):
        step = RANGES >> level
        words += [full[place * step + step // 2 - 1] for place in range(1 << level)]
    return words


def search(words: list[int], measure: int) -> int:
    """Return how many thresholds a measure reaches, as hardware finds it."""
    node = 1
    for _ in range(LEVELS):
        node = 2 * node + (measure >= words[node - 1])
    return node - RANGES


@dataclass(frozen=True)
class Scale:
    """Wide codes as hardware makes them: (measure · factor + start) >> shift, kept in 20 bits."""

    factor: int
    start: int
    shift: int

    def code(self, measure: int) -> int:
        """Return the code of a measure."""
        found = (measure * self.factor + self.start) >> self.shift
        return min(max(0, found), (1 << WIDE_BITS) - 1)

    def word(self) -> int:
        """Return the hardware's word: shift less `LEAST_SHIFT` on top of start on top of factor."""
        start = self.start & ((1 << START_BITS) - 1)
        return ((self.shift - LEAST_SHIFT) << START_BITS | start) << SCALE_BITS | self.factor


def scale(port: Port, signal: Signal, wide: Wide) -> Scale:
    """Return a quantizer of wide tags as hardware has it: its codes are the exact ones.

    A unit of the measure is p/D codes, and the base may be rounded up to a multiple of 1/D codes:
    no measure lies between. The factor is rounded up, and counts from the first measure that
    reaches the base; so n units above that come out too high by less than (n + 1) / 2**shift codes,
    and never too low. What is not a whole number of codes lies at least 1/D below the next one, so
    the floor is right while n + 1 <= 2**shift / D, and with 52 significant bits in the factor that
    is at least (2**51 - 1) / p. Where `abw` has p <= 5**9, p·(n + 1) < 2**50.6, as a window has no
    more than 800·(2**20 - 1) bits; where p is larger, D < 2**20, and codes below 2**20 have
    p·n < 2**20·D + p. All other signals have p <= 100.
    """
    codes = port.value(signal, 1) / (1 << wide.shift)
    shift = LEAST_SHIFT
    most = (1 << SCALE_BITS) - 1
    while shift < LEAST_SHIFT + (1 << SHIFT_BITS) - 1 and codes * (2 << shift) <= most:
        shift += 1
    factor = math.ceil(codes * (1 << shift))
    grid = codes.denominator
    base = Fraction(math.ceil(wide.base * grid / (1 << wide.shift)), grid)
    first = math.ceil(base / codes)
    above = math.ceil((first * codes - base) * (1 << shift))
    return Scale(factor, above - min(first, 1 << MOST_MEASURE_BITS) * factor, shift)


def record(port: Port) -> int:
    """Return a port's record: from bit 0 up, its locator (16), action (2), and for each signal
    whether an agent writes it, and whether it has a compact and a wide quantizer (a bit each)."""
    value = port.locator | ACTIONS.index(port.action) << 16
    for place, names in enumerate(
        (
            [s.name for s in SIGNALS if port.origin(s.name) == "agent"],
            list(port.compact),
            list(port.wide),
        )
    ):
        for signal in SIGNALS:
            value |= (signal.name in names) << (18 + len(SIGNALS) * place + signal.number)
    return value


def writes(config: CsigConfig, port: Port, clock: int = 0) -> Iterator[Write]:
    """Yield the words that make a port what it is; its tables become valid as a whole by the
    swap."""
    bits = config.measure_bits
    for signal in SIGNALS:
        compact = port.compact.get(signal.name)
        if compact and "compact" in config.formats:
            yield from compact_writes(port, signal, compact, bits)
        wide = port.wide.get(signal.name)
        if wide and "wide" in config.formats:
            yield Write(SCALE, port.id, signal.number, 0, scale(port, signal, wide).word())
    yield Write(SWAP, port.id, 0, 0, 0)
    yield Write(CAPACITY, port.id, 0, clock, port.capacity_bits)
    yield Write(RECORD, port.id, 0, 0, record(port))


def compact_writes(port: Port, signal: Signal, compact: Compact, bits: int) -> Iterator[Write]:
    """Yield the words of a compact quantizer."""
    thresholds = [threshold(port, signal, bound, bits) for bound in compact.bounds]
    for number, word in enumerate(tree(thresholds, 1 << bits), start=1):
        yield Write(LEVEL, port.id, signal.number, number, word)
    codes = [*compact.codes, *[compact.codes[-1]] * (RANGES - len(compact.codes))]
    for number, code in enumerate(codes):
        yield Write(CODE, port.id, signal.number, number, code)
