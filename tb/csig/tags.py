"""Tags of many packets as the hardware has them on its ports (`models.csig.beat.tag_bits`)."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from models.common.jit import compiled
from models.csig.beat import tag_bits
from models.csig.config import CsigConfig
from models.csig.tag import FIELDS, FORMATS, size
from models.csig.trace import Trace

UNTAGGED = 0x0800_45 << 40
"""What stands in place of a tag where there is none: the beginning of an IPv4 packet."""

_FIELDS = ("tpid", "t", "s", "lm", "d", "r")
_TPID, _T, _S, _LM, _D, _R = range(len(_FIELDS))


def places(config: CsigConfig, format: str) -> dict[str, tuple[int, int]]:
    """Return the lowest bit and the width of each field of a tag in the upper bits of 64."""
    at, found = 64, {}
    for name, bits in FIELDS[format, config.layout]:
        at -= bits
        found[name] = at, bits
    return found


class _Layouts(NamedTuple):
    """Arrays [formats], and [formats, _FIELDS], for the functions below."""

    tpid: np.ndarray
    """uint64."""
    lowest: np.ndarray
    """uint64: lowest bit in the upper bits of 64."""
    mask: np.ndarray
    """uint64, from bit 0 up: 0 where a format has no such field."""
    known: np.ndarray
    """bool: by the hardware."""
    down: np.uint64
    """From the upper bits of 64 to a port's, bits."""


@cache
def _layouts(config: CsigConfig) -> _Layouts:
    found = [[places(config, f).get(name, (0, 0)) for name in _FIELDS] for f in FORMATS]
    return _Layouts(
        tpid=np.array([config.tpid(format) for format in FORMATS], np.uint64),
        lowest=np.array([[at for at, _ in of] for of in found], np.uint64),
        mask=np.array([[2**bits - 1 for _, bits in of] for of in found], np.uint64),
        known=np.array([format in config.formats for format in FORMATS]),
        down=np.uint64(64 - tag_bits(config)),
    )


def pack(config: CsigConfig, trace: Trace, number: int = 0) -> np.ndarray:
    """Return the tags of a trace (uint64). R counts, as if by chance: packet `number` is first."""
    tags = np.empty(len(trace), np.uint64)
    columns = trace.format, trace.signal, trace.value, trace.locator, trace.discarded()
    _pack(_layouts(config), np.uint64(UNTAGGED), number, *columns, tags)
    return tags


def unpack(config: CsigConfig, trace: Trace, tags: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return values and locators (int32) of tags; the trace says of which format each is.

    Of a format that the hardware does not know they are those of the trace.
    """
    value, locator = trace.value.copy(), trace.locator.copy()
    _unpack(_layouts(config), trace.format, tags, value, locator)
    return value, locator


def changed(
    config: CsigConfig, trace: Trace, sent: np.ndarray, got: np.ndarray, replaced: np.ndarray
) -> np.ndarray:
    """Return which tags differ in a bit that is not of a value or locator that was replaced."""
    wrong = np.empty(len(trace), bool)
    _changed(_layouts(config), trace.format, sent, got, replaced, wrong)
    return wrong


@compiled
def _pack(
    layouts: _Layouts,
    untagged: np.uint64,
    number: int,
    format: np.ndarray,
    t: np.ndarray,
    s: np.ndarray,
    lm: np.ndarray,
    d: np.ndarray,
    tags: np.ndarray,
) -> None:
    for i in range(len(tags)):
        tag = untagged
        if s[i] >= 0:
            tag = np.uint64(0)
            lowest, mask = layouts.lowest[format[i]], layouts.mask[format[i]]
            tag |= layouts.tpid[format[i]] << lowest[_TPID]
            tag |= (np.uint64(t[i]) & mask[_T]) << lowest[_T]
            tag |= (np.uint64(s[i]) & mask[_S]) << lowest[_S]
            tag |= (np.uint64(lm[i]) & mask[_LM]) << lowest[_LM]
            tag |= (np.uint64(d[i]) & mask[_D]) << lowest[_D]
            tag |= (np.uint64(number + i) & mask[_R]) << lowest[_R]
        tags[i] = tag >> layouts.down


@compiled
def _unpack(
    layouts: _Layouts, format: np.ndarray, tags: np.ndarray, value: np.ndarray, locator: np.ndarray
) -> None:
    for i in range(len(tags)):
        if layouts.known[format[i]]:
            lowest, mask = layouts.lowest[format[i]], layouts.mask[format[i]]
            tag = tags[i] << layouts.down
            value[i] = tag >> lowest[_S] & mask[_S]
            locator[i] = tag >> lowest[_LM] & mask[_LM]


@compiled
def _changed(
    layouts: _Layouts,
    format: np.ndarray,
    sent: np.ndarray,
    got: np.ndarray,
    replaced: np.ndarray,
    wrong: np.ndarray,
) -> None:
    for i in range(len(wrong)):
        bits = (sent[i] ^ got[i]) << layouts.down
        if replaced[i]:
            lowest, mask = layouts.lowest[format[i]], layouts.mask[format[i]]
            bits &= ~(mask[_S] << lowest[_S] | mask[_LM] << lowest[_LM])
        wrong[i] = bits != 0


assert all(8 * size(format) <= 64 for format in FORMATS)
