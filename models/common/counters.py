"""Rows of counters that wrap around, one row a job or a port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from models.common.rewrite import Rewrite


class Counters:
    """`depth` rows of the counters in `names`, each of `bits` bits; they start at 0."""

    def __init__(self, names: Sequence[str], bits: int, depth: int) -> None:
        self.names = tuple(names)
        self.bits = bits
        self.rows: Rewrite[tuple[int, ...]] = Rewrite(depth, (0,) * len(self.names))

    def count(self, row: int, steps: Mapping[str, bool]) -> None:
        """Add 1 to those counters of a row whose step is true."""
        by = [steps[name] for name in self.names]
        limit = 1 << self.bits
        self.rows.change(
            row, lambda old: tuple((n + s) % limit for n, s in zip(old, by, strict=True))
        )

    def read(self, row: int, *, clear: bool = False) -> dict[str, int]:
        """Return the counters of a row; set them to 0 behind if `clear`."""
        nothing = (0,) * len(self.names)
        found = self.rows.change(row, lambda old: nothing if clear else old)
        return dict(zip(self.names, found, strict=True))
