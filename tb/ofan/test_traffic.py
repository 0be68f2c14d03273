"""Traffic at one switch, against a simulation that a reader can check."""

from __future__ import annotations

from collections import Counter, deque
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.fabric import hosts
from models.fabric.connections import Connections, Flow, permutation, read_connections
from models.fabric.fattree import FatTree
from models.fabric.hosts import DELAY, SLOT_PS, Hosts
from models.ofan.config import edge
from models.ofan.switch import Ofan, Packet
from models.ofan.traffic import departures, switch_trace

REAL = Path(__file__).parents[3] / "shared" / "data" / "connections"
Draw = Any
Sent = list[tuple[int, int, int, int]]  # slot, host, destination host, size class


def simulate(matrix: Connections, packets: int | None, delay: int) -> Sent:
    """All hosts, one packet at a time."""
    left = [packets or -(-flow.size // 4096) for flow in matrix.flows]
    running = [deque[int]() for _ in range(matrix.nodes)]
    due = [deque[int]() for _ in range(matrix.nodes)]
    starts = {
        number: -(-(flow.start or 0) // SLOT_PS)
        for number, flow in enumerate(matrix.flows)
        if flow.trigger is None
    }
    flying: list[tuple[int, int]] = []  # slot of sending, flow
    fired: set[int] = set()
    sent_data = [False] * matrix.nodes
    sent: Sent = []
    slot = 0
    while starts or flying or any(running) or any(due):
        for number in sorted(starts, key=lambda n: (starts[n], n)):
            if starts[number] <= slot:
                running[matrix.flows[number].source].append(number)
                del starts[number]
        for item in sorted(flying, key=lambda item: matrix.flows[item[1]].source):
            if item[0] + delay < slot:
                due[matrix.flows[item[1]].destination].append(item[1])
                flying.remove(item)
        for host in range(matrix.nodes):
            if due[host] and (not running[host] or sent_data[host]):
                sent.append((slot, host, matrix.flows[due[host].popleft()].source, 1))
                sent_data[host] = False
            elif running[host]:
                number = running[host].popleft()
                flow = matrix.flows[number]
                sent.append((slot, host, flow.destination, 0))
                sent_data[host] = True
                flying.append((slot, number))
                left[number] -= 1
                if left[number]:
                    running[host].append(number)
                elif flow.sent is not None and flow.sent not in fired:
                    fired.add(flow.sent)
                    for other, waits in enumerate(matrix.flows):
                        if waits.trigger == flow.sent:
                            starts[other] = slot + 1
        slot += 1
    return sent


def northbound_at_edge(sent: Sent, tree: FatTree, number: int) -> Sent:
    """Rows of the trace: batch, lane, destination edge switch, size class."""
    half = tree.radix // 2
    return [
        (slot, host % half, to // half, kind)
        for slot, host, to, kind in sent
        if host // half == number and to // half != number
    ]


def northbound_at_aggregation(
    sent: Sent, tree: FatTree, number: int, init: int, order: Any
) -> Sent:
    """Each edge switch of the pod is a golden model with one queue an uplink."""
    half = tree.radix // 2
    own, uplink = divmod(number, half)
    rows: Sent = []
    for lane in range(half):
        switch = Ofan(edge(tree.radix, init=init + own * half + lane, order=order))
        free = 0  # first slot in which the uplink is free
        for slot, port, destination, kind in northbound_at_edge(sent, tree, own * half + lane):
            if switch.serve(Packet(port, destination, kind)) == uplink:
                leaves = max(slot, free)
                free = leaves + 1
                pod = destination // half
                if pod != own:
                    rows.append((leaves, lane, pod if pod < own else pod - 1, kind))
    return sorted(rows)


def rows_of(trace: Any) -> Sent:
    names = (trace.batch, trace.lane, trace.destination, trace.size_class)
    return list(zip(*(values.tolist() for values in names), strict=True))


@st.composite
def matrices(draw: Draw) -> Connections:
    """Up to 12 flows between up to 16 hosts; some start late, some by a trigger."""
    nodes = draw(st.integers(2, 16))
    flows: list[Flow] = []
    for number in range(draw(st.integers(1, 12))):
        source = draw(st.integers(0, nodes - 1))
        destination = (source + draw(st.integers(1, nodes - 1))) % nodes
        trigger = draw(st.one_of(st.none(), st.integers(0, number - 1))) if number else None
        start = draw(st.integers(0, 20)) * SLOT_PS if trigger is None else None
        size = draw(st.integers(1, 4096 * 6))
        flows.append(
            Flow(
                source=source,
                destination=destination,
                size=size,
                start=start,
                trigger=trigger,
                sent=draw(st.sampled_from([number, None])) if trigger is None else number,
            )
        )
    fired = {flow.sent for flow in flows}
    kept = [flow for flow in flows if flow.trigger is None or flow.trigger in fired]
    fired = {flow.sent for flow in kept}
    return Connections(nodes, tuple(f for f in kept if f.trigger is None or f.trigger in fired))


@given(matrices(), st.sampled_from([None, 1, 5]), st.integers(0, 9))
def test_hosts_send_what_the_simulation_sends(
    matrix: Connections, packets: int | None, delay: int
) -> None:
    sent: Sent = []
    for slot, codes in Hosts(matrix, packets, delay):
        sent += [
            (slot, h, int(code) >> 1, int(code) & 1) for h, code in enumerate(codes) if code >= 0
        ]
    assert sent == simulate(matrix, packets, delay)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("delay", [0, 7])
def test_edge_and_aggregation_switches(seed: int, delay: int) -> None:
    tree = FatTree(4)
    matrix = permutation(tree.hosts, seed)
    sent = simulate(matrix, 40, delay)
    for number in range(tree.edges):
        expected = northbound_at_edge(sent, tree, number)
        trace = switch_trace(tree, matrix, "edge", number, packets=40, delay=delay)
        assert rows_of(trace) == expected
        trace = switch_trace(tree, matrix, "agg", number, packets=40, delay=delay, init=9)
        assert rows_of(trace) == northbound_at_aggregation(sent, tree, number, 9, None)


def test_an_odd_number_of_uplinks_and_an_order_of_its_own() -> None:
    tree = FatTree(6)
    matrix = permutation(tree.hosts, 4)
    expected = northbound_at_aggregation(simulate(matrix, 30, 5), tree, 4, 0, (2, 0, 1))
    trace = switch_trace(tree, matrix, "agg", 4, packets=30, delay=5, order=(2, 0, 1))
    assert rows_of(trace) == expected


def modes(matrix: Connections, packets: int, host: int) -> list[tuple[int, int]]:
    """(slot, size class) of all that one host sends."""
    return [
        (slot, int(codes[host]) & 1)
        for slot, codes in Hosts(matrix, packets, DELAY)
        if codes[host] >= 0
    ]


def test_the_three_modes_of_appendix_a() -> None:
    """78 data packets, then data and ACKs in turn, then ACKs; the link is never idle at m = 256."""
    sent = modes(permutation(16, 1), 256, host=0)
    assert [slot for slot, _ in sent] == list(range(512))
    kinds = [kind for _, kind in sent]
    assert kinds[:78] == [0] * 78
    assert kinds[78 : 78 + 2 * 178] == [1, 0] * 178
    assert kinds[78 + 2 * 178 :] == [1] * 78


def test_a_short_message_waits_for_its_acks() -> None:
    sent = modes(permutation(16, 1), 10, host=3)
    assert sent == [(slot, 0) for slot in range(10)] + [(slot + 78, 1) for slot in range(10)]


def test_flows_of_one_host_take_turns() -> None:
    flows = tuple(Flow(source=0, destination=d, size=3 * 4096) for d in (4, 8, 12))
    trace = switch_trace(FatTree(4), Connections(16, flows), "edge", 0)
    data = trace.destination[trace.size_class == 0].tolist()
    assert data == [2, 4, 6] * 3


def test_a_queue_serves_one_a_slot() -> None:
    assert departures(np.array([0, 0, 0, 1, 7, 7])).tolist() == [0, 1, 2, 3, 7, 8]
    assert departures(np.array([], np.int64)).tolist() == []


def test_local_traffic_is_not_northbound() -> None:
    local = Connections(16, (Flow(source=0, destination=1, size=4096),))
    with pytest.raises(ValueError, match=r"switch must be one that a northbound .*, not edge:0$"):
        switch_trace(FatTree(4), local, "edge", 0)
    pod = Connections(16, (Flow(source=0, destination=2, size=4096 * 50),))
    assert len(switch_trace(FatTree(4), pod, "edge", 0)) == 50
    for number in (0, 1):
        with pytest.raises(ValueError, match="not agg"):
            switch_trace(FatTree(4), pod, "agg", number)


@pytest.mark.parametrize("flows", [(), (Flow(source=0, destination=1, size=1),)])
def test_switches_beyond_the_hosts_see_nothing(flows: tuple[Flow, ...]) -> None:
    with pytest.raises(ValueError, match="not edge:7"):
        switch_trace(FatTree(4), Connections(3, flows), "edge", 7)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"packets": 0}, "packets must be an integer from 1 to 268435456, not 0"),
        ({"delay": -1}, "delay must be an integer from 0 to 1048576, not -1"),
        ({"number": 8}, "switch must be an integer from 0 to 7, not 8"),
    ],
)
def test_bad_parameters(changes: dict[str, int], said: str) -> None:
    given_: dict[str, Any] = {"number": 0, **changes}
    with pytest.raises(ValueError, match=f"^{said}$"):
        switch_trace(FatTree(4), permutation(16, 0), "edge", **given_)


