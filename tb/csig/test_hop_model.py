"""The golden hop: the cases that the protocol turns on, and what holds over any path."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from models.csig.agent import Entry
from models.csig.config import CsigConfig, preset
from models.csig.hop import Hop, Packet
from models.csig.port import Port, check_ports
from models.csig.quantize import Compact, Wide
from models.csig.signals import BY_NUMBER, SIGNALS, least_severe, more_severe
from models.csig.tag import FORMATS, Tag, width
from tb.csig.golden import SCALES, compacts, wides

DELAY = Compact(tuple(map(Fraction, range(10, 310, 10))), tuple(range(31)))
"""A code for each 10 ns, up to 300 ns."""


def hop_of(locator: int = 5, layout: str = "draft", **fields: Any) -> Hop:
    given_fields: dict[str, Any] = {"compact": {"delay": DELAY, "abw_c": DELAY}, **fields}
    config = CsigConfig(layout=layout, update_discarded=given_fields.pop("discarded", False))
    return Hop(config, [Port(id=0, speed_gbps=100, locator=locator, **given_fields)])


def tag_of(t: int = 2, s: int = 3, lm: int = 60, **fields: Any) -> Tag:
    return Tag(**({"format": "compact", "t": t, "s": s, "lm": lm} | fields))


def packet(tag: Tag | None, delay: int = 0, time: int = 0, **fields: Any) -> Packet:
    return Packet(time_ns=time, port=0, bytes=64, delay_ns=delay, tag=tag, **fields)


def test_value_and_locator_are_replaced_together_when_more_severe() -> None:
    answer = hop_of().serve(packet(tag_of(r=1), delay=45))
    assert answer.replaced
    assert answer.tag == tag_of(s=4, lm=5, r=1)


def test_a_tie_keeps_the_earlier_hop() -> None:
    for delay in (30, 39):
        answer = hop_of().serve(packet(tag_of(), delay=delay))
        assert answer.tag == tag_of()
        assert not answer.replaced


def test_a_milder_value_does_not_replace() -> None:
    assert hop_of().serve(packet(tag_of(), delay=29)).tag == tag_of()


@pytest.mark.parametrize(("format", "types"), [("compact", range(4, 8)), ("wide", range(4, 16))])
def test_unknown_types_pass_and_are_counted(format: str, types: range) -> None:
    for t in types:
        tag = tag_of(format=format, t=t)
        answer = hop_of().serve(packet(tag, delay=300))
        assert (answer.tag, answer.replaced, answer.unknown) == (tag, False, True)


def test_a_discarded_packet_is_not_updated_unless_the_policy_says_so() -> None:
    tag = tag_of(layout="uec", d=1)
    kept = hop_of(layout="uec").serve(packet(tag, delay=300))
    assert (kept.tag, kept.replaced) == (tag, False)
    updated = hop_of(layout="uec", discarded=True).serve(packet(tag, delay=300))
    assert updated.tag == replace(tag, s=30, lm=5)


def test_actions() -> None:
    for action, tag in (("pass", tag_of()), ("strip", None), ("update", tag_of(s=30, lm=5))):
        hop = hop_of(action=action)
        assert hop.serve(packet(tag_of(), delay=300)).tag == tag
        assert hop.serve(packet(None, delay=300)).tag is None
        unknown = tag_of(t=7)
        answer = hop.serve(packet(unknown))
        assert answer.tag == (None if action == "strip" else unknown)
        assert answer.unknown == (action == "update")


def test_saturation_at_both_ends() -> None:
    """Compact: the last range has no end, the first no beginning. Wide: 20 bits. A delay that is
    longer than its field is said as the longest."""
    hop = hop_of()
    assert hop.serve(packet(tag_of(s=0), delay=10**9)).tag == tag_of(s=30, lm=5)
    assert hop.serve(packet(tag_of(t=1, s=31))).tag == tag_of(t=1, s=10, lm=5)  # 100 %
    wide = {"delay": Wide(Fraction(100), 0), "abw_c": Wide(Fraction(100), 0)}
    hop = hop_of(wide=wide)
    top = 2**20 - 1
    for t, s, delay, expected in ((2, 0, 100, 0), (2, 0, 101, 1), (2, 7, 2**30, top)):
        tag = tag_of(format="wide", t=t, s=s)
        assert hop.serve(packet(tag, delay=delay)).tag == replace(
            tag, s=expected, lm=5 if expected > s else 60
        )
    low = tag_of(format="wide", t=1, s=top)
    assert hop.serve(packet(low)).tag == replace(low, s=0, lm=5)  # 100 % - 100 %


def test_back_to_back_packets_across_a_window_edge() -> None:
    """Three packets of one port: the first of the new window is the first that sees the old."""
    percent = Compact(tuple(map(Fraction, (10, 20, 50))), (0, 1, 2, 3))
    hop = hop_of(compact={"abw_c": percent})
    for time in (0, 500):
        hop.serve(Packet(time, 0, 5000))
    seen = [
        hop.serve(Packet(time, 0, 1250, tag=tag_of(t=1, s=31))).tag for time in (999, 1000, 1001)
    ]
    assert [tag.s for tag in seen if tag] == [3, 1, 1]  # 100 %, then 10 %
    for time, code in ((1500, 1), (2000, 0), (4000, 3)):  # 47,500 bytes, then an idle window
        over = [hop.serve(Packet(time, 0, 9000, tag=tag_of(t=1, s=31))).tag for _ in range(5)]
        assert {tag.s for tag in over if tag} == {code}


def test_an_over_subscribed_port_has_no_bandwidth() -> None:
    hop = hop_of(wide={"abw": Wide(Fraction(0), 0), "abw_c": Wide(Fraction(0), 0)})
    for _ in range(20):
        hop.serve(Packet(10, 0, 9000))
    for t in (0, 1):
        tag = tag_of(format="wide", t=t, s=1)
        assert hop.serve(packet(tag, time=1000)).tag == replace(tag, s=0, lm=5)


def test_a_software_value_is_used_until_it_is_stale() -> None:
    hop = hop_of(source={"delay": "agent"}, wide={"delay": Wide(Fraction(0), 0)})
    early = hop.serve(packet(tag_of(), delay=300, time=99))
    assert (early.tag, early.stale) == (tag_of(), True)  # nothing has been written
    hop.agent.write(0, 2, Entry(compact=9, wide=None, written_ns=100, until_ns=400))
    assert hop.serve(packet(tag_of(), delay=300, time=400)).tag == tag_of(s=9, lm=5)
    assert hop.agent.age(0, 2, 400) == 300
    wide = tag_of(format="wide")
    answer = hop.serve(packet(wide, time=400))
    assert (answer.tag, answer.stale) == (wide, False)  # it says nothing about wide tags
    late = hop.serve(packet(tag_of(), delay=300, time=401))
    assert (late.tag, late.replaced, late.stale) == (tag_of(), False, True)
    assert hop.agent.age(0, 2, 1100) == 1000
    hop.agent.write(0, 2, Entry(compact=2, wide=7, written_ns=1000, until_ns=2000))
    assert hop.serve(packet(tag_of(), time=1500)).tag == tag_of()  # milder
    assert hop.serve(packet(wide, time=1500)).tag == replace(wide, s=7, lm=5)
    assert hop.agent.age(0, 1, 5) is None
    other = hop.serve(packet(tag_of(t=1, s=31), time=9999))
    assert other.replaced  # native signals go on


def test_without_a_quantizer_of_its_format_a_tag_passes() -> None:
    wide = tag_of(format="wide")
    assert hop_of().serve(packet(wide, delay=300)).tag == wide
    queue = tag_of(t=3, s=0)
    assert hop_of().serve(packet(queue, queue_bytes=10**6)).tag == queue


def test_a_format_that_the_hop_does_not_know_passes() -> None:
    config = preset("port-wide")
    hop = Hop(config, [Port(id=0, speed_gbps=1, locator=0, action="strip")])
    assert hop.serve(packet(tag_of())).tag == tag_of()
    assert hop.serve(packet(tag_of(format="wide"))).tag is None


@st.composite
def paths(draw: Any) -> tuple[str, Tag, list[Hop], list[Packet]]:
    """A tag, hops with quantizers of one signal, and what the packet meets at each."""
    signal, format = draw(st.sampled_from(SIGNALS)), draw(st.sampled_from(FORMATS))
    layout = draw(st.sampled_from(["draft", "uec"]))
    locators = draw(st.permutations(range(8)))[: draw(st.integers(1, 5))]
    scale = SCALES[signal.name]
    quantizers: Any = compacts(scale) if format == "compact" else wides(scale)
    hops, packets = [], []
    for locator in locators:
        table: dict[str, Any] = {format: {signal.name: draw(quantizers)}}
        speed = draw(st.sampled_from([1, 100, 800]))
        port = Port(id=0, speed_gbps=speed, locator=locator, **table)
        hop = Hop(CsigConfig(layout=layout), [port])
        size = draw(st.integers(0, port.capacity_bits // 8 * 2))
        hop.meters[0].packet(0, size)
        hops.append(hop)
        delay = draw(st.integers(0, 20_000))
        queue = draw(st.integers(0, 200_000))
        packets.append(Packet(1000, 0, 64, delay_ns=delay, queue_bytes=queue))
    bits = width(format, layout, "s")
    sent = draw(st.sampled_from([least_severe(signal, bits), draw(st.integers(0, 2**bits - 1))]))
    tag = Tag(format=format, layout=layout, t=signal.number, s=sent, lm=63)
    return signal.name, tag, hops, packets


def offers_of(tag: Tag, hops: list[Hop], packets: list[Packet]) -> list[int]:
    """What each hop would write; a meter is asked without a packet's length."""
    signal, found = BY_NUMBER[tag.t], []
    for hop, met in zip(hops, packets, strict=True):
        raw = hop.measure(met, signal, hop.meters[0].packet(1000, 0))
        value = hop.ports[0].code(tag.format, signal, raw)
        assert value is not None
        found.append(value)
    return found


