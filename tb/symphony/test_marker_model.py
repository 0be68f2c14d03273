"""The golden model against the paper, by hand: Algorithm 1 line by line, windows, α, both coins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from models.common.ecn import CE, ECT0, ECT1, NOT_ECT
from models.common.lfsr import initial_state, next_state
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.marker import Counters, Job, Packet, Symphony, Verdict

PAPER = SymphonyConfig()
WARM = PAPER.n_warmup + 1
WINDOW = PAPER.window_ns


def switch(config: SymphonyConfig = PAPER, jobs: Iterable[int] = (0,)) -> Symphony:
    made = Symphony(config)
    for job in jobs:
        made.give(job)
    return made


def serve(model: Symphony, step: int, psn: int, last: bool = False, **more: Any) -> Verdict:
    """Serve a packet of job 0 at time 1, unless `more` says otherwise."""
    return model.serve(Packet(**{"time_ns": 1, "job": 0, **more}, step=step, psn=psn, last=last))


def state(model: Symphony, job: int = 0) -> tuple[int, int, int]:
    found = model.jobs[job]
    return found.step_min, found.psn_rec, found.alpha


def word(config: SymphonyConfig, value: float) -> int:
    """The random word whose coin's number is just below `value`, a power of two; RED's is 0."""
    zeros = round(-math.log2(value))
    m, e = config.random_mantissa_bits, config.random_exponent_bits
    return ((1 << e - zeros - 1) << m | (1 << m) - 1) << RED_BITS


def test_a_new_job() -> None:
    assert Job() == Job(step_min=0, psn_rec=0, alpha=1, cnt_total=0, cnt_op=0)
    assert state(switch()) == (0, 0, 1)


def test_algorithm_1_line_by_line() -> None:
    """One job's packets, and (step_min, psn_rec) behind each with P as it is by hand."""
    model = switch()
    rows = [
        # step, psn, last, step_min, psn_rec, P
        (0, 10, False, 0, 10, 0.0),  # line 9: the maximum rises
        (1, 50, False, 0, 10, 0.0),  # ahead, but psn_rec warms up
        (0, 40, False, 0, 40, 0.0),  # line 9
        (0, 20, False, 0, 40, 0.0),  # line 9: the maximum stays
        (1, 80, False, 0, 40, 0.02),  # lines 14 and 15: 0.01 · 1 · 80/40
        (3, 4000, False, 0, 40, 1.0),  # line 15: min(1, 0.01 · 100)
        (3, 8000, False, 0, 40, 1.0),
        (1, 0, False, 0, 40, 0.0),  # a gap of 0
        (0, 50, True, 1, 0, 0.0),  # lines 4 and 5
        (2, 10, False, 1, 0, 0.0),  # ahead of the new step_min
        (1, 60, False, 1, 60, 0.0),  # line 9
        (2, 30, False, 1, 60, 0.005),
        (0, 55, False, 0, 55, 0.0),  # line 7: an earlier step corrects
        (1, 110, False, 0, 55, 0.02),
        (4, 9, True, 5, 0, 0.0),  # line 4 believes any last packet
        (4, 5, False, 4, 5, 0.0),  # line 7
        (2, 99, True, 3, 0, 0.0),  # line 4, of an earlier step
        (3, 7, False, 3, 7, 0.0),
    ]
    for step, psn, last, step_min, psn_rec, p in rows:
        verdict = serve(model, step, psn, last)
        assert state(model)[:2] == (step_min, psn_rec), (step, psn)
        assert verdict.probability == pytest.approx(p), (step, psn)


@pytest.mark.parametrize(("above", "p"), [(-1, 0.0), (0, 0.0), (1, 0.01)])
def test_warm_up(above: int, p: float) -> None:
    """Line 11: psn_rec ≤ N_warmup tosses no coin."""
    model = switch()
    psn = PAPER.n_warmup + above
    serve(model, 0, psn)
    assert serve(model, 1, psn).probability == p


def test_a_packet_counts_against_step_min_from_before_itself() -> None:
    """Line 2 comes before line 4: a last packet that is ahead is outpacing."""
    model = switch()
    assert serve(model, 1, 5, last=True).outpacing
    assert (model.jobs[0].cnt_op, model.jobs[0].cnt_total) == (1, 1)
    assert not serve(model, 1, 5).outpacing


def test_the_coin_is_tossed_with_the_random_number() -> None:
    """P = 1/4 marks what is drawn below it, and not what is drawn above."""
    config = replace(PAPER, k=0.25)
    model = switch(config)
    serve(model, 0, 40)
    for value, heads in ((2**-2, True), (2**-1, False), (2**-20, True)):
        verdict = serve(model, 1, 40, random=word(config, value))
        assert (verdict.probability, verdict.symphony) == (0.25, heads)


def test_random_words_are_the_registers_in_turn_given_or_not() -> None:
    model = switch(replace(PAPER, seed=5))
    registers = [initial_state(5)]
    for _ in range(3):
        registers.append(next_state(registers[-1]))
    packets = [Packet(0, 0, 0, 0), Packet(0, 0, 0, 0, random=7), Packet(0, 0, 0, 0)]
    words = [model.draw(packet) for packet in packets]
    bits = 2**PAPER.random_bits
    assert words == [registers[0] % bits, 7, registers[2] % bits]


def window(model: Symphony, number: int, ahead: int, lagging: int) -> None:
    """A window's packets, of step 1 and 0."""
    for step, count in ((0, lagging), (1, ahead)):
        for _ in range(count):
            serve(model, step, WARM, time_ns=number * WINDOW + 1)


