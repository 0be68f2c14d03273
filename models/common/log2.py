"""Binary logarithms of integers by a small table, in fixed point.

The exponent is the position of the leading one. Of the bits below it, x, the first `mantissa_bits`
count. log2 (1 + x) is x and a little more, at most 0.09, and only that rest is in the table, one
entry for two mantissas side by side; so the table is small.

    code = exponent · 2^f + x cut to f places + rest[x]         in units of 2^-f

The code never falls when the value rises, so the larger of two values has the larger code, or the
same.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache


def linear_part(mantissa_bits: int, fraction_bits: int) -> list[int]:
    """Return every mantissa x in units of 2**-fraction_bits, cut."""
    return [(i << fraction_bits) >> mantissa_bits for i in range(1 << mantissa_bits)]


def shared_rests(
    low: Sequence[float], high: Sequence[float], mantissa_bits: int, fraction_bits: int
) -> tuple[int, ...]:
    """Return a table with one entry for two mantissas, such that its largest error is least.

    Args:
        low, high: the least and the largest rest that is right for each mantissa, in units of
            2**-fraction_bits.
        mantissa_bits, fraction_bits: of the table. No logarithm that it gives reaches 1.
    """
    linear = linear_part(mantissa_bits, fraction_bits)
    last = (1 << fraction_bits) - 1
    rests = []
    for i in range(0, len(linear), 2):
        middle = (min(low[i : i + 2]) + max(high[i : i + 2])) / 2
        rests.append(min(max(0, round(middle)), last - linear[i + 1]))
    return tuple(rests)


@cache
def log2_rests(mantissa_bits: int, fraction_bits: int, width: int) -> tuple[int, ...]:
    """Return the table for values of up to `width` bits: 2**(mantissa_bits - 1) entries."""
    cells, scale = 1 << mantissa_bits, 1 << fraction_bits
    linear = linear_part(mantissa_bits, fraction_bits)
    # A mantissa stands for an interval where bits are cut off, and some occur in no narrow value.
    cut = width - 1 > mantissa_bits
    step = 1 << max(0, mantissa_bits - (width - 1))
    used = [i - i % step for i in range(cells)]
    low = [math.log2(1 + i / cells) * scale - linear[i] for i in used]
    high = [math.log2(1 + (i + cut) / cells) * scale - linear[i] for i in used]
    return shared_rests(low, high, mantissa_bits, fraction_bits)


@cache
def log2_table(mantissa_bits: int, fraction_bits: int, width: int) -> tuple[int, ...]:
    """Return log2 of 1 + x as the table and x make it, for every mantissa, in units of
    2**-fraction_bits."""
    rests = log2_rests(mantissa_bits, fraction_bits, width)
    return tuple(x + rests[i >> 1] for i, x in enumerate(linear_part(mantissa_bits, fraction_bits)))


def log2_code(value: int, mantissa_bits: int, fraction_bits: int, width: int) -> int:
    """Return log2 of `value`, 0 to 2**width - 1, in units of 2**-fraction_bits; 0 for 0, too."""
    if value == 0:
        return 0
    exponent = value.bit_length() - 1
    mantissa = (value ^ 1 << exponent) << mantissa_bits >> exponent
    table = log2_table(mantissa_bits, fraction_bits, width)
    return (exponent << fraction_bits) + table[mantissa]
