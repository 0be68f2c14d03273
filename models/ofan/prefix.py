"""Which packets of a batch their banks serve at once, in lane order (matched-banked)."""

from __future__ import annotations

from models.ofan.place import place


def prefix(packets: dict[int, int], banks: int) -> dict[int, int]:
    """Return the longest prefix of packets ({lane: key}, lanes rising) that asks no bank for two
    keys."""
    asked: dict[int, int] = {}
    served: dict[int, int] = {}
    for lane, key in packets.items():
        bank, row = place(key, banks)
        if asked.setdefault(bank, row) != row:
            break
        served[lane] = key
    return served
