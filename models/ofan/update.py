"""Step (3) of Ofan's pipeline: the pointer file (seed appendix I; section 4.1, Failures)."""

from __future__ import annotations

from collections.abc import Sequence

from models.ofan.config import OfanConfig
from models.ofan.switch import initial_pointer


def fetch_and_advance(
    pointer: int, count: int, valid: Sequence[int], uplinks: int
) -> tuple[int, int]:
    """Return (base, next) of a group of `count` packets whose pointer stands at `pointer`.

    `valid` are the positions, in rising order, whose uplink reaches the destination. `base` is the
    fetched pointer as a place among them: how many lie below it. `next` is where `count` packets
    leave the pointer: each one passes positions that are not valid by further increments modulo w,
    takes the next valid one and stands behind it. If none is valid the pointer stays.
    """
    base = sum(position < pointer for position in valid)
    if valid:
        for _ in range(count):
            while pointer not in valid:
                pointer = (pointer + 1) % uplinks
            pointer = (pointer + 1) % uplinks
    return base, pointer


class PointerFile:
    """The pointers of one pipe, by key."""

    def __init__(self, config: OfanConfig, pipe: int = 0) -> None:
        self.config = config
        self.pointers = [
            initial_pointer(config, pipe, d, t)
            for t in range(config.size_classes)
            for d in range(config.destinations)
        ]

    def update(self, key: int, count: int, valid: Sequence[int]) -> int:
        """Serve one master: advance the pointer of `key` by `count` packets, return its base."""
        base, self.pointers[key] = fetch_and_advance(
            self.pointers[key], count, valid, self.config.uplinks
        )
        return base
