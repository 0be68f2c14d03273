"""From a destination address to a pointer key's destination (seed sections 4.1 and 5.2).

An address is `prefix` above `host_bits` of host; a prefix stands for all hosts under one switch
(edge tables) or pod (aggregation tables). Two forms: a table that the switch's software fills, as
the paper's Tofino program has it, and the aligned form for an address space that follows the
topology, which needs no table.
"""

from __future__ import annotations

from models.ofan.config import OfanConfig


def aligned_destination(config: OfanConfig, own_prefix: int, address: int) -> int | None:
    """Return the destination number of `address`, or None if it is not northbound.

    The prefix is the number itself; where a switch has no number for its own prefix
    (`skip_own`), higher prefixes move down by one. The switch's own prefix, and prefixes that name
    nothing, are not northbound.
    """
    prefix = address >> config.host_bits & (1 << config.prefix_bits) - 1
    if prefix == own_prefix:
        return None
    number = prefix - (config.skip_own and prefix > own_prefix)
    return number if number < config.destinations else None


class LookupTable:
    """Table from prefix to destination; a prefix that was never written is not northbound."""

    def __init__(self, config: OfanConfig) -> None:
        self.config = config
        self._entries: dict[int, int] = {}

    def write(self, prefix: int, destination: int | None) -> None:
        """Send `prefix` to `destination`; None makes it not northbound (local or unknown)."""
        self._entries.pop(prefix, None)
        if destination is not None:
            self._entries[prefix] = destination

    def destination(self, address: int) -> int | None:
        """Return the destination number of `address`, or None if it is not northbound."""
        c = self.config
        return self._entries.get(address >> c.host_bits & (1 << c.prefix_bits) - 1)
