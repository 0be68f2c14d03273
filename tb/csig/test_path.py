"""Paths of hops: the five hops of the facts, chained traces, and the ports file that goes with
them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path as File
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.csig.config import CsigConfig
from models.csig.hop import Hop, Packet
from models.csig.host import ask, read
from models.csig.path import Path, hop_traces, joined
from models.csig.path_text import path_of
from models.csig.ports import read_ports
from models.csig.quantize import Compact, Wide
from models.csig.setup import Agent, Setup
from models.csig.signals import BY_NAME, SIGNALS
from models.csig.stops import FACTS, Stop, bottleneck
from models.csig.tag import Tag
from models.csig.toml import decimal_of, text_of
from models.csig.trace import NO_TAG, Trace
from models.csig.vectorized import answer
from tb.csig.golden import serve, setups

WORST = {"abw": 5, "abw_c": 1, "delay": 3}
"""Of SAI's five hops (facts page)."""


def test_bottlenecks_of_the_five_hops() -> None:
    values = {
        "abw": [Fraction(gbps * 10**9, 8) for gbps in (100, 95, 70, 90, 20)],
        "delay": [1000 * us for us in (10, 3, 18, 5, 8)],
    }
    for name, expected in values.items():
        assert [stop.value(BY_NAME[name]) for stop in FACTS] == expected
    assert [stop.value(BY_NAME["abw_c"]) for stop in FACTS] == [Fraction(25, 2), 95, 70, 90, 50]
    for name, hop in WORST.items():
        assert bottleneck(BY_NAME[name], FACTS) == hop


@pytest.mark.parametrize("format", ["compact", "wide"])
def test_a_tag_finds_the_bottlenecks_of_the_five_hops(format: str) -> None:
    """Through golden hops, whose links have been used as the facts say for one window."""
    path = Path(format=format)
    hops = []
    for port, stop in zip(path.setup().ports, FACTS, strict=True):
        hop = Hop(CsigConfig(), [replace(port, id=0)])
        used = stop.used_gbps * path.window_ns / 8
        assert used.denominator == 1
        hop.meters[0].packet(0, int(used))
        hops.append(hop)
    for name, worst in WORST.items():
        tag: Tag | None = ask(BY_NAME[name], format)
        for hop, stop in zip(hops, FACTS, strict=True):
            met = Packet(path.window_ns, 0, 0, stop.delay_ns, stop.queue, tag)
            tag = hop.serve(met).tag
        assert tag is not None
        port = path.setup().ports[0]
        quantizer = (port.compact if format == "compact" else port.wide)[name]
        reading = read(tag, quantizer)
        assert reading is not None
        assert reading.locator == worst
        value = FACTS[worst - 1].value(BY_NAME[name])
        assert reading.low is None or reading.low <= value
        assert reading.high is None or value < reading.high


@pytest.mark.parametrize("source", ["native", "agent"])
def test_traces_of_the_five_hops_find_the_same(source: str) -> None:
    """Packets that share a window evenly: once it is full of them, tags say the exact values."""
    path = Path(format="wide", other_bytes=1000, packets=200, source=source)
    if source == "agent":
        path = replace(path, packets=400, other_bytes=500)
    traces = hop_traces(path)
    last = answer(path.config(), path.setup(), traces[-1])
    port = path.setup().ports[0]
    for name, worst in WORST.items():
        mine = (traces[-1].value != NO_TAG) & (traces[-1].signal == BY_NAME[name].number)
        assert last.locator[mine][-1] == worst
        exact = port.wide[name].code(FACTS[worst - 1].value(BY_NAME[name]))
        assert abs(int(last.value[mine][-1]) - exact) <= (1 if source == "native" else 700)


def test_the_trace_is_sorted_and_loads_are_as_given() -> None:
    path = Path(packets=300, jitter_ns=700, seed=4)
    traces = hop_traces(path)
    for number, (trace, stop) in enumerate(zip(traces, FACTS, strict=True)):
        assert (np.diff(trace.time_ns) >= 0).all()
        assert set(trace.port.tolist()) == {number}
        assert trace.delay_ns.min() >= stop.delay_ns
        assert trace.delay_ns.max() <= stop.delay_ns + 700 + 1600
        mine = trace.value != NO_TAG
        assert mine.sum() == path.packets
        time = trace.time_ns[mine][-1] - trace.time_ns[mine][0]
        inside = (trace.time_ns >= trace.time_ns[mine][0]) & (
            trace.time_ns <= trace.time_ns[mine][-1]
        )
        assert 8 * trace.bytes[inside].sum() / time == pytest.approx(
            float(stop.used_gbps), rel=0.05
        )
    whole = joined(traces)
    assert len(whole) == sum(map(len, traces))
    assert (np.diff(whole.time_ns) >= 0).all()


