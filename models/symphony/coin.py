"""TossCoin of Algorithm 1: α·k·psn/psn_rec against a random number, three times.

In real numbers (`probability`, equations 1 and 4), and as the two forms of hardware decide it. The
random number is one for all: a binary floating-point number, uniform in (0, 1). Its exponent is the
count of leading zeros of `random_exponent_bits` random bits, its mantissa more of them, so that it
is as fine for small probabilities as for large ones.

    random word:  | exponent bits | mantissa bits | RED |       U = 2^-(e+1) · (1 + (i + 1/2)/2^M)

Each form compares the random number with a `gap`, the word that stands for Δ in its arithmetic, and
`gap_probability` says which share of all random numbers lies below it.

    log     gap = (E + log2 k) + log2 α + log2 psn - log2 psn_rec, in units of 2^-f
            marked where E + log2 U is below it; E, the exponent bits, keeps both above 0
    exact   gap = psn_rec and α·psn
            marked where U/k · psn_rec < α·psn, with U/k rounded to `EXACT_RANDOM_BITS`

A gap of 0 is the probability 0: the coin is not tossed, or psn is 0.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from models.common.log2 import linear_part, log2_code, shared_rests
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.settings import EXACT_K_BITS, k_code, k_exponent

EXACT_RANDOM_BITS = 10
"""Bits of U/k in `exact` arithmetic, where the mantissa of U has met that of 1/k."""


class Uniform(NamedTuple):
    """A drawn random number in (0, 1); its parts are integers or arrays of them."""

    exponent: Any
    """e, leading zeros: the number lies in [2^-(e+1), 2^-e)."""
    mantissa: Any
    """i, the bits below the leading one."""


def split(config: SymphonyConfig, random: int) -> Uniform:
    """Return the coin's random number in a packet's random word."""
    m, e = config.random_mantissa_bits, config.random_exponent_bits
    mantissa = random >> RED_BITS & (1 << m) - 1
    zeros = e - (random >> RED_BITS + m & (1 << e) - 1).bit_length()
    return Uniform(zeros, mantissa)


def split_all(config: SymphonyConfig, random: np.ndarray) -> Uniform:
    """Return the coin's random numbers in an array of random words; see `split`."""
    m, e = config.random_mantissa_bits, config.random_exponent_bits
    word = random.astype(np.uint64) >> RED_BITS
    mantissa = (word & (1 << m) - 1).astype(np.int64)
    return Uniform(e - _bit_lengths(word >> m & (1 << e) - 1), mantissa)


def drawn(config: SymphonyConfig, random: int) -> float:
    """Return the coin's random number as a real number, the middle of what its bits stand for."""
    exponent, mantissa = split(config, random)
    return (1 + (mantissa + 0.5) / 2**config.random_mantissa_bits) / 2 ** (exponent + 1)


def probability(config: SymphonyConfig, alpha: int, psn: int, psn_rec: int) -> float:
    """Return P_ECN = min(1, k·α·psn/psn_rec) in real numbers (equations 1 and 4)."""
    return min(1.0, config.k * (alpha * (psn / psn_rec)))


def gap_bits(config: SymphonyConfig) -> int:
    """Width of a `gap`, bits: at most 64."""
    c = config
    if c.arithmetic == "exact":
        return c.alpha_bits + 2 * c.psn_bits
    largest = c.random_exponent_bits + c.alpha_bits + c.psn_bits
    return c.fraction_bits + (largest - 1).bit_length()


def gap(config: SymphonyConfig, alpha: Any, rec: Any, progress: Any, some: Any) -> Any:
    """Return what the random number is compared with, for one packet or arrays of them.

    Args:
        config: the configuration; its k is used in `log`.
        alpha: α.
        rec: psn_rec, as it is stored.
        progress: the packet's own position, as psn_rec is stored.
        some: whether the coin is tossed and the position is above 0; else the answer is 0.
    """
    c = config
    if c.arithmetic == "exact":
        if isinstance(alpha, np.ndarray):
            alpha, rec, progress = (part.astype(np.uint64) for part in (alpha, rec, progress))
        return (rec << c.alpha_bits + c.psn_bits | alpha * progress) * some
    logarithm = _alpha_log(c)[alpha] if isinstance(alpha, np.ndarray) else alpha_code(c, alpha)
    total = k_code(c) + logarithm + progress - rec
    return np.maximum(total, 0) * some if isinstance(total, np.ndarray) else max(total, 0) * some


def alpha_code(config: SymphonyConfig, alpha: int) -> int:
    """Return log2 α in units of 2^-fraction_bits."""
    c = config
    return log2_code(alpha, c.mantissa_bits, c.fraction_bits, c.alpha_bits)


@cache
def _alpha_log(config: SymphonyConfig) -> np.ndarray:
    """Return `alpha_code` of every α."""
    return np.array([alpha_code(config, alpha) for alpha in range(1 << config.alpha_bits)])


