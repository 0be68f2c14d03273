"""The tag: the two known ones, the codec, and the hardware that takes tags apart and fills them."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from models.csig.beat import tag_bits
from models.csig.config import CsigConfig
from models.csig.signals import BY_NUMBER
from models.csig.tag import FIELDS, FORMATS, LAYOUTS, TPID, Tag, decode, from_number, size, width
from rtl.csig.tag import ReadTag, WriteTag

KINDS = sorted(FIELDS)


def fields(format: str, layout: str) -> st.SearchStrategy[dict[str, int]]:
    return st.fixed_dictionaries(
        {name: st.integers(0, 2**bits - 1) for name, bits in FIELDS[format, layout]}
    )


@pytest.mark.parametrize(("text", "s", "lm"), [("99002b85", 0x17, 0x05), ("99002842", 0x10, 0x42)])
def test_the_two_known_tags(text: str, s: int, lm: int) -> None:
    tag = Tag(format="compact", t=1, r=0, s=s, lm=lm)
    assert tag.encode().hex() == text
    assert decode(bytes.fromhex(text + "0800")) == tag


def test_layouts_differ_by_one_bit_of_the_locator() -> None:
    assert Tag(format="compact", layout="uec", t=1, s=0x17, lm=2, d=1).encode().hex() == "99002b85"
    assert Tag(format="wide", t=15, s=1, lm=0xABCD).encode().hex() == "9901abcdf0000100"
    assert Tag(format="wide", layout="uec", t=0, s=2**20 - 1, lm=1, d=1).encode().hex() == (
        "990100030fffff00"
    )
    for format in FORMATS:
        assert size(format) == {"compact": 4, "wide": 8}[format]
        for layout in LAYOUTS:
            assert sum(bits for _, bits in FIELDS[format, layout]) == 8 * size(format)
        assert width(format, "uec", "lm") + 1 == width(format, "draft", "lm")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("bytes_", [4096, 9216])
def test_overhead(format: str, bytes_: int) -> None:
    """Less than 0.2 % at 4 KB and 9 KB (seed): 0.1 % compact, 0.2 % wide at most."""
    assert size(format) / bytes_ < {"compact": 0.001, "wide": 0.002}[format]


@pytest.mark.parametrize("kind", KINDS)
@given(st.data())
def test_codec(kind: tuple[str, str], data: Any) -> None:
    format, layout = kind
    given_fields = data.draw(fields(format, layout))
    tag = Tag(format=format, layout=layout, **given_fields)
    assert from_number(tag.number(), format, layout) == tag
    tpid = {**dict.fromkeys(FORMATS, -1), format: given_fields["tpid"]}
    assert decode(tag.encode() + b"rest", layout, tpid) == tag
    assert decode(tag.encode()[:-1], layout, tpid) is None
    assert decode(tag.encode(), layout, dict.fromkeys(FORMATS, -1)) is None
    other = data.draw(fields(format, layout))
    replaced = tag.replaced(other["s"], other["lm"])
    mine = sum(
        (1 << bits) - 1 << at
        for name, (at, bits) in positions(format, layout).items()
        if name in ("s", "lm")
    )
    assert (replaced.number() ^ tag.number()) & ~mine == 0
    assert (replaced.s, replaced.lm) == (other["s"], other["lm"])


def positions(format: str, layout: str) -> dict[str, tuple[int, int]]:
    at, found = 8 * size(format), {}
    for name, bits in FIELDS[format, layout]:
        at -= bits
        found[name] = at, bits
    return found


GOOD: dict[str, Any] = {"format": "compact", "t": 1, "s": 2, "lm": 3}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format": "long"}, "format must be one of compact, wide, not 'long'"),
        ({"layout": "old"}, "layout must be one of draft, uec, not 'old'"),
        ({"s": 32}, "s must be an integer from 0 to 31, not 32"),
        ({"t": 8}, "t must be an integer from 0 to 7, not 8"),
        ({"lm": 128}, "lm must be an integer from 0 to 127, not 128"),
        ({"lm": 64, "layout": "uec"}, "lm must be an integer from 0 to 63, not 64"),
        ({"tpid": 2**16}, "tpid must be an integer from 0 to 65535, not 65536"),
        ({"d": 1}, "d must be 0 in layout draft, not 1"),
        ({"d": 2, "layout": "uec"}, "d must be an integer from 0 to 1, not 2"),
    ],
)
def test_bad_fields(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        Tag(**(GOOD | change))


@st.composite
def configs(draw: Any) -> CsigConfig:
    tpids = draw(st.lists(st.integers(0x600, 0xFFFF), min_size=2, max_size=2, unique=True))
    return CsigConfig(
        formats=draw(st.sampled_from([("compact",), ("wide",), FORMATS])),
        layout=draw(st.sampled_from(LAYOUTS)),
        tpid_compact=tpids[0],
        tpid_wide=tpids[1],
    )


def tags_of(c: CsigConfig, rng: random.Random) -> list[tuple[int, Tag | None]]:
    """Return tags as they stand on a port, and what they are; among them strange ones."""
    found: list[tuple[int, Tag | None]] = []
    for _ in range(40):
        format = rng.choice(c.formats)
        values = {n: rng.getrandbits(bits) for n, bits in FIELDS[format, c.layout]}
        values["tpid"] = rng.choice([c.tpid(format)] * 4 + [TPID["compact"], 0x0800])
        tag = Tag(format=format, layout=c.layout, **values)
        below = tag_bits(c) - 8 * size(format)
        number = tag.number() << below | rng.getrandbits(below or 1) * (below > 0)
        data = number.to_bytes(tag_bits(c) // 8, "big")
        tpids = {f: c.tpid(f) for f in c.formats}
        found.append((number, decode(data, c.layout, tpids)))
    return found


@settings(max_examples=25)
@given(configs(), st.integers(0, 2**32))
def test_hardware_reads_tags(c: CsigConfig, seed: int) -> None:
    rng = random.Random(seed)
    dut = ReadTag(c)

    async def bench(ctx: Any) -> None:
        for number, tag in tags_of(c, rng):
            ctx.set(dut.tag, number)
            assert ctx.get(dut.tagged) == (tag is not None)
            if tag is None:
                continue
            assert ctx.get(dut.known) == (tag.t in BY_NUMBER)
            if tag.t in BY_NUMBER:
                assert ctx.get(dut.signal) == tag.t
            assert ctx.get(dut.value) == tag.s
            assert ctx.get(dut.discarded) == tag.d
            assert ctx.get(dut.wide) == (tag.format == "wide")

    run(dut, bench)


@settings(max_examples=25)
@given(configs(), st.integers(0, 2**32))
def test_hardware_changes_value_and_locator_and_no_other_bit(c: CsigConfig, seed: int) -> None:
    rng = random.Random(seed)
    dut = WriteTag(c)

    async def bench(ctx: Any) -> None:
        for number, tag in tags_of(c, rng):
            if tag is None:
                continue
            value, locator = rng.getrandbits(c.value_bits), rng.getrandbits(c.locator_bits)
            ctx.set(dut.tag, number)
            ctx.set(dut.wide, tag.format == "wide")
            ctx.set(dut.value, value)
            ctx.set(dut.locator, locator)
            ctx.set(dut.replace, 0)
            assert ctx.get(dut.out) == number
            ctx.set(dut.replace, 1)
            s, lm = (width(tag.format, c.layout, name) for name in ("s", "lm"))
            new = tag.replaced(value % 2**s, locator % 2**lm)
            below = tag_bits(c) - 8 * size(tag.format)
            assert ctx.get(dut.out) == new.number() << below | number % 2**below

    run(dut, bench)


def run(dut: Any, bench: Any) -> None:
    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()