def test_alpha_follows_the_share_of_outpacing_packets() -> None:
    """Equations 2, 3 and 5: one more where ρ ≥ τ = 1/4, one less where it is below, from 1 up."""
    model = switch()
    seen = []
    for number, (ahead, lagging) in enumerate([(25, 75), (10, 30), (24, 76), (0, 99), (0, 99)]):
        window(model, number, ahead, lagging)
        seen.append(state(model)[2])
    serve(model, 0, 1, time_ns=5 * WINDOW)
    assert [*seen, state(model)[2]] == [1, 2, 3, 2, 1, 1]


def test_sample_guard() -> None:
    """Cnt_total > N_sample: 32 packets are too few, 33 are enough."""
    model = switch()
    window(model, 0, 32, 0)
    window(model, 1, 33, 0)
    assert state(model)[2] == 1
    window(model, 2, 0, 0)
    serve(model, 0, 1, time_ns=2 * WINDOW)
    assert state(model)[2] == 2


def test_alpha_stops_at_its_ceiling() -> None:
    model = switch(replace(PAPER, alpha_max=3))
    for number in range(6):
        window(model, number, 33, 1)
    assert state(model)[2] == 3


def test_alpha_scales_the_probability() -> None:
    """Equation 1: after 4 windows of misalignment P is five times as high."""
    model = switch()
    for number in range(4):
        window(model, number, 30, 10)
    serve(model, 0, 50, time_ns=4 * WINDOW)
    assert serve(model, 1, 100, time_ns=4 * WINDOW).probability == pytest.approx(0.1)


def test_windows_without_packets_change_nothing() -> None:
    model = switch()
    window(model, 0, 40, 10)
    serve(model, 0, 1, time_ns=1_000_000 * WINDOW)
    assert state(model)[2] == 2


@pytest.mark.parametrize(("time_ns", "p"), [(WINDOW - 1, 0.01), (WINDOW, 0.0)])
def test_psn_rec_starts_anew_in_each_window(time_ns: int, p: float) -> None:
    """Section 3.4.2; windows begin at multiples of their length."""
    model = switch()
    serve(model, 0, 40)
    assert serve(model, 1, 40, time_ns=time_ns).probability == p


def test_intervals_set_apart() -> None:
    model = switch(replace(PAPER, psn_window_ns=30_000))
    window(model, 0, 40, 10)
    serve(model, 1, 5, time_ns=30_000)
    assert state(model) == (0, 0, 1)
    serve(model, 0, 9, time_ns=99_999)
    serve(model, 1, 5, time_ns=100_000)
    assert state(model) == (0, 9, 2)


def test_positions_where_psns_run_on() -> None:
    """100 packets a step: PSN 250 of step 2 is as far as PSN 150 of step 1."""
    model = switch(replace(PAPER, step_packets=100))
    serve(model, 1, 150, last=False, time_ns=1)
    assert state(model)[:2] == (0, 0)
    serve(model, 0, 50)
    assert state(model)[:2] == (0, 50)
    assert serve(model, 1, 150).probability == pytest.approx(0.01)
    assert serve(model, 2, 250).probability == pytest.approx(0.01)


def test_steps_that_wrap_and_steps_that_do_not() -> None:
    top = 2**PAPER.step_bits - 1
    for wrap, step_min, ahead in (("serial", 0, True), ("plain", top, False)):
        model = switch(replace(PAPER, step_wrap=wrap))
        serve(model, top - 1, 5, last=True)
        assert serve(model, 0, 5).outpacing == ahead
        serve(model, top, 5, last=True)
        assert state(model)[0] == step_min


@pytest.mark.parametrize("ecn", [NOT_ECT, ECT0, ECT1, CE])
def test_marks_of_both_coins(ecn: int) -> None:
    """Section 3.3: either coin marks; RFC 3168: Not-ECT never leaves as CE."""
    model = switch(replace(PAPER, k=1))
    serve(model, 0, 40)
    may = ecn != NOT_ECT
    for psn, queue, symphony, red in (
        (0, 0, False, False),
        (40, 0, True, False),
        (0, 100_001, False, True),
        (40, 100_001, True, True),
    ):
        verdict = serve(model, 1, psn, queue_bytes=queue, ecn=ecn)
        assert (verdict.symphony, verdict.red) == (symphony, red)
        assert verdict.mark == (may and (symphony or red))
        assert verdict.ecn == (CE if verdict.mark else ecn)
    assert model.counters[0] == Counters(
        packets=5, outpacing=4, symphony=2 * may, red=2 * may, unknown=0
    )


def test_slots_come_and_go() -> None:
    model = switch(replace(PAPER, k=1))
    serve(model, 0, 40)
    assert serve(model, 1, 40).symphony
    model.take(0)
    model.take(5)
    assert not serve(model, 1, 40).known
    assert model.counters[0] == Counters(packets=2, outpacing=1, symphony=1, unknown=1)
    model.give(0)
    assert state(model) == (0, 0, 1)
    assert model.counters[0] == Counters()


def test_time_that_stands_stops_symphony_until_it_moves() -> None:
    """Section 5: without time there are no windows, and RED is left."""
    model = switch(replace(PAPER, k=1, time_timeout=3))
    serve(model, 0, 40, time_ns=7)
    seen = [serve(model, 1, 40, time_ns=t, queue_bytes=200_000) for t in (7, 7, 7, 7, 6, 8, 8)]
    assert [v.symphony for v in seen] == [True, True, False, False, False, True, True]
    assert all(v.red for v in seen)
    assert model.jobs[0].cnt_total == 8
