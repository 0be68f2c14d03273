"""The coin: both forms against exact arithmetic, hardware against both."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.symphony.beat import tracked
from models.symphony.coin import (
    Uniform,
    drawn,
    gap,
    gap_bits,
    gap_probability,
    mark,
    probability,
    split,
    split_all,
)
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.progress import stored
from models.symphony.settings import EXACT_K_BITS, k_code, k_exponent, setting_bits
from rtl.symphony.coin import Coin
from tb.symphony.blocks import Beat, beats, configs, held

GAINS = [1e-4, 1 / 8192, 0.003, 1 / 128, 0.0079, 0.01, 0.3, 0.5, 0.999, 1.0]
TINY: dict[str, Any] = {"psn_bits": 4, "n_warmup": 1, "alpha_max": 5}


def drawable(c: SymphonyConfig) -> Iterator[tuple[Uniform, Fraction, Fraction]]:
    """Every random number of the coin: its bits, its value, and its share of all words."""
    m, most = c.random_mantissa_bits, c.random_exponent_bits
    for exponent in range(most + 1):
        weight = Fraction(1, 2 ** (min(exponent, most - 1) + 1 + m))
        for mantissa in range(1 << m):
            value = (1 + (mantissa + Fraction(1, 2)) / 2**m) / 2 ** (exponent + 1)
            yield Uniform(exponent, mantissa), value, weight


def test_shares_of_random_numbers_add_up() -> None:
    for arithmetic in ("log", "exact"):
        c = SymphonyConfig(arithmetic=arithmetic, **TINY)
        assert sum(weight for _, _, weight in drawable(c)) == 1


@given(st.integers(0, 2**64 - 1), st.sampled_from(["log", "exact"]))
def test_split_is_what_the_words_bits_say(word: int, arithmetic: str) -> None:
    c = SymphonyConfig(arithmetic=arithmetic)
    word %= 1 << c.random_bits
    bits = f"{word:0{c.random_bits}b}"
    head, rest = bits[: c.random_exponent_bits], bits[c.random_exponent_bits : -RED_BITS]
    uniform = split(c, word)
    assert uniform == (len(head) - len(head.lstrip("0")), int(rest, 2))
    several = split_all(c, np.array([word], dtype=np.uint64))
    assert (several.exponent[0], several.mantissa[0]) == uniform
    value = drawn(c, word)
    assert 2.0 ** -(uniform.exponent + 1) < value < 2.0**-uniform.exponent


@pytest.mark.parametrize("k", GAINS)
@pytest.mark.parametrize("arithmetic", ["log", "exact"])
def test_share_is_what_is_counted(arithmetic: str, k: float) -> None:
    """`gap_probability` against every random number there is, for gaps of all kinds; one at a time
    and as an array."""
    c = SymphonyConfig(arithmetic=arithmetic, k=k, **TINY)
    everything = list(drawable(c))
    exponents, mantissas = np.array([bits for bits, _, _ in everything]).T
    uniform = Uniform(exponents, mantissas)
    weights = np.array([float(weight) for _, _, weight in everything])
    cases = [(a, r, p) for a in (1, 3, 5) for r in (1, 2, 7, 13, 15) for p in (0, 1, 4, 15)]
    gaps = [gap(c, a, stored(c, r), stored(c, p), p > 0) for a, r, p in cases]
    for one in gaps:
        assert 0 <= one < 1 << gap_bits(c)
        counted = weights[mark(c, one, uniform)].sum()
        assert gap_probability(c, one) == pytest.approx(counted, rel=1e-12, abs=0)
    several = np.array(gaps, dtype=np.uint64)
    assert gap_probability(c, several).tolist() == [gap_probability(c, one) for one in gaps]
    assert [gap_probability(c, one) == 0 for one in gaps] == [p == 0 for _, _, p in cases]


@pytest.mark.parametrize("k", GAINS)
def test_exact_marks_where_the_fraction_says(k: float) -> None:
    """Every packet and random number of a small PSN range, in rational numbers: U·psn_rec <
    k·α·psn, with 1/k and U/k rounded as documented."""
    c = SymphonyConfig(arithmetic="exact", k=k, alpha_max=3, n_warmup=1, psn_bits=4)
    inverse = Fraction(k_code(c)) / Fraction(2) ** k_exponent(c)
    assert abs(inverse * Fraction(k) - 1) <= Fraction(1, 2**EXACT_K_BITS)
    rng = random.Random(0)
    for uniform, value, _ in drawable(c):
        if rng.random() < 0.95:
            continue
        for alpha, rec, psn in ((a, r, p) for a in (1, 3) for r in (2, 9, 15) for p in (0, 1, 11)):
            bit = mark(c, gap(c, alpha, rec, psn, psn > 0), uniform)
            ratio = Fraction(alpha * psn, rec)
            assert bit or not value * inverse * Fraction(257, 256) < ratio
            assert not bit or value * inverse * Fraction(255, 256) < ratio


@pytest.mark.parametrize(("arithmetic", "bound"), [("log", 0.05), ("exact", 0.006)])
@pytest.mark.parametrize("k", [1e-4, 0.003, 0.01, 0.3, 1.0])
def test_effective_probability_is_near_the_real_one(
    arithmetic: str, bound: float, k: float
) -> None:
    """At random places of the whole range; tb/symphony/test_accuracy.py takes all of them."""
    c, rng = SymphonyConfig(arithmetic=arithmetic, k=k), random.Random(1)
    for _ in range(400):
        alpha = min(c.ceiling, int(2 ** rng.uniform(0, c.alpha_bits)))
        rec = min(2**24 - 1, int(2 ** rng.uniform(5.1, 24)))
        psn = min(2**24 - 1, int(2 ** rng.uniform(0, 24)))
        share = gap_probability(c, gap(c, alpha, stored(c, rec), stored(c, psn), True))
        assert share == pytest.approx(probability(c, alpha, psn, rec), rel=bound)


def test_arrays_are_single_packets() -> None:
    rng = np.random.default_rng(2)
    for arithmetic in ("log", "exact"):
        c = SymphonyConfig(arithmetic=arithmetic, k=1e-4)
        alpha = rng.integers(1, c.ceiling, 200)
        rec, psn = (rng.integers(0, 2**24, 200) >> rng.integers(0, 20, 200) for _ in range(2))
        words = rng.integers(0, 2**c.random_bits, 200, dtype=np.uint64)
        recs, own = (np.array([stored(c, int(value)) for value in part]) for part in (rec, psn))
        some = psn > 0
        gaps = gap(c, alpha, recs, own, some)
        rows = zip(alpha.tolist(), recs.tolist(), own.tolist(), some.tolist(), strict=True)
        assert gaps.tolist() == [gap(c, *row) for row in rows]
        marks = mark(c, gaps, split_all(c, words))
        pairs = zip(gaps.tolist(), words.tolist(), strict=True)
        assert marks.tolist() == [bool(mark(c, one, split(c, word))) for one, word in pairs]


def test_numbers_of_the_default() -> None:
    """k = 0.01: 1/k is 100, exactly; the log form is 0.2 % off."""
    exact = SymphonyConfig(arithmetic="exact")
    assert k_code(exact) / 2 ** k_exponent(exact) == 100
    log = SymphonyConfig()
    even = gap(log, 1, stored(log, 5000), stored(log, 5000), True)
    assert gap_probability(log, even) == pytest.approx(0.01, rel=0.01)
    assert (gap_bits(log), gap_bits(exact)) == (13, 55)


@pytest.mark.parametrize("k", GAINS)
def test_codes_of_k_fit(k: float) -> None:
    for arithmetic in ("log", "exact"):
        c = SymphonyConfig(arithmetic=arithmetic, k=k)
        assert 0 < k_code(c) < 1 << setting_bits(c)["k"]


def test_a_smaller_k_that_is_set_later_does_not_wrap() -> None:
    c = SymphonyConfig()
    assert gap(replace(c, k=1e-4), 1, 24 << c.fraction_bits, 0, True) >= 0


def dressed(c: SymphonyConfig, seed: int, count: int) -> list[Beat]:
    """Random beats, most of them tossed. The random numbers of half of them are spread over all
    exponents; those of the others are the last that marks or the first that does not."""
    rng, made = random.Random(seed), beats(c, tracked(c), count, seed)
    m, most = c.random_mantissa_bits, c.random_exponent_bits
    largest = stored(c, 2**c.psn_bits - 1)
    for beat in made:
        beat["progress"], beat["rec"] = min(beat["progress"], largest), min(beat["rec"], largest)
        beat["alpha"] = min(max(beat["alpha"], 1), c.ceiling)
        beat["tossed"] = beat["some"] = 1
        if rng.random() < 0.2:
            beat[rng.choice(["tossed", "some"])] = 0
        if rng.random() < 0.3:
            beat["progress"] = min(beat["progress"], rng.getrandbits(4))
        exponent, mantissa = rng.randrange(most + 1), rng.getrandbits(m)
        word = gap(c, beat["alpha"], beat["rec"], beat["progress"], True)
        share = gap_probability(c, word)
        if rng.random() < 0.5 and 2.0**-most < share < 1:
            exponent = math.ceil(-math.log2(share)) - 1
            marks = round((share * 2 ** (exponent + 1) - 1) * 2**m)
            mantissa = min(max(0, marks - rng.randrange(2)), 2**m - 1)
        head = 0 if exponent == most else 1 << most - 1 - exponent
        head |= rng.getrandbits(most) & max(0, head - 1)
        beat["random"] = (head << m | mantissa) << RED_BITS | rng.getrandbits(RED_BITS)
    return made


def judge_of(c: SymphonyConfig) -> Callable[[Beat], dict[str, int]]:
    """Return the model of the block as a whole."""

    def judge(beat: Beat) -> dict[str, int]:
        some = beat["tossed"] and beat["some"]
        word = gap(c, beat["alpha"], beat["rec"], beat["progress"], some)
        marks = int(mark(c, word, split(c, beat["random"])))
        return {"gap": word, "symphony": marks, "random": beat["random"] % (1 << RED_BITS)}

    return judge


@settings(max_examples=12, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_hardware(config: SymphonyConfig, seed: int) -> None:
    first, second = (dressed(config, seed + n, 60) for n in (0, 1))
    held(Coin(config), config, lambda: judge_of(config), first, second, seed=seed)


@pytest.mark.parametrize("arithmetic", ["log", "exact"])
def test_hardware_of_the_presets_widths(arithmetic: str) -> None:
    config = SymphonyConfig(arithmetic=arithmetic)
    first, second = dressed(config, 3, 300), dressed(config, 4, 100)
    held(Coin(config), config, lambda: judge_of(config), first, second)