def travel(tag: Tag | None, hops: list[Hop], packets: list[Packet]) -> Tag:
    for hop, met in zip(hops, packets, strict=True):
        tag = hop.serve(replace(met, tag=tag)).tag
    assert tag is not None
    return tag


@given(paths())
def test_the_tag_that_leaves_is_the_extremum_of_what_the_hops_would_have_written(
    path: Any,
) -> None:
    name, tag, hops, packets = path
    signal = BY_NUMBER[tag.t]
    assert signal.name == name
    offers = offers_of(tag, hops, packets)
    after = travel(tag, hops, packets)
    extremum = min if signal.keep == "min" else max
    assert after.s == extremum([tag.s, *offers])
    names = [63, *(hop.ports[0].locator for hop in hops)]
    assert after.lm == names[[tag.s, *offers].index(after.s)]  # the first that met it
    assert after == replace(tag, s=after.s, lm=after.lm)  # and no other bit changed
    event("replaced" if after.lm != 63 else "not replaced")


@given(paths())
def test_the_order_of_hops_matters_for_ties_alone(path: Any) -> None:
    _, tag, hops, packets = path
    offers = offers_of(tag, hops, packets)
    results = set()
    for order in list(permutations(range(len(hops))))[:24]:
        after = travel(tag, [hops[n] for n in order], [packets[n] for n in order])
        results.add((after.s, after.lm))
    assert len({s for s, _ in results}) == 1
    (worst,) = {s for s, _ in results}
    ties = {hop.ports[0].locator for hop, offer in zip(hops, offers, strict=True) if offer == worst}
    assert {lm for _, lm in results} <= ties | {63}
    if len(ties) < 2 or tag.s == worst:
        assert len(results) == 1