@cache
def random_rests(mantissa_bits: int, fraction_bits: int) -> tuple[int, ...]:
    """Return the table for log2 of the random number's mantissa, 1 + (i + 1/2)/2^M, which is read
    as that of `models.common.log2`.

    The logarithm is rounded down, so that the mantissas below 2^(r/2^f) are those whose logarithms
    are below r, and their number is right to 1/2, which is all that M bits can do; or nearly so,
    since two mantissas share an entry.
    """
    cells, scale = 1 << mantissa_bits, 1 << fraction_bits
    linear = linear_part(mantissa_bits, fraction_bits)
    down = [math.log2(1 + (i + 0.5) / cells) * scale - 0.5 - linear[i] for i in range(cells)]
    return shared_rests(down, down, mantissa_bits, fraction_bits)


@cache
def random_table(mantissa_bits: int, fraction_bits: int) -> tuple[int, ...]:
    """Return log2 of the random number's mantissa by mantissa, in units of 2^-fraction_bits."""
    rests = random_rests(mantissa_bits, fraction_bits)
    return tuple(x + rests[i >> 1] for i, x in enumerate(linear_part(mantissa_bits, fraction_bits)))


@cache
def scaled_table(config: SymphonyConfig) -> np.ndarray:
    """Return the mantissa of U/k for every mantissa of U: (2^M + i + 1/2)·code(1/k), rounded to
    `EXACT_RANDOM_BITS`."""
    m = config.random_mantissa_bits
    odd = 2 ** (m + 1) + 2 * np.arange(1 << m) + 1
    drop = scaled_drop(config)
    return odd * k_code(config) + (1 << drop) >> drop + 1


def scaled_drop(config: SymphonyConfig) -> int:
    """Return how many bits of the product of U's mantissa and 1/k's code are rounded away."""
    return config.random_mantissa_bits + 1 + EXACT_K_BITS - EXACT_RANDOM_BITS


def exact_shift(config: SymphonyConfig) -> int:
    """Return the binary places of U/k's mantissa, those of U's exponent apart; may be negative."""
    return config.random_mantissa_bits + 1 + k_exponent(config) - scaled_drop(config)


def mark(config: SymphonyConfig, gap: Any, uniform: Uniform) -> Any:
    """Return whether a random number is below a gap; also for arrays."""
    c = config
    if c.arithmetic == "exact":
        product, rec = _parts(c, gap)
        scaled = scaled_table(c)[uniform.mantissa] * rec
        shift = exact_shift(c)
        return scaled << max(0, -shift) >> uniform.exponent + max(0, shift) < product
    table = random_table(c.random_mantissa_bits, c.fraction_bits)
    code = np.array(table)[uniform.mantissa]
    code = code + (c.random_exponent_bits - 1 - uniform.exponent << c.fraction_bits)
    # The last exponent is open to 0: below every gap but 0 itself.
    return np.maximum(code, 0) < gap


def _parts(config: SymphonyConfig, gap: Any) -> tuple[Any, Any]:
    """Return α·psn and psn_rec of an exact gap."""
    width = config.alpha_bits + config.psn_bits
    product, rec = gap & (1 << width) - 1, gap >> width
    if isinstance(gap, np.ndarray):
        return product.astype(np.int64), rec.astype(np.int64)
    return product, rec


def gap_probability(config: SymphonyConfig, gap: Any) -> Any:
    """Return the share of all random numbers that mark at a gap, exactly; also for an array.

    It is the effective probability: the rounding of the random number is in it, too.
    """
    gaps = np.atleast_1d(np.asarray(gap, dtype=np.uint64))
    share = _exact_share(config, gaps) if config.arithmetic == "exact" else _log_share(config, gaps)
    return share if isinstance(gap, np.ndarray) else float(share[0])


def _log_share(config: SymphonyConfig, gaps: np.ndarray) -> np.ndarray:
    c = config
    f, m, most = c.fraction_bits, c.random_mantissa_bits, c.random_exponent_bits
    table = np.array(random_table(m, f))
    below = np.searchsorted(table, np.arange(1 << f))
    whole, part = (gaps >> f).astype(np.int64), (gaps & (1 << f) - 1).astype(np.int64)
    share = np.ldexp(1 + below[part] / (1 << m), np.minimum(whole, most) - most)
    return np.where(gaps == 0, 0.0, np.minimum(share, 1.0))


def _exact_share(config: SymphonyConfig, gaps: np.ndarray) -> np.ndarray:
    """Mantissas span less than a factor 2: from one exponent on all mark, with the one before it
    some, with others none. The last exponent there is always marks, if any does."""
    c = config
    product, rec = _parts(c, gaps)
    scaled = scaled_table(c)
    up, down = max(0, -exact_shift(c)), max(0, exact_shift(c))
    largest = scaled[-1] * rec << up
    # The smallest exponent with which the largest mantissa marks: this one, or the next.
    exponent = np.maximum(_bit_lengths(largest) - _bit_lengths(product) - down, 0)
    exponent += largest >> exponent + down >= product
    bound = -(-(product << np.maximum(exponent - 1, 0) + down) // np.maximum(rec << up, 1))
    part = np.searchsorted(scaled, bound) / len(scaled)
    share = np.where(exponent == 0, 1.0, np.ldexp(1 + part, -exponent))
    return np.where(product == 0, 0.0, share)


def _bit_lengths(values: np.ndarray) -> np.ndarray:
    """Return the position of each value's leading one, from 1 up; 0 for 0. Values to 2^53."""
    return np.frexp(values.astype(np.float64))[1].astype(np.int64)
