"""Replay of the generated Verilog against the bit-exact model and the golden one."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from models.symphony.accuracy import errors
from models.symphony.config import SymphonyConfig, preset
from models.symphony.slots import Orders
from models.symphony.trace import Trace
from models.symphony.vectorized import VectorizedSymphony, answer
from tb.symphony.replay import Replay, ReplayError, replay
from tb.symphony.traffic import random_orders, random_trace

COUNT = 120_000

CONFIGS = {
    "log": SymphonyConfig(
        jobs=70, seed=1, k=0.1, window_ns=5000, n_sample=20, alpha_max=9, time_timeout=1000
    ),
    "exact": SymphonyConfig(
        jobs=5,
        arithmetic="exact",
        psn_bits=12,
        step_bits=5,
        step_packets=40,
        window_ns=900,
        psn_window_ns=333,
        n_warmup=3,
        n_sample=0,
        tau=0.3,
        time_bits=32,
        time_timeout=6,
    ),
    "plain": SymphonyConfig(
        jobs=1, step_bits=4, step_wrap="plain", psn_bits=6, window_ns=100, n_warmup=0, kmax=300_000
    ),
}


@cache
def case(name: str) -> tuple[SymphonyConfig, Trace, Orders]:
    rng = np.random.default_rng(1)
    config = CONFIGS[name]
    return config, random_trace(config, COUNT, rng), random_orders(config, COUNT, rng)


@pytest.mark.parametrize("name", CONFIGS)
def test_agrees_with_the_model(name: str) -> None:
    config, trace, orders = case(name)
    got = replay(config, trace, orders)
    assert got.differences(answer(config, trace, orders)) == {}
    assert replay(config, trace, orders, chunk=7777).differences(got) == {}
    for column in (got.known, got.outpacing, got.symphony, got.red, got.mark):
        assert column.any()
        assert not column.all()
    assert (got.probability > 0).mean() > 0.05


@pytest.mark.parametrize("name", ["log", "exact"])
def test_counters_are_those_of_the_packets(name: str) -> None:
    config, trace, _ = case(name)
    given = np.arange(config.jobs - 1)
    orders = Orders.of(np.zeros(len(given)), given, np.ones(len(given)))
    with Replay(config) as marker:
        got = marker.run(trace, orders)
        found = marker.counters(range(config.jobs))
    may = trace.codepoints() != 0
    counted = {
        "packets": got.known,
        "outpacing": got.outpacing,
        "symphony": got.symphony & may,
        "red": got.red & may,
        "unknown": ~got.known,
    }
    for name, packets in counted.items():
        expected = np.bincount(trace.job[packets], minlength=config.jobs)
        assert [row[name] for row in found] == expected.tolist()
    assert [row["known"] for row in found] == [1] * len(given) + [0]


def test_settings_differ_without_a_new_library() -> None:
    config, trace, orders = case("log")
    changed = replace(config, n_warmup=100, tau=0.75, window_ns=4999, kmin=1000, pmax=0.5)
    expected = answer(changed, trace, orders)
    assert replay(changed, trace, orders).differences(expected) == {}
    assert answer(config, trace, orders).differences(expected)


def test_one_packet_a_cycle_for_any_jobs() -> None:
    config, trace, orders = case("log")
    still = replace_columns(trace, time_ns=np.arange(COUNT) // 8)
    one = replace_columns(still, job=np.zeros(COUNT))
    with Replay(config) as marker:
        marker.run(trace[:1], orders.among(slice(0, 1)))
        for packets in (still, one):
            before = marker.cycles
            marker.run(packets)
            assert COUNT < marker.cycles - before < COUNT + 50


def replace_columns(trace: Trace, **columns: np.ndarray) -> Trace:
    return Trace.of(**(trace.columns() | columns))


def test_stopped_time_leaves_red_alone() -> None:
    """A clock that stands still: after the timeout Symphony marks nothing, until it moves on."""
    config, trace, orders = case("log")
    times = np.minimum(np.arange(COUNT), 50_000)
    times[100_000:] += np.arange(20_000)
    stopped = replace_columns(trace, time_ns=times)
    got = replay(config, stopped, orders)
    assert got.differences(answer(config, stopped, orders)) == {}
    assert not got.symphony[51_001:100_000].any()
    assert got.red[51_001:100_000].any()
    assert got.symphony[:50_000].any()
    assert got.symphony[100_000:].any()


def test_progress_and_no_packets() -> None:
    config, trace, orders = case("log")
    seen: list[int] = []
    replay(config, trace[:300], orders.among(slice(0, 300)), progress=seen.append, chunk=128)
    assert seen == [128, 256, 300]
    assert len(replay(config, trace[:0], Orders.of())) == 0


def test_log_is_within_its_bound_of_real_numbers() -> None:
    """The effective probability of every packet, against equation 4 of the same state."""
    config = preset("log-64", seed=9)
    rng = np.random.default_rng(2)
    trace = random_trace(config, COUNT, rng)
    answers = VectorizedSymphony(config).serve(trace, random_orders(config, COUNT, rng))
    assert answers.real is not None
    tossed = answers.real > 0
    error = np.abs(answers.probability[tossed] / answers.real[tossed] - 1)
    assert error.max() > 0.01
    assert error.max() <= max(errors(config)) <= 0.05
    assert not answers.probability[~tossed].any()


def test_stuck_marker() -> None:
    config, trace, _ = case("log")
    with (
        Replay(config, patience=3) as marker,  # the memories are still being swept
        pytest.raises(ReplayError, match="^nothing moved for 3 cycles with packet 0 waiting$"),
    ):
        marker.run(trace[:1])


BROKEN = """
module marker(input clk, input rst, input [63:0] s_axis_tdata, input s_axis_tvalid,
              output s_axis_tready, input [63:0] s_time, input [63:0] s_random, input s_random_en,
              output [6:0] m_axis_tdata, output [15:0] m_axis_tuser, output m_axis_tvalid,
              input m_axis_tready, input [15:0] s_ctrl_tdata, input s_ctrl_tvalid,
              output s_ctrl_tready, output [191:0] m_ctrl_tdata, output m_ctrl_tvalid,
              input m_ctrl_tready, SETTINGS);
  reg valid;
  always @(posedge clk) valid <= s_axis_tvalid & ~rst;
  assign s_axis_tready = 1, s_ctrl_tready = 1, m_axis_tdata = 0, m_axis_tuser = 0;
  assign m_ctrl_tdata = 0;
  assign m_axis_tvalid = set_n_warmup[0] ? valid : ~valid;
  assign m_ctrl_tvalid = set_n_warmup[0] & valid;
endmodule
"""


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (0, "^an answer came while none was due, after 0 answers$"),
        (1, "^the control plane got an answer without an order, after 1 packets' answers$"),
    ],
)
def test_wrong_answers_are_seen(monkeypatch: pytest.MonkeyPatch, fault: int, message: str) -> None:
    """The setting n_warmup chooses the fault."""
    config, trace, _ = case("plain")
    names = ("window", "tau", "n_sample", "n_warmup", "alpha_max", "k", "kmin", "kmax")
    ports = ", ".join(f"input [31:0] set_{n}" for n in (*names, "red_scale", "red_shift"))
    text = BROKEN.replace("SETTINGS", ports)
    monkeypatch.setattr("tb.symphony.replay.block_verilog", lambda *_: text)
    with (
        Replay(replace(config, n_warmup=10 + fault)) as marker,
        pytest.raises(ReplayError, match=message),
    ):
        marker.run(trace[:5])