stops = st.builds(
    Stop,
    speed_gbps=st.sampled_from([10, 40, 100]),
    load=st.sampled_from([Fraction(1, 5), Fraction(9, 10), Fraction(3, 2)]),
    delay_ns=st.integers(0, 30_000),
    queue_bytes=st.one_of(st.none(), st.integers(0, 10**6)),
)
paths = st.builds(
    Path,
    stops=st.lists(stops, min_size=1, max_size=4).map(tuple),
    packets=st.integers(1, 40),
    packet_bytes=st.sampled_from([64, 1500]),
    rate_gbps=st.sampled_from([None, Fraction(1, 3), Fraction(2)]),
    signals=st.lists(st.sampled_from(list(BY_NAME)), min_size=1, max_size=4).map(tuple),
    format=st.sampled_from(["compact", "wide"]),
    layout=st.sampled_from(["draft", "uec"]),
    source=st.sampled_from(["native", "agent"]),
    window_ns=st.sampled_from([1000, 16_000]),
    jitter_ns=st.sampled_from([0, 3000]),
    seed=st.integers(0, 5),
)


@settings(max_examples=30)
@given(paths)
def test_what_leaves_a_hop_goes_into_the_next(path: Path) -> None:
    """By the golden model, hop by hop and all hops as one switch."""
    traces = hop_traces(path)
    for trace, after in zip(traces, [*traces[1:], None], strict=True):
        left = serve(path.config(), path.setup(), trace)
        mine = [row for row, value in zip(left, trace.value, strict=True) if value != NO_TAG]
        if after is not None:
            into = after.value != NO_TAG
            pairs = zip(after.value[into].tolist(), after.locator[into].tolist(), strict=True)
            assert [row[:2] for row in mine] == list(pairs)
    config, setup = path.config(), path.setup()
    together, trace = answer(config, setup, joined(traces)), joined(traces)
    for number, one in enumerate(traces):
        alone = answer(config, setup, one)
        here = trace.port == number
        assert together.value[here].tolist() == alone.value.tolist()
        assert together.locator[here].tolist() == alone.locator.tolist()


@settings(max_examples=20)
@given(setups())
def test_a_ports_file_reads_back_as_it_was_written(tmp_path_factory: Any, setup: Setup) -> None:
    file = tmp_path_factory.getbasetemp() / "back.toml"
    try:
        file.write_text(text_of(setup))
    except ValueError as error:
        assert "bounds must end in decimals" in str(error)
        return
    assert read_ports(file) == setup


def test_a_whole_ports_file(tmp_path: File) -> None:
    setup = Path(window_ns=2000, source="agent").setup()
    setup = replace(setup, agents={2: Agent(period_ns=5000)})
    (tmp_path / "p.toml").write_text(text_of(setup))
    assert read_ports(tmp_path / "p.toml") == setup
    assert [port.locator for port in setup.ports] == [1, 2, 3, 4, 5]
    assert decimal_of(Fraction(1, 8)) == "0.125"
    assert decimal_of(10**12) == "1000000000000"
    with pytest.raises(ValueError, match="^bounds must end in decimals, not 1/3$"):
        decimal_of(Fraction(1, 3))


@pytest.mark.parametrize("top", [0, 31, 32, 100, 5000, 10**6])
def test_quantizers_of_a_path_reach_its_values(top: int) -> None:
    path = Path(stops=(Stop(speed_gbps=100, load=Fraction(1, 2), delay_ns=top),), packets=1)
    port = path.setup().ports[0]
    for signal in SIGNALS:
        compact, wide = port.compact[signal.name], port.wide[signal.name]
        assert isinstance(compact, Compact) and isinstance(wide, Wide)
        value = path.stops[0].value(signal)
        assert wide.code(value) < 2**20 - 1
        assert compact.bounds[-1] <= max(value * 4, 100)
    assert port.compact["delay"].code(top) < 32


