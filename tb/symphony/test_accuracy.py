"""The accuracy study: its short cuts against every single packet, and the bounds it states."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from models.symphony.accuracy import accuracy, cells, errors, exact_errors, mean_error, ratios
from models.symphony.coin import gap, gap_probability
from models.symphony.config import SymphonyConfig
from models.symphony.progress import stored

GAINS = [1e-4, 0.003, 1 / 128, 0.0079, 0.01, 0.013, 0.3, 0.5, 0.999, 1.0]
SMALL: dict[str, Any] = {"psn_bits": 7, "n_warmup": 1}


def all_errors(c: SymphonyConfig, alphas: range) -> np.ndarray:
    """Relative error of the effective probability for every psn and psn_rec above 0 and some α."""
    psn = np.arange(1, 1 << c.psn_bits)
    codes = np.array([stored(c, int(value)) for value in psn])
    found = []
    for alpha in alphas:
        shape = (len(psn), len(psn))
        levels = np.full(shape, alpha).ravel()
        recs = np.broadcast_to(codes, shape).ravel()
        own = np.broadcast_to(codes[:, None], shape).ravel()
        share = gap_probability(c, gap(c, levels, recs, own, np.ones(len(recs), bool)))
        real = np.minimum(1, c.k * alpha * (psn[:, None] / psn).ravel())
        found.append(share / real - 1)
    return np.array(found)


@pytest.mark.parametrize(("m", "f"), [(2, 2), (2, 4), (4, 3), (5, 6), (6, 7)])
@pytest.mark.parametrize("k", [0.0079, 0.3, 1])
def test_largest_error_is_that_of_every_single_packet(m: int, f: int, k: float) -> None:
    c = SymphonyConfig(mantissa_bits=m, fraction_bits=f, k=k, alpha_max=9, **SMALL)
    everything = all_errors(c, range(1, 10))
    above, below = errors(c)
    assert above == pytest.approx(everything.max(), abs=1e-12)
    assert below == pytest.approx(-everything.min(), abs=1e-12)


def test_cells_and_ratios_miss_no_psn() -> None:
    c = SymphonyConfig(mantissa_bits=4, fraction_bits=5, **SMALL)
    low, high = cells(c)
    assert sum(high[high > 0] - low[high > 0] + 1) == 127
    for psn in range(1, 128):
        assert low[stored(c, psn)] <= psn <= high[stored(c, psn)]
    differences, least, most = ratios(c)
    found = {int(d): (a, b) for d, a, b in zip(differences, least, most, strict=True)}
    for psn in range(1, 128):
        for rec in range(1, 128):
            a, b = found[stored(c, psn) - stored(c, rec)]
            assert a <= psn / rec * (1 + 1e-15) and b >= psn / rec * (1 - 1e-15)


@pytest.mark.parametrize(("m", "f"), [(3, 3), (4, 6), (6, 7)])
def test_mean_error_is_that_of_many_packets(m: int, f: int) -> None:
    """20,000 packets, uniform in their logarithms: within 5 standard errors."""
    c, rng = SymphonyConfig(mantissa_bits=m, fraction_bits=f), np.random.default_rng(m)
    # psn below psn_rec / 4: no probability is clipped.
    rec = (2 ** rng.uniform(20, 24, 20_000)).astype(int)
    psn = (rec * 2 ** rng.uniform(-5, -3, 20_000)).astype(int)
    alpha = rng.integers(1, 101, 20_000)
    own, recs = (np.array([stored(c, int(value)) for value in part]) for part in (psn, rec))
    share = gap_probability(c, gap(c, alpha, recs, own, np.ones(20_000, bool)))
    magnitude = np.abs(np.log(share / (c.k * alpha * psn / rec)))
    margin = 5 * magnitude.std() / np.sqrt(20_000)
    assert mean_error(c) == pytest.approx(magnitude.mean(), abs=margin)


@pytest.mark.parametrize("k", GAINS)
def test_bound_of_the_default_tables(k: float) -> None:
    """At most 5 % over the whole input range, for any k; 3.4 % for the default."""
    found = accuracy(SymphonyConfig(k=k))
    assert found.mean < 0.008 and found.largest < 0.04
    if k == 0.01:
        assert found.largest == pytest.approx(0.034, abs=5e-4)


@pytest.mark.parametrize("k", GAINS)
def test_bound_of_the_exact_form(k: float) -> None:
    above, below = exact_errors(SymphonyConfig(arithmetic="exact", k=k))
    assert min(above, below) >= -1e-12 and max(above, below) < 0.006
    c = SymphonyConfig(arithmetic="exact", k=k, alpha_max=3, **SMALL)
    everything = all_errors(c, range(1, 4))
    assert everything.max() <= above + 1e-12 and -everything.min() <= below + 1e-12


def test_the_exact_bound_is_met_somewhere() -> None:
    c, rng = SymphonyConfig(arithmetic="exact"), np.random.default_rng(0)
    rec, psn = rng.integers(2**23, 2**24, 100_000), rng.integers(1, 2**24, 100_000)
    ones = np.ones(100_000, int)
    share = gap_probability(c, gap(c, ones, rec, psn, ones > 0))
    found = share / (c.k * psn / rec) - 1
    assert [found.max(), -found.min()] == pytest.approx(exact_errors(c), rel=0.02)


def test_finer_tables_are_never_worse_by_much() -> None:
    """One bit more of both halves the error, nearly."""
    sizes = [accuracy(SymphonyConfig(mantissa_bits=n, fraction_bits=n + 1)) for n in (4, 5, 6, 7)]
    for coarse, fine in pairwise(sizes):
        assert fine.largest < 0.6 * coarse.largest
        assert fine.mean < 0.6 * coarse.mean
