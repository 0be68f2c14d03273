"""Thm. 6: the closed forms against the function they minimize, and the numbers of section 6.7."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.ofan.packet_size import (
    completion_time,
    layer_packets,
    optimal_increase,
    optimal_payload,
)

MIB = 1 << 20
messages = st.floats(1e3, 1e9)
headers = st.floats(1, 500)
alphas = st.floats(0.1, 100)


def test_default_optimum_by_hand() -> None:
    # 82 · 2^20 / 10 = 8,598,323.2, whose root is 2,932.29
    assert optimal_payload(MIB) == pytest.approx(2932.29, abs=0.01)
    assert optimal_payload(4 * MIB) == pytest.approx(5864.58, abs=0.01)


def test_four_times_the_message_takes_twice_the_payload() -> None:
    assert optimal_payload(4e6) == pytest.approx(2 * optimal_payload(1e6))


def test_time_by_hand() -> None:
    # ten packets of 100 + 20 bytes, then a queue of three such packets
    assert completion_time(120, 1000, header=20, queue_packets=3) == 1200 + 360


@given(messages, headers, alphas, st.floats(0.01, 100))
def test_no_payload_is_faster_than_the_optimum(
    message: float, header: float, alpha: float, factor: float
) -> None:
    best = optimal_payload(message, header, alpha)
    least = completion_time(best + header, message, header, alpha)
    other = completion_time(best * factor + header, message, header, alpha)
    assert other >= least * (1 - 1e-9)
    if abs(math.log(factor)) > 0.1 and best > header:
        assert other > least


@given(messages, headers, alphas)
def test_increase_is_the_time_at_the_optimum(message: float, header: float, alpha: float) -> None:
    best = optimal_payload(message, header, alpha) + header
    increase = completion_time(best, message, header, alpha) / message - 1
    assert optimal_increase(message, header, alpha) == pytest.approx(increase, rel=1e-6)


@pytest.mark.parametrize(
    ("parameters", "layers", "packets"),
    [(8.03e9, 32, 119), (70.6e9, 80, 418), (405.9e9, 126, 1533)],
)
def test_packets_per_flow_and_layer_of_llama_3(
    parameters: float, layers: int, packets: int
) -> None:
    assert layer_packets(parameters, layers) == pytest.approx(packets, rel=0.01)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: completion_time(82, 1e6), "packet must be more than header (82), not 82"),
        (lambda: completion_time(math.nan, 1e6), "packet must be more than header (82), not nan"),
        (lambda: completion_time(100, 0), "message must be more than 0, not 0"),
        (lambda: optimal_payload(-1), "message must be more than 0, not -1"),
        (lambda: optimal_payload(1e6, header=0), "header must be more than 0, not 0"),
        (
            lambda: optimal_increase(1e6, queue_packets=0),
            "queue_packets must be more than 0, not 0",
        ),
        (lambda: layer_packets(8e9, 0), "layers must be more than 0, not 0"),
        (lambda: layer_packets(8e9, 32, shards=0), "shards must be more than 0, not 0"),
    ],
)
def test_bad_values(call: Callable[[], float], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        call()
