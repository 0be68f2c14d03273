"""The host side: tags in frames, what they say, and the way back."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.csig.config import CsigConfig
from models.csig.hop import Hop, Packet
from models.csig.host import Reading, Sender, ask, extract, insert, read, reflect, reflected
from models.csig.port import Port
from models.csig.quantize import Compact, Wide, even
from models.csig.signals import BY_NAME, SIGNALS
from models.csig.tag import FORMATS, LAYOUTS, Tag, size
from tb.csig.golden import PERCENT

ADDRESSES = bytes(range(12))
IPV4 = bytes.fromhex("0800") + b"payload"
VLANS = bytes.fromhex("88a8000181000002")


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("vlans", [b"", VLANS[:4], VLANS])
def test_a_tag_stands_behind_vlan_tags_and_before_the_ethertype(
    format: str, layout: str, vlans: bytes
) -> None:
    frame = ADDRESSES + vlans + IPV4
    tag = ask(BY_NAME["abw_c"], format, layout)
    sent = insert(frame, tag)
    assert sent == ADDRESSES + vlans + tag.encode() + IPV4
    assert len(sent) == len(frame) + size(format)
    assert extract(sent, layout) == (tag, frame)
    assert extract(frame, layout) == (None, frame)


def test_frames_without_an_ethertype() -> None:
    for frame in (ADDRESSES, ADDRESSES + b"\x08", ADDRESSES + VLANS):
        with pytest.raises(ValueError, match=f"frame must have an EtherType, .* {len(frame)} byt"):
            insert(frame, ask(SIGNALS[0]))


def test_other_tpids() -> None:
    tpid = {"compact": 0x8899, "wide": 0x88AA}
    tag = ask(BY_NAME["delay"], tpid=0x8899)
    assert extract(insert(ADDRESSES + IPV4, tag), tpid=tpid)[0] == tag
    assert extract(insert(ADDRESSES + IPV4, tag))[0] is None


@pytest.mark.parametrize("format", FORMATS)
def test_a_sender_starts_with_the_least_severe_value(format: str) -> None:
    """Any hop that measures anything else replaces it."""
    top = {"compact": 31, "wide": 2**20 - 1}[format]
    starts = {signal.name: ask(signal, format).s for signal in SIGNALS}
    assert starts == {"abw": top, "abw_c": top, "delay": 0, "queue": 0}


def test_what_a_tag_says() -> None:
    tag = Tag(format="compact", t=1, s=3, lm=9)
    reading = said(tag, PERCENT)
    assert reading == Reading(BY_NAME["abw_c"], Fraction(25), Fraction(40), 9)
    assert (reading.value, reading.error, reading.worst) == (Fraction(65, 2), Fraction(15, 2), 25)
    assert read(ask(BY_NAME["abw_c"]), PERCENT) is None
    assert read(tag.replaced(20, 9), PERCENT) is None  # a code that no hop has
    lowest = said(tag.replaced(0, 9), PERCENT)
    assert lowest == Reading(BY_NAME["abw_c"], None, Fraction(5), 9)
    assert (lowest.error, lowest.value, lowest.worst) == (None, 5, None)
    late = said(Tag(format="wide", t=2, s=5, lm=300), Wide(Fraction(100), 3))
    assert late == Reading(BY_NAME["delay"], Fraction(140), Fraction(148), 300)
    assert (late.value, late.error, late.worst) == (144, 4, 148)


def said(tag: Tag, quantizer: Compact | Wide) -> Reading:
    reading = read(tag, quantizer)
    assert reading is not None
    return reading


def test_unknown_types_cannot_be_read() -> None:
    with pytest.raises(ValueError, match="^t must be one of 0, 1, 2, 3, not 6$"):
        read(Tag(format="compact", t=6, s=1, lm=1), PERCENT)


tags = st.builds(
    lambda format, layout, t, s, lm: Tag(format=format, layout=layout, t=t, s=s, lm=lm),
    st.sampled_from(FORMATS),
    st.sampled_from(LAYOUTS),
    st.integers(0, 7),
    st.integers(0, 31),
    st.integers(0, 63),
)


@given(tags)
def test_what_is_reflected_comes_back(tag: Tag) -> None:
    data = reflect(tag)
    assert len(data) == size(tag.format) - 2
    assert reflected(data, tag.layout) == tag


@pytest.mark.parametrize("length", [0, 1, 3, 4, 8])
def test_reflections_of_another_length(length: int) -> None:
    with pytest.raises(ValueError, match=f"^data must be 2 or 6 bytes, not {length}$"):
        reflected(bytes(length))


@given(st.integers(0, 40_000), st.integers(0, 25_000), st.sampled_from(FORMATS))
def test_a_sender_learns_the_range_that_the_value_is_in(delay: int, sent: int, format: str) -> None:
    """Through a hop and back, for two signals in turn: the range has the exact value in it, and the
    error is no larger than the bound."""
    quantizers: dict[str, Any] = {
        "compact": {"delay": even(0, 20_000), "abw_c": even(0, 100)},
        "wide": {"delay": Wide(Fraction(0), 2), "abw_c": Wide(Fraction(0), 1)},
    }[format]
    tables: dict[str, Any] = {format: quantizers}
    port = Port(id=0, speed_gbps=100, locator=7, **tables)
    hop = Hop(CsigConfig(), [port])
    hop.serve(Packet(0, 0, sent))
    sender = Sender([BY_NAME["delay"], BY_NAME["abw_c"]], quantizers, format)
    for _ in range(4):
        frame = insert(ADDRESSES + IPV4, sender.tag())
        tag, rest = extract(frame)
        answer = hop.serve(Packet(1000, 0, 0, delay_ns=delay, tag=tag))
        assert rest == ADDRESSES + IPV4
        assert answer.tag is not None
        sender.receive(reflect(answer.tag))
    assert set(sender.readings) == {"delay", "abw_c"}
    exact = {"delay": Fraction(delay), "abw_c": max(Fraction(0), 100 - Fraction(sent * 8, 1000))}
    for name, reading in sender.readings.items():
        code = quantizers[name].code(exact[name])
        if reading is None:
            assert code == ask(BY_NAME[name], format).s
            continue
        assert reading.locator == 7
        assert reading.low is None or reading.low <= exact[name]
        assert reading.high is None or exact[name] < reading.high
        assert reading.error is None or abs(reading.value - exact[name]) <= reading.error


def test_a_compact_quantizer_may_use_one_code_for_several_ranges() -> None:
    quantizer = Compact(tuple(map(Fraction, (1, 2, 3))), (0, 4, 4, 9))
    assert said(Tag(format="compact", t=2, s=4, lm=1), quantizer).interval == (1, 3)
