"""Tags of many packets as the hardware has them on its ports (`models.csig.beat.tag_bits`)."""

from __future__ import annotations

import numpy as np

from models.csig.beat import tag_bits
from models.csig.config import CsigConfig
from models.csig.tag import FIELDS, FORMATS, size
from models.csig.trace import NO_TAG, Trace

UNTAGGED = 0x0800_45 << 40
"""What stands in place of a tag where there is none: the beginning of an IPv4 packet."""


def places(config: CsigConfig, format: str) -> dict[str, tuple[int, int]]:
    """Return the lowest bit and the width of each field of a tag in the upper bits of 64."""
    at, found = 64, {}
    for name, bits in FIELDS[format, config.layout]:
        at -= bits
        found[name] = at, bits
    return found


def _down(config: CsigConfig, tags: np.ndarray) -> np.ndarray:
    return tags >> np.uint64(64 - tag_bits(config))


def pack(config: CsigConfig, trace: Trace, number: int = 0) -> np.ndarray:
    """Return the tags of a trace (uint64). R counts, as if by chance: packet `number` is first."""
    count = len(trace)
    tags = np.full(count, UNTAGGED, np.uint64)
    columns = {"t": trace.signal, "s": trace.value, "lm": trace.locator, "d": trace.discarded()}
    columns["r"] = np.arange(number, number + count)
    for code, format in enumerate(FORMATS):
        here = (trace.format == code) & (trace.value != NO_TAG)
        made = np.zeros(count, np.uint64)
        for name, (at, bits) in places(config, format).items():
            values = np.full(count, config.tpid(format)) if name == "tpid" else columns[name]
            field = values.astype(np.int64).astype(np.uint64) & np.uint64(2**bits - 1)
            made |= field << np.uint64(at)
        tags = np.where(here, made, tags)
    return _down(config, tags)


def unpack(config: CsigConfig, trace: Trace, tags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and locators (int32) of tags; the trace says of which format each is.

    Of a format that the hardware does not know they are those of the trace.
    """
    up = tags << np.uint64(64 - tag_bits(config))
    found = {"s": trace.value, "lm": trace.locator}
    for code, format in enumerate(FORMATS):
        if format not in config.formats:
            continue
        for name in found:
            at, bits = places(config, format)[name]
            field = (up >> np.uint64(at) & np.uint64(2**bits - 1)).astype(np.int32)
            found[name] = np.where(trace.format == code, field, found[name])
    return found["s"], found["lm"]


def changed(
    config: CsigConfig, trace: Trace, sent: np.ndarray, got: np.ndarray, replaced: np.ndarray
) -> np.ndarray:
    """Return which tags differ in a bit that is not of a value or locator that was replaced."""
    own = np.zeros(len(trace), np.uint64)
    for code, format in enumerate(FORMATS):
        mask = 0
        for name in ("s", "lm"):
            at, bits = places(config, format)[name]
            mask |= (1 << bits) - 1 << at
        own[(trace.format == code) & replaced] = mask
    return (sent ^ got) & ~_down(config, own) != 0


assert all(8 * size(format) <= 64 for format in FORMATS)
