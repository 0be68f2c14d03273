"""The completion-time bound of appendix A against its own numbers and a packet-by-packet count."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.bound import (
    BoundSettings,
    completion_bound_s,
    completion_bound_us,
    completion_times,
    first_data_packets,
)

DEFAULT = BoundSettings()

settings = st.builds(
    BoundSettings,
    link_gbps=st.sampled_from([100, 400, 800, 1600]),
    link_latency_ns=st.integers(0, 1000),
    hops=st.integers(1, 8),
    payload_bytes=st.integers(64, 9000),
    header_bytes=st.integers(0, 100),
    ack_bytes=st.integers(1, 128),
    gap_bytes=st.integers(0, 40),
    gap_at_each_hop=st.booleans(),
)


def test_times_of_the_default_settings() -> None:
    assert DEFAULT.data_time == Fraction("41.58")
    assert DEFAULT.ack_time == Fraction("0.64")
    assert DEFAULT.gap_time == Fraction("0.2")
    assert DEFAULT.path_time == 3000


def test_the_paper_sends_78_data_packets_first() -> None:
    assert first_data_packets(DEFAULT) == 78
    times = completion_times(256)
    assert (times.data_only, times.interleaved_acks) == (78, 179)


def test_the_papers_bound_to_five_decimals() -> None:
    assert f"{completion_bound_us(256):.5f}" == "17.05694"
    assert completion_times(256).bound == Fraction("17056.94")
    assert completion_bound_s(256) == pytest.approx(17.05694e-6, rel=1e-12)


def test_the_bound_with_a_gap_at_each_hop_as_the_text_prints() -> None:
    printed = BoundSettings(gap_at_each_hop=True)
    assert f"{completion_bound_us(256, printed):.5f}" == "17.05794"


def test_the_paper_measures_less_than_a_packet_above_the_bound() -> None:
    # Appendix A: 17.0587 µs in a small network is within one packet time, 10^-4 of the whole.
    measured = Fraction("17058.7")
    assert 0 < measured - completion_times(256).bound < DEFAULT.data_time


@pytest.mark.parametrize(
    ("packets", "nanoseconds"),
    [
        # 2 Tp + 6 Td + 6 Ta = 6253.32, and 41.78 more for each data packet after the first
        (1, "6253.32"),
        (2, "6295.10"),
        (77, "9428.60"),
        # from i1 = 78 on the first ACK stands behind data: one more gap, then 42.62 a packet
        (78, "9470.58"),
        (79, "9513.20"),
    ],
)
def test_short_messages_by_hand(packets: int, nanoseconds: str) -> None:
    assert completion_times(packets).bound == Fraction(nanoseconds)


def test_the_later_of_both_limits_is_the_bound() -> None:
    small = completion_times(256)
    assert small.bound == small.receive_limit > small.send_limit
    large = completion_times(256, BoundSettings(payload_bytes=512, ack_bytes=1024))
    assert large.bound == large.send_limit > large.receive_limit


@given(settings)
def test_i1_is_the_first_packet_that_ends_after_packet_1_has_arrived(s: BoundSettings) -> None:
    i1 = first_data_packets(s)
    first = s.path_time + s.hops * s.data_time

    def sent(count: int) -> Fraction:
        return s.data_time + (count - 1) * (s.data_time + s.gap_time)

    assert sent(i1) >= first
    assert i1 == 1 or sent(i1 - 1) < first


@given(settings, st.integers(1, 400))
def test_modes_count_packet_by_packet(s: BoundSettings, packets: int) -> None:
    """Walk appendix A's timeline one packet at a time instead of by its closed forms."""
    times = completion_times(packets, s)
    i1 = first_data_packets(s)
    data, ack = s.data_time + s.gap_time, s.ack_time + s.gap_time
    hop = ack if s.gap_at_each_hop else s.ack_time
    home = s.path_time + (s.hops - 1) * hop
    now = s.path_time + s.hops * s.data_time
    assert times.first_data == now
    if packets < i1:
        arrived = [now + index * data for index in range(packets)]
        leave = now
        for at in arrived:
            leave = max(leave, at)
            last = leave + s.ack_time + home
            leave += ack
        assert times.bound == last
        assert times.last_interleaved_ack is None
        return
    data_arrival, ack_arrival = {1: now}, {}
    for index in range(2, i1 + 1):
        now += data
        data_arrival[index] = now
    for index in range(i1 + 1, packets + 1):
        now += ack
        ack_arrival[index - i1] = now
        now += data
        data_arrival[index] = now
    now += ack
    last_mixed = packets - i1 + 1
    ack_arrival[last_mixed] = now
    assert times.last_interleaved_ack == now
    assert times.first_ack == ack_arrival[1]
    for _ in range(last_mixed, packets):
        now += ack
    assert times.send_limit == now
    assert times.receive_limit == data_arrival[packets] + ack + home


@given(settings, st.integers(1, 400))
def test_a_longer_message_never_ends_earlier(s: BoundSettings, packets: int) -> None:
    assert (
        completion_times(packets + 1, s).receive_limit > completion_times(packets, s).receive_limit
    )


@given(settings, st.integers(1, 400))
def test_never_below_line_rate_and_one_round_trip(s: BoundSettings, packets: int) -> None:
    line = packets * s.data_time + (packets - 1) * s.gap_time
    trip = 2 * s.path_time + (s.hops - 1) * s.data_time + s.hops * s.ack_time
    assert completion_times(packets, s).bound >= line + trip


RANGES = {
    "link_gbps": (1, 1_000_000),
    "link_latency_ns": (0, 1_000_000),
    "hops": (1, 64),
    "payload_bytes": (1, 1_048_576),
    "header_bytes": (0, 4096),
    "ack_bytes": (1, 4096),
    "gap_bytes": (0, 4096),
}


@pytest.mark.parametrize("name", RANGES)
def test_bad_settings_name_field_and_value(name: str) -> None:
    low, high = RANGES[name]
    for value, error in ((low - 1, ValueError), (high + 1, ValueError), (1.5, TypeError)):
        message = f"{name} must be an integer from {low} to {high}, not {value}"
        with pytest.raises(error, match=f"^{re.escape(message)}$"):
            BoundSettings(**{name: value})  # type: ignore[arg-type]


def test_bad_message_length() -> None:
    with pytest.raises(
        ValueError, match=r"^packets must be an integer from 1 to 1000000000, not 0$"
    ):
        completion_times(0)
