"""How far a packet is in its step, and that number as psn_rec is stored (section 3.2.1)."""

from __future__ import annotations

from models.common.log2 import log2_code
from models.symphony.config import SymphonyConfig


def position(config: SymphonyConfig, step: int, psn: int) -> int:
    """Return a packet's position in its step: its PSN, or that less the packets of the steps before
    it, modulo the range of PSNs."""
    return (psn - step * config.step_packets) % (1 << config.psn_bits)


def stored(config: SymphonyConfig, psn: int) -> int:
    """Return a position as psn_rec is stored: itself, or its logarithm."""
    if config.arithmetic == "exact":
        return psn
    return log2_code(psn, config.mantissa_bits, config.fraction_bits, config.psn_bits)
