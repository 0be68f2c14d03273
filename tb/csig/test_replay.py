"""Replay of the generated Verilog against the golden model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest

from models.csig.answers import Answers
from models.csig.config import CsigConfig
from models.csig.hst import Writes, writes
from models.csig.setup import Agent, Setup
from models.csig.tables import Write
from models.csig.tables import writes as table_writes
from models.csig.trace import NO_TAG, Trace
from models.csig.vectorized import VectorizedHop, answer
from tb.csig.golden import serve
from tb.csig.replay import Replay, ReplayError, replay
from tb.csig.traffic import random_setup, random_trace, random_writes

COUNT = 100_000

CONFIGS = {
    "bank": CsigConfig(ports=3, clocks=2, time_bits=64),
    # The same hardware as `tb/csig/test_netweave_csig.py` wants.
    "uec": CsigConfig(layout="uec", sources="native", update_discarded=True),
    "wraps": CsigConfig(formats=("compact",), sources="native", time_bits=24),
    "agent": CsigConfig(ports=2, layout="uec", formats=("compact",), sources="agent"),
}


@cache
def case(name: str) -> tuple[CsigConfig, Setup, Trace, Writes]:
    rng = np.random.default_rng(5)
    config = CONFIGS[name]
    setup = random_setup(config, rng, "update")
    trace = random_trace(config, setup, COUNT, rng)
    return config, setup, trace, random_writes(config, setup, trace, rng)


def run(name: str, setup: Setup | None = None) -> Answers:
    config, same, trace, written = case(name)
    with Replay(config, setup or same) as hop:
        return hop.run(trace, written)


@pytest.mark.parametrize("name", CONFIGS)
def test_agrees_with_the_model(name: str) -> None:
    config, setup, trace, written = case(name)
    got = run(name)
    assert got.differences(VectorizedHop(config, setup).serve(trace, written)) == {}
    assert 0.1 < got.replaced.mean() < 0.9
    assert got.unknown.mean() > 0.01
    assert got.stale.any() == config.agent
    assert name != "wraps" or trace.time_ns[-1] > 1 << config.time_bits
    assert not got.stripped.any()
    shares = [got.replaced[trace.signal == signal].mean() for signal in range(4)]
    assert sum(0 < share < 1 for share in shares) >= 3


def test_wrong_bounds_are_seen() -> None:
    """The checker can fail: thresholds a twentieth too high change some answers, and no more."""
    config, setup, trace, written = case("bank")
    place, port = next(
        (place, port)
        for place, port in enumerate(setup.ports)
        if port.origin("delay") == "native" and len(port.compact["delay"].bounds) > 5
    )
    old = port.compact["delay"]
    new = replace(old, bounds=tuple(bound * 21 / 20 for bound in old.bounds))
    ports = list(setup.ports)
    ports[place] = replace(port, compact=port.compact | {"delay": new})
    other = replace(setup, ports=tuple(ports))
    found = run("bank", other).differences(VectorizedHop(config, setup).serve(trace, written))
    assert 0 < found["value"] < COUNT / 20


def test_calls_go_on_where_the_last_one_ended() -> None:
    config, setup, trace, written = case("bank")
    with Replay(config, setup) as hop:
        cuts = [0, 1, 777, 50_000, COUNT]
        parts = [
            hop.run(trace[first:end], written.among(slice(first, end)))
            for first, end in pairwise(cuts)
        ]
    assert Answers.joined(parts).differences(run("bank")) == {}


def test_pass_and_strip() -> None:
    """The same packets, after the ports' records have been written anew in mid-traffic."""
    config, setup, trace, written = case("bank")
    half = COUNT // 2
    actions = ("pass", "strip", "update")
    ports = tuple(replace(p, action=a) for p, a in zip(setup.ports, actions, strict=True))
    model = VectorizedHop(config, setup)
    with Replay(config, setup) as hop:
        for rows, after in ((slice(0, half), None), (slice(half, COUNT), ports)):
            if after:
                model.change(replace(setup, ports=after))
                for port in after:
                    hop.write(table_writes(config, port, setup.windows.index(port.window_ns)))
            got = hop.run(trace[rows], written.among(rows))
            assert got.differences(model.serve(trace[rows], written.among(rows))) == {}
    port = trace.port[half:]
    assert got.stripped[port == 1].mean() > 0.9
    assert not got.replaced[port < 2].any()
    assert got.replaced[port == 2].any()


def test_counters_are_those_of_the_packets() -> None:
    config, setup, trace, written = case("bank")
    with Replay(config, setup) as hop:
        got = hop.run(trace, written)
        for port in range(config.ports):
            here = trace.port == port
            expected = {"packets": here} | {
                name: getattr(got, name) & here for name in ("replaced", "stripped", "unknown")
            }
            found = hop.counters(port)
            assert {name: found[name] for name in expected} == {
                name: int(values.sum()) for name, values in expected.items()
            }
            assert found["stale"] == int((got.stale & here).sum())


