"""The software agent: what it reads, when what it writes is there, and until when it holds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from models.csig.agent import AgentTable, Entry
from models.csig.hop import Hop
from models.csig.hst import (
    NO_CODE,
    Counters,
    PortAgent,
    Writes,
    codes,
    metered,
    oldest,
    signals,
    writes,
)
from models.csig.port import Port
from models.csig.quantize import Compact, Wide
from models.csig.setup import Agent, Setup
from models.csig.signals import BY_NAME, SIGNALS
from models.csig.trace import Trace
from tb.csig.golden import packets_of, setups, traffic

PORT = Port(
    id=4,
    speed_gbps=100,
    locator=1,
    source="agent",
    compact={"abw_c": Compact(tuple(map(Fraction, (10, 50))), (1, 5, 9))},
    wide={
        "abw": Wide(Fraction(0), 14),
        "delay": Wide(Fraction(0), 0),
        "queue": Wide(Fraction(0), 0),
    },
)


def trace_of(rows: list[tuple[int, int, int, int]], port: int = 4) -> Trace:
    """Make a trace of times, lengths, delays and queues."""
    time, length, delay, queue = zip(*rows, strict=True)
    zero = [0] * len(rows)
    return Trace.of(time, [port] * len(rows), length, delay, queue, zero, zero, zero, zero)


def test_codes_of_a_period() -> None:
    """100 Gb/s for 100 us are 1.25 MB; 0.5 MB of them are 60 % left, 7.5 GB/s."""
    counters = Counters(bytes=500_000, delay_ns=700, queue_bytes=25_000)
    found = {
        signal.name: codes(metered(PORT, Agent()), signal, counters) for signal in signals(PORT)
    }
    assert found == {
        "abw": (None, 7_500_000_000 >> 14),
        "abw_c": (9, None),
        "delay": (None, 700),
        "queue": (None, 2000),
    }
    over = codes(metered(PORT, Agent()), BY_NAME["abw_c"], Counters(bytes=10**9))
    assert over == (1, None)


def test_values_are_there_after_the_delay_and_until_the_timeout() -> None:
    """Packets of period 0; its values are written at 100,000 + 30,000 and hold 200,000 more."""
    agent = Agent(period_ns=100_000, delay_ns=30_000, timeout_ns=200_000)
    setup = Setup(ports=(PORT,), agents={4: agent})
    rows = [(50, 9000, 5, 0), (99_999, 9000, 80, 0), (100_000, 64, 900, 0)]
    rows += [(129_999, 64, 1, 0), (130_000, 64, 1, 0), (231_000, 64, 0, 0), (900_000, 64, 0, 0)]
    found = writes(setup, trace_of(rows))
    delays = found.signal == BY_NAME["delay"].number
    assert found.before[delays].tolist() == [4, 5, 6]
    assert found.wide[delays].tolist() == [80, 900, 0]
    assert found.written_ns[delays].tolist() == [130_000, 230_000, 830_000]
    assert found.until_ns[delays].tolist() == [330_000, 430_000, 1_030_000]
    assert (found.compact[delays] == NO_CODE).all()
    assert len(found) == 4 * 3
    assert (found.port == 4).all()
    assert found.among(slice(4, 6)).before.tolist() == [0] * 4 + [1] * 4


def test_native_signals_and_other_ports_are_left_alone() -> None:
    native = Port(id=1, speed_gbps=1, locator=0, source={"queue": "agent"})
    setup = Setup(ports=(native, Port(id=4, speed_gbps=1, locator=0)))
    assert [signal.name for signal in signals(native)] == ["queue"]
    rows = [(time, 64, 0, 0) for time in range(0, 10**6, 1000)]
    assert set(writes(setup, trace_of(rows, port=1)).signal.tolist()) == {3}
    assert len(writes(setup, trace_of(rows, port=4))) == 0
    assert len(Writes.of()) == 0


def looks(table: AgentTable, port: int, time: int) -> list[Any]:
    """What a packet finds of all signals: codes, or nothing that still holds."""
    entries = (table.look(port, signal.number, time) for signal in SIGNALS)
    return [e and (e.compact, e.wide, e.written_ns, e.until_ns) for e in entries]


def event_by_event(setup: Setup, trace: Trace) -> Iterator[list[Any]]:
    table = AgentTable()
    agents = {p.id: PortAgent(p, setup.agent(p.id)) for p in setup.ports if signals(p)}
    for time, port, length, delay, queue in zip(
        *(values.tolist() for values in list(trace.columns().values())[:5]), strict=True
    ):
        for number, agent in agents.items():
            for signal, entry in agent.until(time):
                table.write(number, signal, entry)
        yield looks(table, port, time)
        if port in agents:
            agents[port].count(length, delay, queue)


def all_at_once(setup: Setup, trace: Trace) -> Iterator[list[Any]]:
    table, w = AgentTable(), writes(setup, trace)
    columns = (w.before, w.port, w.signal, w.compact, w.wide, w.written_ns, w.until_ns)
    rows = list(zip(*(values.tolist() for values in columns), strict=True))
    for number, (time, port) in enumerate(
        zip(trace.time_ns.tolist(), trace.port.tolist(), strict=True)
    ):
        while rows and rows[0][0] <= number:
            _, to, signal, *codes_, written, until = rows.pop(0)
            compact, wide = (None if code == NO_CODE else code for code in codes_)
            table.write(to, signal, Entry(compact, wide, written, until))
        yield looks(table, port, time)
    assert not rows


@given(setups(), st.integers(1, 80), st.integers(0, 2**32))
def test_every_packet_finds_what_it_would_event_by_event(
    setup: Setup, count: int, seed: int
) -> None:
    trace = traffic(setup.config(), setup, count, seed)
    found = list(event_by_event(setup, trace))
    assert list(all_at_once(setup, trace)) == found
    event(f"something: {any(any(row) for row in found)}")


@given(setups(), st.integers(1, 80), st.integers(0, 2**32))
def test_the_oldest_value_that_is_asked_for(setup: Setup, count: int, seed: int) -> None:
    config = setup.config()
    trace = traffic(config, setup, count, seed)
    hop = Hop(config, list(setup.ports))
    ages = []
    agents = {p.id: PortAgent(p, setup.agent(p.id)) for p in setup.ports if signals(p)}
    for packet in packets_of(trace, config.layout):
        for number, agent in agents.items():
            for signal, entry in agent.until(packet.time_ns):
                hop.agent.write(number, signal, entry)
        if hop.serve(packet).use:
            assert packet.tag
            ages.append(hop.agent.age(packet.port, packet.tag.t, packet.time_ns))
    assert oldest(setup, trace) == max((age for age in ages if age is not None), default=None)
    event(f"some: {any(age is not None for age in ages)}")


@pytest.mark.parametrize("start", [0, 7_777_777])
def test_a_period_is_counted_from_its_multiple(start: int) -> None:
    """A packet at the very end of a period counts for the next, and sees the period's value."""
    agent = Agent(period_ns=1000, delay_ns=0)
    setup = Setup(ports=(PORT,), agents={4: agent})
    first = start // 1000 * 1000
    rows = [(first, 64, 10, 0), (first + 999, 64, 20, 0), (first + 1000, 64, 30, 0)]
    found = writes(setup, trace_of([*rows, (first + 2000, 64, 0, 0)]))
    delays = found.signal == BY_NAME["delay"].number
    late = found.before[delays] > 0
    assert found.before[delays][late].tolist() == [2, 3]
    assert found.wide[delays][late].tolist() == [20, 30]
