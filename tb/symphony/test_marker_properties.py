"""What must hold of the golden model whatever comes (sections 3.4.1 and 3.5)."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tb.symphony.test_marker_model import PAPER, serve, state, switch

PACKETS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 60), st.booleans(), st.integers(0, 40_000)),
    min_size=1,
    max_size=40,
)


@given(PACKETS, st.data())
def test_duplicates_change_nothing_but_counts(made: list, data: st.DataObject) -> None:
    """Section 3.4.1: every packet of a window again, right behind itself, leaves the same
    (step_min, psn_rec), and so the same probabilities while α is the same."""
    once, twice = switch(replace(PAPER, n_sample=65534)), switch(replace(PAPER, n_sample=65534))
    for step, psn, last, _ in made:
        verdict = serve(once, step, psn, last)
        serve(twice, step, psn, last)
        if data.draw(st.booleans()):
            verdict = replace(verdict, outpacing=False)
            again = serve(twice, step, psn, last)
            assert again.probability == (0.0 if last else verdict.probability)
        assert state(once) == state(twice)
    assert once.jobs[0].cnt_total == len(made) <= twice.jobs[0].cnt_total


@given(PACKETS)
def test_a_lost_last_packet_never_stops_lagging_flows(made: list) -> None:
    """Section 3.4.1: without a last packet step_min stays, and no packet of that step is ever
    marked, whatever else comes."""
    model = switch(replace(PAPER, k=1, n_warmup=0))
    time = 0
    for step, psn, _, later in made:
        time += later
        lagging = step <= model.jobs[0].step_min
        verdict = serve(model, step, psn, False, time_ns=time)
        assert not (lagging and verdict.symphony)
        assert model.jobs[0].step_min == 0


@given(PACKETS, PACKETS)
def test_a_job_never_touches_another(mine: list, others: list) -> None:
    """Section 3.5: a job's verdicts are the same alone and among other jobs."""
    config = replace(PAPER, n_warmup=3)
    alone, among = switch(config), switch(config, jobs=(0, 1, 2))
    time = 0
    for number, (step, psn, last, later) in enumerate(mine):
        time += later
        for rival in others[number : number + 2]:
            serve(among, *rival[:3], time_ns=time, job=1 + number % 2)
        word = number * 0x1234567 % 2**PAPER.random_bits
        want = serve(alone, step, psn, last, time_ns=time, random=word)
        assert serve(among, step, psn, last, time_ns=time, random=word) == want
    assert alone.jobs[0] == among.jobs[0]


def test_a_late_flow_is_found_again() -> None:
    """Section 3.4.1, late arrivals: an outpacing flow has moved step_min on; one packet of the
    lagging step brings it back, and the outpacing flow is throttled from there on."""
    model = switch()
    serve(model, 5, 90, last=True)
    assert not serve(model, 6, 50).outpacing
    serve(model, 5, 40)
    verdict = serve(model, 6, 80)
    assert verdict.outpacing and verdict.probability == pytest.approx(0.02)


def test_no_state_no_marks() -> None:
    """With no slot at all Symphony marks nothing, and RED marks as ever."""
    model = switch(replace(PAPER, k=1), jobs=())
    rng = random.Random(1)
    for number in range(500):
        queue = rng.choice((0, 75_000, 200_000))
        verdict = serve(
            model, rng.randrange(9), rng.getrandbits(24), rng.random() < 0.1,
            time_ns=number * 300, queue_bytes=queue,
        )  # fmt: skip
        assert not (verdict.known or verdict.symphony or verdict.outpacing)
        assert verdict.probability == 0
        assert verdict.red or queue < 200_000
    assert (model.counters[0].unknown, model.counters[0].packets) == (500, 0)
