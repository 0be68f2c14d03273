"""Memory that Ofan and pOfan add to a switch (seed sections 4.1 and 5.1, appendix F.2)."""

from __future__ import annotations

from dataclasses import dataclass

from models.ofan.config import OfanConfig


@dataclass(frozen=True, kw_only=True)
class OfanMemory:
    """State of one switch as the paper counts it: its pointers, and one permutation P."""

    pointers: int
    """Pointers of the whole switch: 4,096 for `edge-k64`, 126 for `agg-k64`, 32,768 for
    `pofan4-k64`."""
    pointer_bits: int
    """Bits of all pointers, b = ⌈log2 w⌉ each: 20,480, 630 and 163,840."""
    order_bits: int
    """Bits of P, w·⌈log2 w⌉ (160 for w = 32), once a switch; 0 for the plain order."""

    @property
    def pointer_bytes(self) -> int:
        """Bytes of all pointers, rounded up: 2,560 (2.5 KB), 79 and 20,480."""
        return -(-self.pointer_bits // 8)

    @property
    def order_bytes(self) -> int:
        """Bytes of P, rounded up (20 for w = 32)."""
        return -(-self.order_bits // 8)


def memory(config: OfanConfig) -> OfanMemory:
    """Return the memory of the switch `config` describes.

    pOfan has one pointer a key in each of its pipes; P is shared by all of them.
    """
    return OfanMemory(
        pointers=config.pipes * config.keys,
        pointer_bits=config.pointer_bits,
        order_bits=0 if config.order == "plain" else config.uplinks * config.uplink_bits,
    )
