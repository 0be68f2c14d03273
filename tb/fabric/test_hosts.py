"""Triggers of all kinds in the slots of `models.fabric.hosts`, by hand."""

from __future__ import annotations

from models.fabric.hosts import PAYLOAD, Hosts
from models.fabric.matrix import Connections, Flow, Trigger

DELAY = 3
"""What is sent in slot s may be acknowledged in slot s + 4."""


def first_data(flows: list[Flow], triggers: dict[int, Trigger]) -> list[int]:
    """The slot of each flow's first data packet; all flows have ends of their own."""
    begun: dict[tuple[int, int], int] = {}
    for slot, codes in Hosts(Connections(40, tuple(flows), triggers), None, DELAY):
        for host, code in enumerate(codes.tolist()):
            if code >= 0 and not code & 1:
                begun.setdefault((host, code >> 1), slot)
    return [begun[flow.source, flow.destination] for flow in flows]


def flow(source: int, destination: int, packets: int, trigger: int | None = None, **ends: int):
    """A flow of whole packets."""
    start = 0 if trigger is None else None
    size = packets * PAYLOAD
    return Flow(
        source=source, destination=destination, size=size, start=start, trigger=trigger, **ends
    )


def test_sent_and_received() -> None:
    flows = [flow(0, 10, 2, sent=1, received=2), flow(1, 11, 1, 1), flow(2, 12, 1, 2)]
    assert first_data(flows, {}) == [0, 2, 5]


def test_a_barrier_takes_the_last_slot() -> None:
    """Known in slots 5 (received) and 4 (sent), though the latter is sent later."""
    flows = [flow(0, 10, 2, received=1), flow(3, 13, 4, sent=1), flow(1, 11, 1, 1)]
    assert first_data([*flows, flow(2, 12, 1, 1)], {1: Trigger(2)}) == [0, 0, 5, 5]


def test_multishot_starts_one_flow_each_time() -> None:
    """Two flows of one host take turns: sent in slots 0 and 2 (one packet, two packets)."""
    flows = [flow(0, 10, 1, sent=1), flow(0, 13, 2, sent=1), flow(0, 14, 9, sent=1)]
    flows += [flow(2, 12, 1, 1), flow(1, 11, 1, 1)]
    assert first_data(flows, {1: Trigger(0)}) == [0, 1, 2, 1, 4]
