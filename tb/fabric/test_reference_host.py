"""What a host sends when: order of data and ACKs, pace, ring of flows, triggers, jitter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from models.fabric.config import FabricConfig
from models.fabric.flows import flows_between
from models.fabric.network import failures_of, tree_of
from models.fabric.reference import simulate
from models.fabric.result import Result
from models.fabric.streams import Kind, Stream
from tb.fabric.small import flows, triggered

TIME, ACK_TIME, LATENCY = 4178, 84, 50_000


def sent_by(result: Result, host: int) -> list[tuple[int, int, int, bool]]:
    """(time, flow, packet, ACK) of what a host sent."""
    assert result.trace is not None
    rows = result.trace[result.trace["link"] == host]
    assert (rows["arrival"] == rows["start"]).all()
    return [(row[5], row[0], row[1], row[2]) for row in rows.tolist()]


def same_edge(packets: int, **changes: object) -> Result:
    """Hosts 0 and 1 under one edge switch send to each other, at time 0."""
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", **changes)  # pyright: ignore
    return simulate(config, flows(config, [(0, 1), (1, 0)], packets), trace=True)


def runs(host: list[tuple[int, int, int, bool]]) -> str:
    """What a host sent, one letter a packet."""
    return "".join("A" if ack else "D" for _, _, _, ack in host)


def test_data_and_acks_take_turns() -> None:
    """The first packet is there at 2·(4,158 + 50,000) = 108,316, while the 26th is being sent."""
    result = same_edge(30)
    sent = runs(sent_by(result, 0))
    assert sent == 26 * "D" + "ADADADAD" + 26 * "A"


@pytest.mark.parametrize(
    ("order", "expected"),
    [("data-first", 30 * "D" + 30 * "A"), ("ack-first", 26 * "D" + "ADADADAD" + 26 * "A")],
)
def test_other_orders(order: str, expected: str) -> None:
    assert runs(sent_by(same_edge(30, host_order=order), 0)) == expected


def test_two_acks_in_a_row() -> None:
    """Data comes in every 4,178 and a turn of both takes 4,262, so two ACKs are due soon; the first
    packet is there 10 after a data packet began to leave."""
    sequences = {}
    for order in ("alternate", "ack-first"):
        config = FabricConfig(radix=6, jitter_ns=0, scheme="rsq", host_order=order)
        traffic = flows(config, [(0, 2), (1, 0)], [60, 60], start=[0, 26 * TIME + 10 - 108_316])
        sequences[order] = runs(sent_by(simulate(config, traffic, trace=True), 0))
    assert "AAD" not in sequences["alternate"]
    assert "DAAD" in sequences["ack-first"]


def test_an_ack_leaves_when_the_link_is_free() -> None:
    result = same_edge(30)
    sent = sent_by(result, 0)
    assert [time for time, *_ in sent[:28]] == [
        *(TIME * i for i in range(26)),
        26 * TIME,
        26 * TIME + ACK_TIME,
    ]


@pytest.mark.parametrize("rate", [1.0, 0.5, 2 / 3, 0.123457])
def test_pace(rate: float) -> None:
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", rate=rate, acks=False)
    result = simulate(config, flows(config, [(0, 15)], 9), trace=True)
    exact = Fraction(rate).limit_denominator(10**6)
    assert [time for time, *_ in sent_by(result, 0)] == [int(j * TIME / exact) for j in range(9)]


def test_acks_are_not_paced() -> None:
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", rate=0.01)
    result = simulate(config, flows(config, [(0, 1), (1, 0)], [1, 2]), trace=True)
    there = 2 * (TIME - 20 + LATENCY)
    assert sent_by(result, 1)[1] == (there, 0, 0, True)


def test_pace_under_failures_is_that_of_perfect_balance() -> None:
    """Hosts 0 and 1 share the one uplink that their edge switch has left."""
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=False)
    up = np.ones((8, 2), np.bool_)
    up[0, 1] = False
    failures = failures_of(tree_of(config), up, np.ones((8, 2), np.bool_))
    traffic = flows(config, [(0, 15), (1, 13)], 4)
    result = simulate(config, traffic, failures=failures, trace=True)
    assert [time for time, *_ in sent_by(result, 0)] == [2 * TIME * j for j in range(4)]
    assert result.data[1, 0] == 8


def test_flows_take_turns_in_the_order_in_which_they_join() -> None:
    """Flow 1 joins while packet 0 of flow 0 is being sent, flow 2 exactly at a start."""
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=False)
    traffic = flows(config, 3 * [(0, 15)], [4, 2, 2], start=[0, 1, 2 * TIME])
    order = [flow for _, flow, _, _ in sent_by(simulate(config, traffic, trace=True), 0)]
    assert order == [0, 0, 1, 0, 2, 1, 0, 2]


def test_flows_that_begin_together_are_taken_by_number() -> None:
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=False)
    traffic = flows(config, [(0, 15), (0, 14), (0, 13)], 2, start=7)
    sent = sent_by(simulate(config, traffic, trace=True), 0)
    assert [flow for _, flow, _, _ in sent] == [0, 1, 2, 0, 1, 2]
    assert sent[0][0] == 7


def test_triggers() -> None:
    """Flow 1 follows flow 0 on its host at once, flow 2 on another host one link latency later."""
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=False)
    traffic = flows(config, [(0, 15), (0, 14), (3, 8)], [2, 3, 1], after=[-1, 0, 0])
    result = simulate(config, traffic)
    assert result.begin.tolist() == [0, 2 * TIME, 2 * TIME + LATENCY]


def test_a_barrier_waits_for_the_last_that_a_host_knows_of() -> None:
    """Flow 0 is sent at 2T by host 0, flow 1 at T by host 3."""
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=False)
    pairs = [(0, 15), (3, 8), (0, 14), (3, 9), (12, 1)]
    waits = [-1, -1, 0, 0, 0]
    traffic = triggered(config, pairs, [2, 1, 1, 1, 1], [2], trigger=waits, sent=[0, 0, -1, -1, -1])
    known = [TIME + LATENCY, 2 * TIME + LATENCY, 2 * TIME + LATENCY]
    assert simulate(config, traffic).begin.tolist() == [0, 0, *known]


@pytest.mark.parametrize("acks", [False, True])
def test_what_has_arrived_starts_flows(acks: bool) -> None:
    """Flow 0 has arrived at host 1 when the last bit of its third packet has."""
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=acks)
    waits, none = [-1, 0, 0], [-1, -1]
    traffic = triggered(
        config, [(0, 1), (1, 9), (5, 9)], [3, 1, 1], [1], trigger=waits, received=[0, *none]
    )
    there = 2 * TIME + 2 * (TIME - 20 + LATENCY)
    result = simulate(config, traffic)
    assert result.begin[2] == there + LATENCY + TIME
    assert result.begin[1] == there  # before the ACK, as an ACK was sent last


def test_a_barrier_of_both_ends_of_a_flow() -> None:
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=False)
    ends: dict[str, list[int]] = {"sent": [0, -1, -1, -1], "received": [0, -1, -1, -1]}
    traffic = triggered(
        config, [(0, 1), (1, 9), (5, 9), (0, 9)], 1, [2], trigger=[-1, 0, 0, 0], **ends
    )
    there = 2 * (TIME - 20 + LATENCY)
    away = there + LATENCY + TIME
    assert simulate(config, traffic).begin.tolist() == [0, there, away, away]


def test_a_multishot_trigger_keeps_two_flows_running() -> None:
    """Flow 2 joins when flow 0 is through at T, flow 3 when flow 1 is at 5T; then none is left."""
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=False)
    traffic = triggered(
        config,
        [(0, 15), (0, 14), (0, 13), (0, 12)],
        [1, 3, 2, 1],
        [0],
        trigger=[-1, -1, 0, 0],
        sent=[0, 0, 0, 0],
    )
    result = simulate(config, traffic, trace=True)
    assert [flow for _, flow, *_ in sent_by(result, 0)] == [0, 1, 2, 1, 2, 1, 3]


def test_a_multishot_trigger_of_what_has_arrived() -> None:
    """The third activation finds no flow left."""
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", acks=False)
    traffic = triggered(
        config,
        [(0, 1), (15, 1), (2, 1), (1, 2), (7, 3)],
        1,
        [0],
        trigger=[-1, -1, -1, 0, 0],
        received=[0, 0, 0, -1, -1],
    )
    hop = TIME - 20 + LATENCY
    # 2 is in the pod (4 links), 15 is not (6 links)
    assert simulate(config, traffic).begin.tolist() == [0, 0, 0, 2 * hop, 4 * hop + LATENCY + TIME]


def test_flows_whose_packets_are_lost_start_none() -> None:
    config = FabricConfig(radix=4, jitter_ns=0, scheme="rsq", buffer_bytes=50)
    triggers = {"trigger": [-1, 0, 1], "received": [0, -1, -1], "sent": [1, -1, -1]}
    traffic = triggered(config, [(0, 15), (15, 0), (3, 8)], 2, [1, 1], **triggers)
    result = simulate(config, traffic)
    assert result.begin.tolist() == [0, -1, 2 * TIME + LATENCY]


def test_a_chain_of_triggers_ends() -> None:
    config = FabricConfig(radix=4, scheme="ofan")
    pairs = [(i, i + 1) for i in range(15)]
    result = simulate(config, flows(config, pairs, 2, after=range(-1, 14)))
    assert (np.diff(result.begin) >= 2 * TIME + LATENCY).all()
    assert (result.finish > 0).all()


def test_start_and_jitter() -> None:
    config = FabricConfig(radix=4, scheme="rsq", seed=11)
    traffic = flows(config, [(0, 5), (7, 3)], 1, start=[1000, 0])
    expected = [
        start + Stream(11, Kind.JITTER, host).below(TIME) for start, host in ((1000, 0), (0, 7))
    ]
    assert simulate(config, traffic).begin.tolist() == expected


def test_no_flows() -> None:
    config = FabricConfig(radix=4, scheme="rsq")
    none = np.array([], np.int64)
    result = simulate(config, flows_between(16, none, none, none))
    assert (result.first, result.last_data, result.packet_hops) == (0, 0, 0)
