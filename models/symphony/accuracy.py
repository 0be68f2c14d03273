"""How far the probability that hardware marks with is from equation 4, over the whole input range.

Nothing is sampled. In `log` arithmetic, all that a packet's PSN and psn_rec do to the gap is the
difference of their codes, and all pairs of one difference are marked with the same probability. So
for every difference there is, the least and the largest psn/psn_rec of all pairs that have it are
found, and both are held against it with every α. That is every psn and psn_rec from 1 up.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from models.common.log2 import log2_code, log2_table
from models.symphony.coin import (
    alpha_code,
    gap_probability,
    random_table,
    scaled_drop,
    scaled_table,
)
from models.symphony.config import SymphonyConfig
from models.symphony.settings import k_code, k_exponent


@dataclass(frozen=True)
class Accuracy:
    """Relative errors of the effective probability against equation 4."""

    largest: float
    """The largest one of all psn, psn_rec from 1 to 2**psn_bits - 1 and α from 1 to its ceiling."""
    above: float
    """The largest one by which the hardware marks too often."""
    below: float
    """The largest one by which it marks too seldom."""
    mean: float
    """Mean of the magnitudes, for α uniform and psn, psn_rec uniform in their logarithms."""


def cells(config: SymphonyConfig) -> tuple[np.ndarray, np.ndarray]:
    """Return, by code, the least and the largest PSN above 0 that is stored as it; infinite and 0
    where there is none."""
    c = config
    codes = np.arange(c.psn_bits << c.fraction_bits)
    low, high = np.full(len(codes), np.inf), np.zeros(len(codes))
    for exponent in range(c.psn_bits):
        values = 1 << min(exponent, c.mantissa_bits)
        size = (1 << exponent) // values
        for first in range(1 << exponent, 2 << exponent, size):
            code = log2_code(first, c.mantissa_bits, c.fraction_bits, c.psn_bits)
            low[code] = min(low[code], first)
            high[code] = max(high[code], first + size - 1)
    return low, high


def ratios(config: SymphonyConfig) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return every difference of the codes of psn and psn_rec, and for each the least and the
    largest psn/psn_rec; infinite and 0 where no pair has it."""
    low, high = cells(config)
    count = len(low)
    differences = np.arange(1 - count, count)
    least, most = np.empty(len(differences)), np.empty(len(differences))
    with np.errstate(divide="ignore", invalid="ignore"):
        under = np.where(high > 0, 1 / high, np.inf)
        for n, difference in enumerate(differences):
            psn = slice(max(0, difference), count + min(0, difference))
            rec = slice(max(0, -difference), count + min(0, -difference))
            least[n] = (low[psn] * under[rec]).min()
            most[n] = (high[psn] / low[rec]).max()
    return differences, least, most


def errors(config: SymphonyConfig) -> tuple[float, float]:
    """Return the largest relative error above and below, both positive; see `Accuracy`."""
    c = config
    differences, least, most = ratios(c)
    there = most > 0
    differences, least, most = differences[there], least[there], most[there]
    above = below = 0.0
    for alpha in range(1, c.ceiling + 1):
        gaps = np.maximum(k_code(c) + alpha_code(c, alpha) + differences, 0)
        share = gap_probability(c, gaps)
        above = max(above, (share / np.minimum(1, c.k * alpha * least)).max() - 1)
        below = max(below, 1 - (share / np.minimum(1, c.k * alpha * most)).min())
    return float(above), float(below)


def mean_error(config: SymphonyConfig) -> float:
    """Return the mean magnitude of the relative error; see `Accuracy`.

    Over every pair of cells of psn's and psn_rec's table and every α. In a pair of cells the
    logarithm of the ratio is the sum of two uniform numbers, and the mean is taken over all of both
    as a closed form; probabilities that reach 1 are left out.
    """
    c = config
    f, m = 1 << c.fraction_bits, 1 << c.mantissa_bits
    table = np.array(log2_table(c.mantissa_bits, c.fraction_bits, c.psn_bits))
    edges = np.log2(1 + np.arange(m + 1) / m)
    width = np.diff(edges)
    off = table / f - (edges[:-1] + edges[1:]) / 2  # in the middle of each cell
    steps = np.array(random_table(c.random_mantissa_bits, c.fraction_bits))
    below = np.searchsorted(steps, np.arange(f)) / len(steps)
    turn = np.log2(1 + below) - np.arange(f) / f
    constant = k_code(c) / f - c.random_exponent_bits - np.log2(c.k)

    weight = width[:, None] * width[None, :]
    centre = off[:, None] - off[None, :]
    code = k_code(c) + table[:, None] - table[None, :]
    wide = np.maximum(width[:, None], width[None, :]) / 2
    narrow = np.minimum(width[:, None], width[None, :]) / 2
    total = 0.0
    for alpha in range(1, c.ceiling + 1):
        logarithm = alpha_code(c, alpha)
        error = centre + turn[(code + logarithm) % f] + constant + logarithm / f - np.log2(alpha)
        total += float((weight * _mean_magnitude(np.abs(error), wide, narrow)).sum())
    return float(np.log(2) * total / c.ceiling)


def _mean_magnitude(centre: np.ndarray, wide: np.ndarray, narrow: np.ndarray) -> np.ndarray:
    """Return the mean of |centre + x + y| for x, y uniform within ±wide and ±narrow."""

    def third(value: np.ndarray) -> np.ndarray:
        return np.abs(value) ** 3

    corners = (
        third(centre + wide + narrow)
        - third(centre + wide - narrow)
        - third(centre - wide + narrow)
        + third(centre - wide - narrow)
    )
    return corners / (24 * wide * narrow)


def accuracy(config: SymphonyConfig) -> Accuracy:
    """Return the errors of a configuration in `log` arithmetic."""
    above, below = errors(config)
    return Accuracy(max(above, below), above, below, mean_error(config))


def exact_errors(config: SymphonyConfig) -> tuple[float, float]:
    """Return the largest relative error above and below in `exact` arithmetic, where products have
    none: what is left is the rounding of 1/k and the grain of the random number.

    A gap is a real threshold x that mantissas of U/k are below or not, so the share stays the same
    from one mantissa to the next; each such interval is held against equation 4 at both ends, for
    any x there may be.
    """
    c = config
    scaled = scaled_table(c).astype(float)
    # The mantissa of U/k at which equation 4 has passed a whole power of two.
    one = 2.0**c.random_mantissa_bits / c.k * 2.0 ** (k_exponent(c) - scaled_drop(c))
    ends = np.concatenate([[one], scaled[scaled > one], [2 * one]])
    # Marked share of the random numbers with this exponent, and all those with a larger one.
    count = np.searchsorted(scaled, ends[:-1], side="right") / len(scaled)
    share = 1 + count
    above = (share / (ends[:-1] / one)).max() - 1
    below = 1 - (share / (ends[1:] / one)).min()
    return float(above), float(below)


def largest_error(config: SymphonyConfig) -> float:
    """Return the largest relative error of the effective probability, in either arithmetic."""
    return max(errors(config) if config.arithmetic == "log" else exact_errors(config))