def test_paths_in_text() -> None:
    assert path_of(None, {}, {}) == Path()
    path = path_of(None, {"speed_gbps": "100, 40", "load": "0.25"}, {"signals": "delay, abw"})
    assert path.stops == tuple(
        Stop(speed_gbps=c, load=Fraction(1, 4), delay_ns=5000) for c in (100, 40)
    )
    assert path.signals == ("delay", "abw")
    path = path_of(1, {"delay_ns": "7", "queue_bytes": "9"}, {"rate_gbps": "0.1"}, packets=3)
    assert path.stops == (Stop(speed_gbps=100, load=Fraction(1, 2), delay_ns=7, queue_bytes=9),)
    assert (path.rate, path.packets) == (Fraction(1, 10), 3)
    assert path_of(5, {"speed_gbps": "800"}, {}).stops[4].speed_gbps == 800


BAD: list[tuple[tuple[Any, ...], str]] = [
    ((None, {"speed_gbps": "1,x"}, {}), "speed_gbps must be an integer, not 'x'"),
    ((None, {"speed_gbps": "1,0"}, {}), "speed_gbps must be an integer from 1 to 800, not 0"),
    ((None, {"load": "0.5,2.5"}, {}), "load must be a number from 0 to 2, not 2.5"),
    ((None, {"load": "1e3"}, {}), "load must be a number in decimals, not '1e3'"),
    ((None, {"load": ""}, {}), "load must be a number in decimals, not ''"),
    ((None, {"delay_ns": "1,2", "load": "1,1,1"}, {}), "delay_ns must have 1 value or 3, .* not 2"),
    ((65, {}, {}), "hops must be an integer from 1 to 64, not 65"),
    ((2, {"load": "1,1,1"}, {}), "load must have 1 value or 2, one a hop, not 3"),
    (
        (None, {"queue_bytes": "-1"}, {}),
        "queue_bytes must be an integer from 0 to 4294967295, not -1",
    ),
    ((None, {"queue_bytes": "--1"}, {}), "queue_bytes must be an integer, not '--1'"),
    ((None, {}, {"rate_gbps": "x"}), "rate_gbps must be a number in decimals, not 'x'"),
    ((None, {}, {"rate_gbps": "5.5"}), "rate_gbps must be above 0, at most 5 Gb/s, .*, not 5.5"),
    ((None, {}, {"rate_gbps": "0"}), "rate_gbps must be above 0, at most 5 Gb/s, .*, not 0"),
    ((1, {"load": "0"}, {}), "load must be above 0 at each hop of a path, not 0"),
    ((None, {}, {"signals": "abw,abv"}), "signals must be one of abw, .*, not 'abv'"),
]


@pytest.mark.parametrize(("words", "said"), BAD)
def test_bad_paths_in_text(words: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        path_of(*words)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"packets": 0}, "packets must be an integer from 1 to 16777216, not 0"),
        ({"packets": 10**6}, "packets must be at most 16777216 in all hops, not 4"),
        ({"packet_bytes": 63}, "packet_bytes must be .* 64 to 16383, not 63"),
        ({"other_bytes": 2**14}, "other_bytes must be .* 64 to 16383, not 16384"),
        ({"signals": ()}, "signals must be one or more"),
        ({"format": "long"}, "format must be one of compact, wide, not 'long'"),
        ({"layout": "old"}, "layout must be one of draft, uec, not 'old'"),
        ({"source": "me"}, "source must be one of native, agent, not 'me'"),
        ({"window_ns": 99}, "window_ns must be .*, not 99"),
        ({"link_ns": -1}, "link_ns must be .*, not -1"),
        ({"jitter_ns": -1}, "jitter_ns must be .*, not -1"),
        ({"seed": -1}, "seed must be .*, not -1"),
        ({"stops": ()}, "hops must be an integer from 1 to 64, not 0"),
    ],
)
def test_bad_fields(fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        Path(**fields)


def test_stops_refuse_what_cannot_be() -> None:
    for field, value in (("delay_ns", -1), ("queue_bytes", 2**32), ("speed_gbps", 801)):
        plain: dict[str, Any] = {"speed_gbps": 1, "load": Fraction(1), "delay_ns": 1}
        with pytest.raises(ValueError, match=f"^{field} must be .*, not {value}$"):
            Stop(**{**plain, field: value})


def test_jitter_differs_by_seed_and_is_the_same_again() -> None:
    def times(**fields: Any) -> list[int]:
        trace: Trace = hop_traces(Path(packets=20, stops=FACTS[1:3], jitter_ns=500, **fields))[1]
        return trace.time_ns.tolist()

    assert times(seed=1) == times(seed=1) != times(seed=2)
