"""What the packets that a bank serves in one cycle get: uplinks at consecutive positions."""

from __future__ import annotations

from models.ofan.config import OfanConfig
from models.ofan.decombine import decombine
from models.ofan.order import valid_positions


def replies(config: OfanConfig, key: int, base: int, count: int, reached: int) -> list[int]:
    """Return the uplinks of `count` packets of `key` by rank, `UNROUTABLE` where none is reached.

    `base` is what their bank says (models/ofan/banks.py), and `reached` the set of uplinks that
    lead to their destination.
    """
    assert config.order is not None
    positions = valid_positions(config.order, config.uplinks, key, reached)
    return [decombine(config, key, rank, base, positions) for rank in range(count)]
