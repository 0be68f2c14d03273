"""Fast Ramp-Up: what the seed says of it, and what it does to flows on a link."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.csig.host import Reading
from models.csig.ramp import MTU, TRANSPORTS, Ack, Cubic, FastRampUp, Nscc, Swift, Transport, growth
from models.csig.ramp_link import History, Link, run
from models.csig.signals import BY_NAME

BASE = 20_000.0


def reading(percent: float) -> Reading:
    low = Fraction(percent)
    return Reading(BY_NAME["abw_c"], low, low + 3, 1)


def ack(time: float = BASE, percent: float | None = None, queue: float = 0.0, **more: Any) -> Ack:
    fields = {"acked": MTU, "sent_with": 10 * MTU, "marked": False} | more
    said = None if percent is None else reading(percent)
    return Ack(time_ns=time, rtt_ns=BASE + queue, abw_c=said, **fields)


@dataclass
class Still(Transport):
    """A transport that does nothing by itself."""

    def alone(self, ack: Ack) -> float:
        return self.window


def feed(transport: Transport, acks: int, start: float = BASE, **fields: Any) -> list[float]:
    """Give ACKs, evenly over RTTs of ten packets; return the window after each."""
    windows = []
    for number in range(acks):
        transport.take(ack(start + number * BASE / 10, **fields))
        windows.append(transport.window)
    return windows


@pytest.mark.parametrize(("used", "factor"), [(1.0, 1.0), (0.5, 2.0), (0.2, 5.0), (0.0, 16.0)])
def test_the_factor_is_one_over_the_share_used(used: float, factor: float) -> None:
    assert growth(used, 16) == factor
    assert growth(used, 3) == min(3, factor)


def test_the_window_reaches_its_target_over_the_next_rtt() -> None:
    """80 % free: five times what was in flight, after one RTT of watching and one of moving."""
    flow = Still(FastRampUp(), window=10 * MTU)
    windows = feed(flow, 10, percent=80)
    assert windows == [10 * MTU] * 10
    windows = feed(flow, 10, start=2 * BASE, percent=80)
    assert windows == pytest.approx([(10 + 4 * n) * MTU for n in range(1, 11)])
    assert feed(flow, 10, start=3 * BASE, percent=80) == pytest.approx([50 * MTU] * 10)


def test_tags_of_windows_before_the_end_of_a_move_are_not_looked_at() -> None:
    """The same old news does not multiply twice; news of a later time does."""
    ramp = FastRampUp(measured_ns=100_000)
    flow = Still(ramp, window=10 * MTU)
    feed(flow, 20, percent=80)
    end = BASE + 19 * BASE / 10
    old = feed(flow, 100, start=end, percent=80, sent_with=50 * MTU)
    assert old == pytest.approx([50 * MTU] * 100)
    feed(flow, 50, start=end + BASE + 201_000, percent=50, sent_with=50 * MTU)
    windows = feed(flow, 50, start=end + 6 * BASE + 201_000, percent=50, sent_with=50 * MTU)
    assert windows[-1] == pytest.approx(100 * MTU)


def test_the_worst_tag_of_an_rtt_counts() -> None:
    flow = Still(FastRampUp(), window=10 * MTU)
    for number, percent in enumerate([90, 80, 50, 60, 95, 90, 90, 80, 70, 90]):
        flow.take(ack(BASE + number, percent))
    feed(flow, 10, start=2 * BASE, percent=90)
    assert flow.window == pytest.approx(20 * MTU)


def test_the_data_in_flight_bounds_the_target() -> None:
    """A flow that does not fill its window has less to multiply, and is never cut."""
    flow = Still(FastRampUp(), window=10 * MTU)
    assert feed(flow, 40, percent=50, sent_with=2 * MTU) == [10 * MTU] * 40


def test_queues_are_a_circuit_breaker() -> None:
    for queue, reached in ((5000.0, 50), (5001.0, 10)):
        flow = Still(FastRampUp(queue_ns=5000), window=10 * MTU)
        feed(flow, 20, percent=80, queue=queue)
        assert flow.window == pytest.approx(reached * MTU)
    flow = Still(FastRampUp(queue_ns=5000), window=10 * MTU)
    feed(flow, 15, percent=80)
    half = flow.window
    assert 10 * MTU < half < 50 * MTU
    feed(flow, 9, start=3 * BASE, percent=80, queue=6000)
    assert flow.window == half  # in mid-move, too


def test_without_a_reading_nothing_is_claimed() -> None:
    assert feed(Still(FastRampUp(), window=10 * MTU), 40) == [10 * MTU] * 40
    assert feed(Still(FastRampUp(), window=10 * MTU), 40, percent=0) == [10 * MTU] * 40
    assert feed(Still(None, window=10 * MTU), 40, percent=80) == [10 * MTU] * 40


@given(st.lists(st.tuples(st.integers(0, 97), st.integers(0, 9000)), min_size=1, max_size=60))
def test_a_window_never_comes_down_by_it_and_stays_below_the_largest_factor(
    acks: list[tuple[int, int]],
) -> None:
    flow = Still(FastRampUp(most_growth=4), window=10 * MTU)
    for number, (percent, queue) in enumerate(acks):
        before = flow.window
        flow.take(ack(BASE + 2000 * number, percent, queue))
        assert before <= flow.window <= 40 * MTU * (1 + 1e-9)


def test_swift_grows_by_a_packet_an_rtt_and_comes_down_once_an_rtt() -> None:
    swift = Swift(window=10 * MTU)
    feed(swift, 10)
    assert swift.window == pytest.approx(11 * MTU, rel=0.01)
    before = swift.window
    windows = feed(swift, 10, start=10 * BASE, queue=20_000)
    assert set(windows) == {before * (1 - 0.8 * 10_000 / 40_000)}
    assert feed(swift, 1, start=11 * BASE, queue=20_000)[0] < windows[-1]


def test_nscc_has_four_cases() -> None:
    def change(queue: float, marked: bool) -> float:
        flow = Nscc(window=10 * MTU)
        feed(flow, 10, queue=queue, marked=marked)
        return flow.window / MTU - 10

    assert change(0, False) == pytest.approx(4, rel=0.2)
    assert change(5000, False) == pytest.approx(2, rel=0.2)
    assert change(0, True) == 0
    assert change(15_000, False) == pytest.approx(1, rel=0.1)
    assert change(15_000, True) == pytest.approx(-10 / 3)
    ramped = Nscc(FastRampUp(queue_ns=50_000), window=10 * MTU)
    feed(ramped, 30, percent=80, marked=True)
    assert ramped.window == 10 * MTU
    feed(ramped, 30, start=10 * BASE, percent=80, queue=15_000)
    assert ramped.window < 14 * MTU


def test_cubic_starts_anew_from_what_was_claimed() -> None:
    cubic = Cubic(FastRampUp(), window=10 * MTU)
    feed(cubic, 24, percent=80)
    claimed = cubic.window
    assert claimed == pytest.approx(50 * MTU, rel=0.05)
    feed(cubic, 20, start=4 * BASE)
    assert claimed <= cubic.window < 1.1 * claimed  # a plateau
    for time in (5 * BASE, 5 * BASE + 1):
        cubic.lost(time)
        assert cubic.window == pytest.approx(0.7 * claimed, rel=0.1)  # once an RTT
    after = feed(cubic, 100, start=7 * BASE)
    assert after[-1] > after[0]


@pytest.mark.parametrize("name", TRANSPORTS)
def test_losses_halve_or_so(name: str) -> None:
    flow = TRANSPORTS[name](window=10 * MTU)
    flow.lost(BASE)
    assert flow.window in (5 * MTU, pytest.approx(7 * MTU))
    flow.window = MTU
    flow.lost(10 * BASE)
    assert flow.window == MTU


@pytest.mark.parametrize("name", TRANSPORTS)
def test_a_loss_ends_the_move(name: str) -> None:
    """Nor is it begun again by what the tags of the packets before the loss said."""
    flow = TRANSPORTS[name](FastRampUp(), window=10 * MTU)
    alone = TRANSPORTS[name](window=10 * MTU)
    feed(flow, 18, percent=80)
    assert flow.window > 20 * MTU, "in mid-move"
    time = 3 * BASE
    flow.lost(time)
    alone.window = flow.window
    if isinstance(flow, Cubic):
        alone = Cubic(window=flow.window / 0.7)
        alone.lost(time)
    last = time + 0.9 * BASE  # of the packets that were sent before
    for number in range(10):
        later = ack(time + (last - time) * number / 9, percent=80, sent_with=40 * MTU)
        flow.take(later)
        alone.take(later)
        assert flow.window == pytest.approx(alone.window)


def test_a_cut_by_delay_ends_the_move() -> None:
    """The circuit breaker would not have; and once an RTT has passed, nothing is left of it."""
    swift = Swift(FastRampUp(queue_ns=50_000), window=10 * MTU)
    feed(swift, 15, percent=80)
    swift.take(ack(3 * BASE, 80, queue=12_000))
    cut = swift.window
    feed(swift, 5, start=3 * BASE, percent=80)
    assert swift.window < cut + MTU


def test_swift_ramps_up_below_its_target_alone() -> None:
    """Whatever the circuit breaker is set to."""
    for queue, rises in ((10_000.0, True), (10_001.0, False), (40_000.0, False)):
        swift = Swift(FastRampUp(queue_ns=50_000), window=10 * MTU)
        windows = [10 * MTU, *feed(swift, 60, percent=80, queue=queue)]
        assert (max(windows) > 12 * MTU) == rises
        if not rises:
            assert windows == sorted(windows, reverse=True)


def ramp_up(name: str, other: Fraction, ramp: bool, rtts: int = 120) -> tuple[History, Link]:
    link = Link(other=other)
    flow = TRANSPORTS[name](FastRampUp(measured_ns=link.window_ns) if ramp else None)
    return run(link, [flow], rtts), link


@pytest.mark.parametrize("name", TRANSPORTS)
def test_idle_capacity_is_claimed_sooner(name: str) -> None:
    """With a tenth of the link in use by others: RTTs until nine tenths of the rest are."""
    (alone, link), (ramped, _) = (ramp_up(name, Fraction(1, 10), ramp) for ramp in (False, True))
    before, after = alone.until(link, 0.9), ramped.until(link, 0.9)
    assert 0 < after <= 16
    assert after < before
    if name != "nscc":
        assert after < before / 4
    assert max(ramped.queue_ns) < 20_000


@pytest.mark.parametrize("name", TRANSPORTS)
def test_there_is_nothing_to_gain_where_nothing_is_idle(name: str) -> None:
    """The seed: "negligible when little spare capacity exists"."""
    (alone, link), (ramped, _) = (
        ramp_up(name, Fraction(9, 10), ramp, 12) for ramp in (False, True)
    )
    assert ramped.until(link, 0.9) == alone.until(link, 0.9)


def test_flows_share_what_they_claim() -> None:
    link = Link()
    flows = [Swift(FastRampUp()) for _ in range(4)]
    history = run(link, flows, 60)
    assert history.until(link, 0.9) < 12
    last = history.windows[-1]
    assert min(last) > 0.4 * max(last)
    assert history.until(link, 50) == -1


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"queue_ns": -1}, "queue_ns must be a number from 0 to 1e[+]09, not -1"),
        ({"most_growth": 0.5}, "most_growth must be a number from 1 to 1000, not 0.5"),
        ({"measured_ns": -1}, "measured_ns must be a number from 0 to 1e[+]09, not -1"),
    ],
)
def test_bad_parameters(fields: dict[str, float], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        FastRampUp(**fields)


def test_a_transport_alone_is_none() -> None:
    with pytest.raises(NotImplementedError):
        Transport().take(ack())
