"""The available bandwidth against exact rational arithmetic, and the error of what a tag says."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from models.csig.clock import Clock
from models.csig.meter import Meter
from models.csig.port import Port
from models.csig.quantize import Wide, error_bound, even, nearest
from models.csig.signals import BY_NAME
from models.csig.tables import scale

Packets = list[tuple[int, int]]


@st.composite
def links(draw: Any) -> Port:
    return Port(
        id=0,
        speed_gbps=draw(st.sampled_from([1, 25, 100, 400, 800])),
        locator=0,
        window_ns=draw(st.sampled_from([100, 333, 1000, 128_000])),
        compact={"abw": even(0, 10**11), "abw_c": even(0, 100)},
        wide={"abw": Wide(Fraction(0), 18), "abw_c": Wide(Fraction(0), 0)},
    )


@st.composite
def packets(draw: Any) -> Packets:
    """Times and lengths, with pauses of a few windows and bursts that are more than the link."""
    steps = st.sampled_from([0, 0, 1, 10, 99, 100, 333, 1000, 2500, 300_000])
    sizes = st.sampled_from([64, 1500, 9216, 65535])
    time, made = draw(st.sampled_from([0, 10**15])), []
    for step, size in draw(st.lists(st.tuples(steps, sizes), min_size=1, max_size=40)):
        time += step
        made.append((time, size))
    return made


def available(port: Port, past: Packets, time: int) -> Fraction:
    """What a packet at `time` is to see, bits/s, from all packets before it at once."""
    window = time // port.window_ns - 1
    sent = sum(8 * size for t, size in past if t // port.window_ns == window)
    seconds = Fraction(port.window_ns, 10**9)
    return max(Fraction(0), port.speed_gbps * 10**9 - sent / seconds)


@given(links(), packets())
def test_the_meter_is_exact(port: Port, traffic: Packets) -> None:
    meter = Meter(port)
    for n, (time, size) in enumerate(traffic):
        found = port.value(BY_NAME["abw"], meter.packet(time, size))
        assert 8 * found == available(port, traffic[:n], time)
        share = port.value(BY_NAME["abw_c"], meter.closed)
        assert share == 100 * 8 * found / (port.speed_gbps * 10**9)


@given(links(), packets())
def test_the_error_of_what_a_tag_says_is_bounded(port: Port, traffic: Packets) -> None:
    """Compact and wide codes, and the hardware's wide code, name a range that the exact value is
    in; so its middle is half a range off at most."""
    meter = Meter(port)
    for n, (time, size) in enumerate(traffic):
        raw = meter.packet(time, size)
        exact = available(port, traffic[:n], time) / 8
        for name, value in (("abw", exact), ("abw_c", 800 * exact / (port.speed_gbps * 10**9))):
            signal = BY_NAME[name]
            for quantizer in (port.compact[name], port.wide[name]):
                interval = quantizer.interval(quantizer.code(value))
                assert interval is not None
                low, high = interval
                assert (low is None or low <= value) and (high is None or value < high)
                bound = error_bound(interval)
                assert bound is None or abs(nearest(interval) - value) <= bound
            wide = port.wide[name]
            assert scale(port, signal, wide).code(raw) == wide.code(value)


def test_a_window_edge_between_two_packets() -> None:
    """The first sees the window before, the second what the first and its fellows left."""
    meter = Meter(Port(id=0, speed_gbps=100, locator=0))
    meter.packet(500, 5000)
    assert meter.packet(999, 1000) == 100_000
    assert meter.packet(1000, 64) == 100_000 - 8 * 6000
    assert meter.packet(1999, 64) == 100_000 - 8 * 6000
    assert meter.packet(2000, 64) == 100_000 - 8 * 128


def test_an_idle_port_has_all_of_its_capacity() -> None:
    meter = Meter(Port(id=0, speed_gbps=100, locator=0))
    meter.packet(0, 9000)
    assert meter.packet(1500, 9000) == 100_000 - 72_000
    assert meter.packet(3000, 9000) == 100_000
    assert meter.packet(10**15, 9000) == 100_000


def test_an_over_subscribed_port_has_nothing_left() -> None:
    meter = Meter(Port(id=0, speed_gbps=100, locator=0))
    for time in range(0, 1000, 50):
        meter.packet(time, 1500)
    assert meter.packet(1000, 64) == 0


@given(st.lists(st.integers(0, 5000), max_size=30), st.integers(100, 900))
def test_the_clock_counts_edges(steps: list[int], window: int) -> None:
    clock, time = Clock(window), 0
    for step in steps:
        before, time = time, time + step
        assert clock.packet(time) == min(2, time // window - before // window)