def test_more_hosts_than_the_tree_has() -> None:
    with pytest.raises(ValueError, match="nodes must be an integer from 2 to 16, not 17"):
        switch_trace(FatTree(4), permutation(17, 0), "edge", 0)


def test_too_many_packets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "MAX_PACKETS", 99)
    with pytest.raises(ValueError, match="packets must be at most 99 in all flows, not 160"):
        Hosts(permutation(16, 0), 10, 77)


def check_whole(matrix: Connections, radix: int, packets: int) -> None:
    """Every data packet and every ACK between edge switches passes some edge switch's trace."""
    tree = FatTree(radix)
    expected: Counter[tuple[int, int, int]] = Counter()
    for flow in matrix.flows:
        ends = flow.source // tree.half, flow.destination // tree.half
        if ends[0] != ends[1]:
            expected[ends[0], ends[1], 0] += packets
            expected[ends[1], ends[0], 1] += packets
    switches = {key[0] for key in expected}
    found: Counter[tuple[int, int, int]] = Counter()
    for number in sorted(switches)[:8]:
        trace = switch_trace(tree, matrix, "edge", number, packets=packets)
        found.update((number, to, kind) for _, _, to, kind in rows_of(trace))
    assert found == {key: n for key, n in expected.items() if key[0] in sorted(switches)[:8]}


