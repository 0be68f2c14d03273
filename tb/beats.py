"""Fields as the bits of a beat, and back."""

from __future__ import annotations

from collections.abc import Mapping


def packed(widths: Mapping[str, int], values: Mapping[str, int]) -> int:
    """Return fields as the bits of a beat, from bit 0 up."""
    bits = place = 0
    for name, width in widths.items():
        bits |= int(values[name]) << place
        place += width
    return bits


def unpacked(widths: Mapping[str, int], bits: int) -> dict[str, int]:
    """Return the fields of a beat."""
    values = {}
    for name, width in widths.items():
        values[name] = bits & (1 << width) - 1
        bits >>= width
    return values
