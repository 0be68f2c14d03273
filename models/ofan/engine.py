"""Which pointer engine a switch has: how a batch meets its pointers (docs/ofan/engine.md).

All engines give every packet the same uplink. They differ in what they cost and in when a packet
leaves: `sorted` is the paper's pipeline with a file that every lane reaches at once; the others
keep the pointers in banks that serve one key a cycle each, so a packet may wait.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.common.check import choice, integer

KINDS = ("sorted", "sorted-banked", "matched-banked", "queued-banked")
STORAGES = ("flops", "latches", "sram")


@dataclass(frozen=True, kw_only=True)
class Engine:
    """A point of the trade-off between area and waiting; a field of `OfanConfig`.

    Raises `TypeError` and `ValueError` as `OfanConfig` does; what depends on the lanes is checked
    there.
    """

    kind: str = "sorted"
    """One of `KINDS`."""
    banks: int = 16
    """Banks of pointers, a power of two from 1 to 64; not used by `sorted`."""
    queues: int | None = None
    """`queued-banked`: short queues that the lanes of a pipe share, a divisor of their number; None
    is one for two lanes, or one a lane where the lanes are odd."""
    depth: int = 2
    """Batches that may wait in the engine, 1 to 8."""
    group: int = 8
    """`matched-banked`: lanes that are compared with each other, a divisor of the lanes."""
    storage: str = "flops"
    """What holds the pointers, one of `STORAGES`; `sorted` has flip-flops only."""

    def __post_init__(self) -> None:
        choice("engine", self.kind, KINDS)
        integer("banks", self.banks, 1, 64)
        if self.banks & (self.banks - 1):
            raise ValueError(f"banks must be a power of two, not {self.banks!r}")
        if self.queues is not None:
            integer("queues", self.queues, 1, 64)
        integer("depth", self.depth, 1, 8)
        integer("group", self.group, 1, 64)
        choice("storage", self.storage, STORAGES)
        if self.kind == "sorted" and self.storage != "flops":
            raise ValueError(f"storage must be flops with engine sorted, not {self.storage!r}")

    @property
    def banked(self) -> bool:
        """Whether pointers live in banks, so that a packet may have to wait for its bank."""
        return self.kind != "sorted"

    @property
    def bank_bits(self) -> int:
        """log2 of the number of banks."""
        return self.banks.bit_length() - 1

    def check_lanes(self, lanes: int) -> None:
        """Raise `ValueError` if queues, depth or group do not fit a pipe of so many lanes."""
        if self.kind == "queued-banked":
            if lanes % self.queues_of(lanes):
                raise ValueError(
                    f"queues must divide the lanes of a pipe ({lanes}), not {self.queues!r}"
                )
            if lanes // self.queues_of(lanes) > 8:
                raise ValueError(
                    f"queues must be at least an eighth of the lanes ({lanes}), not {self.queues!r}"
                )
        if self.kind == "matched-banked" and lanes % min(self.group, lanes):
            raise ValueError(f"group must divide the lanes of a pipe ({lanes}), not {self.group!r}")

    def queues_of(self, lanes: int) -> int:
        """Number of queues of a pipe of so many lanes."""
        if self.queues is not None:
            return self.queues
        return lanes if lanes % 2 else lanes // 2


SORTED = Engine()
"""The paper's pipeline."""
