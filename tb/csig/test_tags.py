"""Tags of many packets against the codec of one."""

from __future__ import annotations

import numpy as np
import pytest

from models.csig.beat import tag_bits
from models.csig.config import CsigConfig
from models.csig.tag import FORMATS, Tag, width
from models.csig.trace import NO_TAG, Trace
from tb.csig.tags import UNTAGGED, changed, pack, unpack
from tb.csig.traffic import random_setup, random_trace

COUNT = 500
FIRST = 2**32 - 100

CONFIGS = {
    "draft": CsigConfig(),
    "uec": CsigConfig(layout="uec", tpid_wide=0x1234),
    "compact": CsigConfig(layout="uec", formats=("compact",)),
}


def packets(config: CsigConfig) -> Trace:
    rng = np.random.default_rng(3)
    return random_trace(config, random_setup(config, rng), COUNT, rng)


def whole(config: CsigConfig, trace: Trace, place: int) -> int:
    """A packet's tag in the upper bits of 64, by the codec."""
    if trace.value[place] == NO_TAG:
        return UNTAGGED
    format = FORMATS[trace.format[place]]
    bits = {name: width(format, config.layout, name) for name in ("t", "d", "r")}
    tag = Tag(
        format=format,
        layout=config.layout,
        tpid=config.tpid(format),
        t=int(trace.signal[place]) % 2 ** bits["t"],
        s=int(trace.value[place]),
        lm=int(trace.locator[place]),
        d=int(trace.discarded()[place]) * bits["d"],
        r=(FIRST + place) % 2 ** bits["r"],
    )
    return tag.number() << (64 - 8 * len(tag.encode()))


@pytest.mark.parametrize("name", CONFIGS)
def test_packed_as_the_codec_does(name: str) -> None:
    config = CONFIGS[name]
    trace = packets(config)
    down = 64 - tag_bits(config)
    tags = pack(config, trace, FIRST)
    assert tags.tolist() == [whole(config, trace, n) >> down for n in range(COUNT)]
    value, locator = unpack(config, trace, tags)
    there = trace.value != NO_TAG
    assert (value[there] == trace.value[there]).all()
    assert (locator[there] == trace.locator[there]).all()


@pytest.mark.parametrize("name", CONFIGS)
def test_bits_that_may_change(name: str) -> None:
    """Each bit turned over by itself: those of value and locator where the tag was replaced."""
    config = CONFIGS[name]
    trace = packets(config)
    sent = pack(config, trace)
    replaced = np.arange(COUNT) % 2 == 1
    turned = np.zeros(COUNT, int)
    for bit in range(tag_bits(config)):
        wrong = changed(config, trace, sent, sent ^ np.uint64(1 << bit), replaced)
        assert wrong[~replaced].all()
        turned += ~wrong
    own = np.array([sum(width(f, config.layout, n) for n in ("s", "lm")) for f in FORMATS])[
        trace.format
    ]
    known = np.array([f in config.formats for f in FORMATS])[trace.format]
    assert (turned == own * replaced)[known].all()
    assert not changed(config, trace, sent, sent, replaced).any()
