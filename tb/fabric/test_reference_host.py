"""What a host sends when: order of data and ACKs, pace, ring of flows, triggers, jitter."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.network import failures_of, tree_of
from models.fabric.reference import simulate
from models.fabric.result import Result
from models.fabric.streams import Kind, Stream
from tb.fabric.small import flows

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
    result = simulate(config, Flows(16, none, none, none, none, none))
    assert (result.first, result.last_data, result.packet_hops) == (0, 0, 0)