@given(paths())
def test_replacing_is_idempotent(path: Any) -> None:
    """A hop does not replace what it, or a path with it, has written."""
    _, tag, hops, packets = path
    after = travel(tag, hops, packets)
    assert travel(after, hops, packets) == after
    once = travel(tag, hops[:1], packets[:1])
    assert travel(once, hops[:1] * 2, packets[:1] * 2) == once


@pytest.mark.parametrize("signal", SIGNALS, ids=lambda signal: signal.name)
@pytest.mark.parametrize("bits", [5, 20])
def test_any_value_but_the_same_is_more_severe_than_the_least_severe(
    signal: Any, bits: int
) -> None:
    start = least_severe(signal, bits)
    for code in (0, 1, 2**bits // 2, 2**bits - 2, 2**bits - 1):
        assert more_severe(signal, code, start) == (code != start)
        assert not more_severe(signal, start, code)


PORT: dict[str, Any] = {"id": 0, "speed_gbps": 1, "locator": 0}
BAD_PORTS: list[tuple[list[dict[str, Any]], str]] = [
    ([{}, {}], "id must be different for each port, not 0 twice"),
    ([{"id": 1}], "id must be an integer from 0 to 0, not 1"),
    ([{"locator": 128}], "locator must be an integer from 0 to 127, not 128"),
    ([{"window_ns": 131_072}], "window_ns must be an integer from 100 to 131071, not 131072"),
]


@pytest.mark.parametrize(("ports", "said"), BAD_PORTS)
def test_ports_that_do_not_fit_the_hardware(ports: list[dict[str, Any]], said: str) -> None:
    made = [Port(**{**PORT, **fields}) for fields in ports]
    with pytest.raises(ValueError, match=f"^{said}$"):
        check_ports(CsigConfig(), made)


def test_more_windows_than_clocks() -> None:
    ports = [Port(id=n, speed_gbps=1, locator=0, window_ns=100 + n) for n in range(3)]
    with pytest.raises(ValueError, match=r"window_ns must have at most 2 values, not \[100, 101, "):
        check_ports(CsigConfig(ports=3, clocks=2), ports)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"id": 64}, "id must be an integer from 0 to 63, not 64"),
        ({"speed_gbps": 0}, "speed_gbps must be an integer from 1 to 800, not 0"),
        ({"speed_gbps": 801}, "speed_gbps must be an integer from 1 to 800, not 801"),
        ({"locator": 65536}, "locator must be an integer from 0 to 65535, not 65536"),
        ({"action": "drop"}, "action must be one of pass, strip, update, not 'drop'"),
        ({"window_ns": 0}, "window_ns must be an integer from 100 to 1048575, not 0"),
        ({"source": "me"}, "source must be one of native, agent, not 'me'"),
        ({"source": {"abw": "me"}}, "source must be one of native, agent, not 'me'"),
        ({"source": {"abv": "agent"}}, "source must be one of abw, .*, not 'abv'"),
        ({"wide": {"abv": None}}, "signal must be one of abw, .*, not 'abv'"),
    ],
)
def test_bad_ports(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        Port(**{**PORT, **fields})
