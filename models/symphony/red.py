"""RED: the mark that any switch makes by its queue's depth, beside Symphony's (section 3.3).

A packet is marked by chance between K_min and K_max, the more the deeper the queue, and always
above K_max. Hardware draws the depth from which this packet is marked instead: K_min, plus a random
part of the width (K_max - K_min)/P_max over which the probability would rise from 0 to 1.
"""

from __future__ import annotations

from models.symphony.config import RED_BITS, SymphonyConfig

RED_SCALE_BITS = 8
"""Bits of the width's mantissa: the width is at most 1/256 of itself off."""


def red_probability(config: SymphonyConfig, queue_bytes: int) -> float:
    """Return the probability of RED's mark at a queue depth."""
    c = config
    if queue_bytes <= c.kmin:
        return 0.0
    if queue_bytes > c.kmax:
        return 1.0
    return c.pmax * (queue_bytes - c.kmin) / (c.kmax - c.kmin)


def red_scale(config: SymphonyConfig) -> tuple[int, int]:
    """Return (K_max - K_min)/P_max, bytes, as a mantissa of 8 bits and a power of two: the least
    power that leaves the mantissa no more bits."""
    width = (config.kmax - config.kmin) / config.pmax
    shift = 0
    while round(width / (1 << shift)) >= 1 << RED_SCALE_BITS:
        shift += 1
    return round(width / (1 << shift)), shift


def red_mark(config: SymphonyConfig, queue_bytes: int, random: int) -> bool:
    """Return RED's mark as hardware decides it, by `RED_BITS` random bits."""
    scale, shift = red_scale(config)
    above = (queue_bytes - config.kmin) << RED_BITS
    return queue_bytes > config.kmax or above > random * scale << shift