@pytest.mark.parametrize(
    ("name", "radix", "packets"),
    [
        ("perm_16n_16c_2MB", 4, 256),
        ("alltoall_serial_16n", 4, 20),
        ("outcast_incast", 8, 30),
        ("perm_8192n_8192c_1MB", 32, 20),
    ],
)
def test_real_matrices(name: str, radix: int, packets: int) -> None:
    if not REAL.is_dir():
        pytest.skip("the shared folder with real connection matrices is absent")
    check_whole(read_connections(REAL / f"{name}.cm"), radix, packets)


def test_generated_matrices() -> None:
    """Twins of the real ones: a permutation, a serial all-to-all, an incast with an outcast."""
    check_whole(permutation(16, 3), 4, 256)
    check_whole(permutation(8192, 3), 32, 20)
    serial = [
        Flow(
            source=source,
            destination=(source + step) % 16,
            size=1,
            start=0 if step == 1 else None,
            trigger=None if step == 1 else 100 * source + step - 1,
            sent=100 * source + step,
        )
        for source in range(16)
        for step in range(1, 16)
    ]
    check_whole(Connections(16, tuple(serial)), 4, 20)
    both = [Flow(source=s, destination=0, size=1) for s in range(1, 9)]
    both += [Flow(source=9, destination=d, size=1) for d in range(10, 40)]
    check_whole(Connections(128, tuple(both)), 8, 30)
