"""Queues: backlog, what schemes see of it, and the past."""

from __future__ import annotations

import pytest

from models.fabric.config import FabricConfig
from models.fabric.options import SchemeOptions
from models.fabric.reference_queue import Queue


def queue(**options: object) -> Queue:
    """An uplink's queue with packets of 100 put in at 0, 10 and 150: busy from 0 to 300."""
    config = FabricConfig(radix=4, options=SchemeOptions(**options))  # pyright: ignore
    found = Queue(config, link=16, stage=1)
    starts = [found.put(now, 100, ack=now == 10) for now in (0, 10, 150)]
    assert starts == [0, 100, 200]
    return found


def test_statistics() -> None:
    found = queue()
    assert (found.packets, found.data, found.lost, found.largest) == (3, 2, 0, 190)
    assert found.area == 3 * 100**2 + 2 * 100 * (0 + 90 + 50)
    assert [found.backlog(now) for now in (150, 299, 300, 400)] == [150, 1, 0, 0]


@pytest.mark.parametrize(
    ("options", "lengths"),
    [
        ({}, [150, 50, 0]),
        ({"queue_in_service": False}, [100, 0, 0]),
        ({"queue_unit": "packets"}, [2, 1, 0]),
        ({"queue_unit": "packets", "queue_in_service": False}, [1, 0, 0]),
    ],
)
def test_lengths(options: dict[str, object], lengths: list[int]) -> None:
    found = queue(**options)
    assert [found.length(now) for now in (150, 250, 300)] == lengths


def test_old_lengths() -> None:
    """At 800 Gb/s a nanosecond is 100 byte times; the packet that came at 200 is new at 200."""
    found = queue(queue_age_ns=1)
    assert [found.length(now) for now in (199, 250, 299, 300)] == [100, 100, 100, 0]
    found.put(300, 100, ack=False)
    assert [found.length(now) for now in (300, 399, 400)] == [0, 0, 0]
    found.put(400, 100, ack=False)
    found.put(410, 100, ack=False)
    assert [found.length(now) for now in (499, 500)] == [0, 100]


def test_backlog_of_the_past() -> None:
    found = queue()
    times = (0, 1, 10, 11, 150, 151, 300)
    assert [found.backlog_before(time) for time in times] == [0, 99, 90, 189, 50, 149, 0]


def test_the_past_is_kept_as_long_as_neighbours_ask() -> None:
    config = FabricConfig(radix=4, options=SchemeOptions(telemetry_ns=2000))
    found = Queue(config, 16, 1)
    found.put(0, 100, ack=False)
    found.put(1, 10, ack=False)
    found.put(250_105, 10, ack=False)  # latency and period before this, 105 was still due
    assert found.backlog_before(105) == 5


def test_no_bound_at_hosts() -> None:
    config = FabricConfig(radix=4, buffer_bytes=150)
    assert Queue(config, 0, stage=0).put(0, 200, ack=False) == 0
    assert Queue(config, 16, stage=1).put(0, 200, ack=False) is None
    assert Queue(config, 16, stage=1).put(0, 150, ack=False) == 0