def test_one_packet_a_cycle_for_any_ports() -> None:
    config, setup, trace, _ = case("bank")
    slowly = replace(trace, time_ns=np.arange(COUNT) // 4)
    with Replay(config, setup) as hop:
        hop.run(trace[:1])
        for packets in (slowly, replace(slowly, port=np.zeros(COUNT, np.int32))):
            before = hop.cycles
            hop.run(packets)
            assert COUNT < hop.cycles - before < COUNT + 50


def test_agents_at_work_as_the_golden_model_has_them() -> None:
    """The whole of it: native and agents' values, late and stale ones, against the golden hop."""
    config, setup, trace, _ = case("bank")
    ports = tuple(replace(port, wide={}) for port in setup.ports)
    agents = {n: Agent(period_ns=p, delay_ns=d, timeout_ns=t) for n, p, d, t in _agents()}
    setup = Setup(ports=ports, agents=agents)
    packets = trace[:4000]
    assert len(writes(setup, packets)) > 100
    got = replay(config, setup, packets, chunk=1500)
    expected = serve(config, setup, packets)
    columns = [values.tolist() for values in vars(got).values()]
    assert list(zip(*columns, strict=True)) == expected
    assert got.stale.any()


def _agents() -> list[tuple[int, int, int, int | None]]:
    return [(0, 2000, 100, None), (1, 700, 0, 600), (2, 5000, 3000, 1000)]


@pytest.mark.parametrize("start", [2**32 - 20_000, 2**40, 2**62 - 10**9])
def test_times_beyond_32_bits(start: int) -> None:
    """Edges are kept in 32 bits that wrap around; times of agents are compared whole."""
    config, setup, trace, written = case("bank")
    later = replace(trace, time_ns=trace.time_ns + start)[:20_000]
    among = written.among(slice(0, 20_000))
    among = replace(among, until_ns=among.until_ns + start)
    with Replay(config, setup) as hop:
        got = hop.run(later, among)
    assert got.differences(VectorizedHop(config, setup).serve(later, among)) == {}


def test_progress_and_no_packets() -> None:
    config, setup, trace, _ = case("uec")
    seen: list[int] = []
    got = replay(config, setup, trace[:300], progress=seen.append, chunk=128)
    assert seen == [128, 256, 300]
    assert got.differences(answer(config, setup, trace[:300])) == {}
    assert len(replay(config, setup, trace[:0])) == 0
    assert (got.value[trace.value[:300] == NO_TAG] == NO_TAG).all()


def test_stuck_hop() -> None:
    config, setup, trace, _ = case("bank")
    with Replay(config, setup) as hop:
        hop.patience = 3  # the pipeline is longer
        with pytest.raises(ReplayError, match="^nothing moved for 3 cycles with packet 0 waiting$"):
            hop.run(trace[:1])


BROKEN = """
module hop(input clk, input rst, input [111:0] s_axis_tdata, input s_axis_tvalid,
           output s_axis_tready, input [31:0] s_time, output [35:0] m_axis_tdata,
           output m_axis_tvalid, input m_axis_tready, input [63:0] s_table_tdata,
           input s_table_tvalid, output s_table_tready, input [31:0] s_count_tdata,
           input s_count_tvalid, output s_count_tready, output [255:0] m_count_tdata,
           output m_count_tvalid, input m_count_tready, input [23:0] set_window_0);
  reg valid, replaced; reg [31:0] tag;
  wire [2:0] fault = s_axis_tdata[34:32];  // the low bits of a packet's length
  always @(posedge clk) begin
    valid <= s_axis_tvalid & ~rst;
    tag <= s_axis_tdata[31:0] ^ (fault == 3 ? 4096 : fault > 0);
    replaced <= fault != 2;
  end
  assign s_axis_tready = 1, s_table_tready = s_table_tdata[2:0] != 7, s_count_tready = 1;
  assign m_axis_tdata = {3'd0, replaced, tag}, m_axis_tvalid = valid | s_axis_tvalid & fault == 4;
  assign m_count_tvalid = 0, m_count_tdata = 0;
endmodule
"""


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> Iterator[Replay]:
    base, setup, _, _ = case("uec")
    # Libraries are kept by config; tags of this one have 32 bits.
    config = replace(base, layout="draft", formats=("compact",), longest_window_ns=9999)
    monkeypatch.setattr("tb.csig.replay.block_verilog", lambda *_: BROKEN)
    with Replay(config, setup, patience=20) as hop:
        yield hop


def faulty(fault: int) -> Trace:
    zero = np.zeros(5)
    return Trace.of(zero, zero, zero + fault, zero, zero, zero, zero, np.arange(5), np.arange(5))


def test_wrong_answers_are_seen(broken: Replay) -> None:
    assert broken.run(faulty(0)).locator.tolist() == [0, 1, 2, 3, 4]
    assert broken.run(faulty(1)).locator.tolist() == [1, 0, 3, 2, 5]
    for fault in (2, 3):
        said = "^bits of packet 10's tag changed that are to stay$"
        with pytest.raises(ReplayError, match=said):
            broken.run(faulty(fault))
    with pytest.raises(ReplayError, match="^an answer came while none was due, after 10 answers$"):
        broken.run(faulty(4))


def test_what_does_not_come_is_seen(broken: Replay) -> None:
    with pytest.raises(ReplayError, match="^no counters of port 0 in 20 cycles$"):
        broken.counters(0)
    words = [Write(kind=6, port=0, signal=0, index=0, value=0)]
    broken.write(words)
    with pytest.raises(ReplayError, match="^table write 1 was not taken in 20 cycles$"):
        broken.write([*words, replace(words[0], kind=7)])
