"""What a hop counts at each port."""

from __future__ import annotations

from models.common.counters import Counters
from models.csig.beat import COUNTER_BITS, COUNTERS
from models.csig.config import CsigConfig


def tally(config: CsigConfig) -> Counters:
    """Return the counters of all ports: packets, and tags that were replaced, that are stripped,
    that ask for an unknown type, and that found no value of software's that still holds."""
    return Counters(COUNTERS, COUNTER_BITS, config.ports)
