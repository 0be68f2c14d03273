"""Where banks keep which set of valid uplinks their pointers go by.

Beside each pointer a bank has the number of the shared mask of the pointer's destination
(`models.ofan.masks.SharedMasks`). So a bank reads its own table, and a destination that changes its
mask is written once for each of its size classes.
"""

from __future__ import annotations

from models.ofan.config import OfanConfig
from models.ofan.place import place


def places_of(config: OfanConfig, destination: int) -> list[tuple[int, int]]:
    """Return (bank, row) of each entry that has the mask number of `destination`, in the order in
    which they are written."""
    banks = config.engine.banks
    return [place(config.key(destination, t), banks) for t in range(config.size_classes)]
