"""How often packets are marked, with the register's own random numbers, against what P says.

The bit-exact model, which the Verilog is held against packet by packet, serves a job whose state
stands still, so that each packet is a coin of one known P. Each check is an exact two-sided
binomial test, or a normal one of a correlation, at `LEVEL`: a right coin would fail one of the some
220 checks here with a probability of 0.02 % for seeds that nobody has chosen. The seeds are fixed.
That the checks would see a coin 5 % off is tested, too.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from models.symphony.answers import Answers
from models.symphony.coin import gap_probability, probability
from models.symphony.config import SymphonyConfig
from models.symphony.red import red_probability
from models.symphony.slots import Orders
from models.symphony.trace import Trace
from models.symphony.vectorized import VectorizedSymphony

LEVEL = 1e-6
DEVIATIONS = 4.892  # of a normal variable that exceeds them, on either side, at LEVEL
COUNT = 1 << 17
LAGS = 16

REC = 1000
PSNS = (37, 250, 1000, 2345, 13_000, 36_777, 81_000)
"""P = PSN / 100,000: from 0.04 % to 81 %."""

BOUND = {"log": 0.05, "exact": 0.01}
"""Largest relative error of P, the random number's own included."""


def coins(config: SymphonyConfig, psn: int, queue_bytes: int = 0) -> Answers:
    """COUNT packets ahead of step_min at `psn`, psn_rec being REC and α 1; time moves on by 1 ns a
    packet, in one window."""
    trace = Trace.of(
        np.arange(COUNT + 1),
        np.zeros(COUNT + 1),
        np.append(0, np.ones(COUNT)),
        np.append(REC, np.full(COUNT, psn)),
        np.zeros(COUNT + 1),
        np.full(COUNT + 1, queue_bytes),
    )
    model = VectorizedSymphony(config)
    model.serve(trace[:1], Orders.of([0], [0], [1]))
    return model.serve(trace[1:])


def config(arithmetic: str, seed: int) -> SymphonyConfig:
    return SymphonyConfig(jobs=1, arithmetic=arithmetic, seed=seed, window_ns=2**31)


def tails(count: int, marks: int, p: float) -> float:
    """Return the probability, by the binomial distribution, of so few or so many marks, the smaller
    one twice."""
    if p in (0.0, 1.0):
        return float(marks == count * p)
    logs = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, count + 1)))])
    k = np.arange(count + 1)
    chance = logs[count] - logs - logs[::-1] + k * math.log(p) + (count - k) * math.log1p(-p)
    share = np.exp(chance)
    return min(1.0, 2 * min(share[: marks + 1].sum(), share[marks:].sum()))


def agrees(marks: np.ndarray, p: float) -> bool:
    return tails(len(marks), int(marks.sum()), p) >= LEVEL


@pytest.mark.parametrize("seed", [0, 1, 2**62 + 5])
@pytest.mark.parametrize("arithmetic", ["log", "exact"])
def test_rate_of_marks(arithmetic: str, seed: int) -> None:
    """Against the share of all random numbers that mark, and against the paper's P, from which that
    may differ by the arithmetic's bound."""
    c, bound = config(arithmetic, seed), BOUND[arithmetic]
    for psn in PSNS:
        got = coins(c, psn)
        assert got.gap is not None
        share = gap_probability(c, int(got.gap[0]))
        assert agrees(got.symphony, share), f"psn {psn}: {got.symphony.mean()}, not {share}"
        p = probability(c, 1, psn, REC)
        assert p == pytest.approx(psn / REC / 100)
        assert abs(share / p - 1) <= bound
        near = np.clip(got.symphony.mean(), p * (1 - bound), p * (1 + bound))
        assert agrees(got.symphony, float(near)), f"psn {psn}: {got.symphony.mean()}, not {p}"


@pytest.mark.parametrize("arithmetic", ["log", "exact"])
def test_certain_and_impossible(arithmetic: str) -> None:
    c = config(arithmetic, 3)
    assert coins(c, 110 * REC).symphony.all()
    assert not coins(c, 0).symphony.any()


@pytest.mark.parametrize("queue", [50_001, 50_900, 62_345, 75_000, 99_999])
def test_rate_of_red(queue: int) -> None:
    c = config("log", 4)
    got = coins(c, 0, queue)
    p = red_probability(c, queue)
    # RED draws one of 2^12 thresholds, from a width rounded to 1/256 of itself.
    near = np.clip(got.red.mean(), p * (1 - 1 / 256) - 2**-12, p * (1 + 1 / 256) + 2**-12)
    assert agrees(got.red, float(near)), f"{got.red.mean()}, not {p}"


def correlation(a: np.ndarray, b: np.ndarray) -> float:
    """Return by how many standard deviations two rows of marks go together."""
    return float(np.corrcoef(a, b)[0, 1]) * math.sqrt(len(a))


@pytest.mark.parametrize("arithmetic", ["log", "exact"])
@pytest.mark.parametrize("psn", [2345, 13_000, 50_000])
def test_marks_in_a_row_are_independent(arithmetic: str, psn: int) -> None:
    marks = coins(config(arithmetic, 6), psn).symphony
    for lag in range(1, LAGS + 1):
        assert abs(correlation(marks[:-lag], marks[lag:])) <= DEVIATIONS, lag


def test_both_coins_are_independent() -> None:
    """They take different bits of one random word."""
    got = coins(config("log", 7), 13_000, 75_000)
    for lag in range(-LAGS, LAGS + 1):
        symphony = got.symphony[LAGS + lag : COUNT - LAGS + lag]
        red = got.red[LAGS : COUNT - LAGS]
        assert abs(correlation(symphony, red)) <= DEVIATIONS, lag


def test_seeds_give_other_marks() -> None:
    one, other = (coins(config("log", seed), 50_000).symphony for seed in (8, 9))
    assert abs(correlation(one, other)) <= DEVIATIONS


def test_what_is_wrong_is_seen() -> None:
    """A coin 5 % off, one that copies its neighbour now and then, and one constant too often."""
    marks = coins(config("log", 0), 13_000).symphony
    share = float(marks.mean())
    assert agrees(marks, share)
    assert not agrees(marks, share * 1.05)
    assert not agrees(marks, share / 1.05)
    copying = np.where(np.arange(COUNT) % 32 == 0, np.roll(marks, 1), marks)
    assert abs(correlation(copying[:-1], copying[1:])) > DEVIATIONS


def test_tails_are_the_binomial_distribution() -> None:
    assert tails(4, 0, 0.5) == pytest.approx(2 / 16)
    assert tails(4, 1, 0.5) == pytest.approx(10 / 16)
    assert tails(10, 10, 0.3) == pytest.approx(2 * 0.3**10)
    assert tails(3, 3, 1.0) == 1 and tails(3, 2, 1.0) == 0
    assert 2 * (1 - 0.5 * (1 + math.erf(DEVIATIONS / math.sqrt(2)))) == pytest.approx(
        LEVEL, rel=0.01
    )
