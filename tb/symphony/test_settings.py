"""Settings: each code fits its port, and stands for what the configuration asks for."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.symphony.config import MIN_K, PRESETS, SymphonyConfig
from models.symphony.red import red_scale
from models.symphony.settings import (
    EXACT_K_BITS,
    k_code,
    k_exponent,
    setting_bits,
    settings,
)

K = st.one_of(st.floats(MIN_K, 1), st.sampled_from([MIN_K, 1.0, 0.5, 0.25, 1 / 3, 1 / 128, 0.01]))


@st.composite
def configs(draw: Any) -> SymphonyConfig:
    """All that settings are made of, at any value."""
    kmin, kmax = sorted(draw(st.lists(st.integers(0, 2**12 - 1), min_size=2, max_size=2)))
    return SymphonyConfig(
        queue_bits=12,
        k=draw(K),
        tau=draw(st.integers(0, 1000)) / 1000,
        window_ns=draw(st.integers(16, 2**32 - 1)),
        psn_window_ns=draw(st.one_of(st.none(), st.integers(16, 2**32 - 1))),
        n_warmup=draw(st.integers(0, 2**24 - 1)),
        n_sample=draw(st.integers(0, 65534)),
        alpha_max=draw(st.one_of(st.none(), st.integers(1, 65535))),
        kmin=kmin,
        kmax=kmax,
        pmax=draw(st.floats(0.001, 1)),
        arithmetic=draw(st.sampled_from(["log", "exact"])),
        fraction_bits=draw(st.integers(2, 10)),
    )


@given(configs())
def test_every_code_fits_its_port(c: SymphonyConfig) -> None:
    bits, codes = setting_bits(c), settings(c)
    assert list(bits) == list(codes)
    for name, code in codes.items():
        assert 0 <= code < 1 << bits[name], name


def test_codes_of_the_paper() -> None:
    """k = 0.01 is 2^-6.644, which the exponent bits (31) lift to 24.356; 1/k = 200/2."""
    assert settings(PRESETS["log-16k"]) == {
        "window": 100_000,
        "tau": 1,
        "n_sample": 32,
        "n_warmup": 32,
        "alpha_max": 100,
        "k": round(24.3561438 * 2**7),
        "kmin": 50_000,
        "kmax": 100_000,
        "red_scale": 244,
        "red_shift": 10,
    }
    assert settings(PRESETS["exact-16k"])["k"] == 200
    assert k_exponent(PRESETS["exact-16k"]) == 1


def test_an_interval_of_its_own_has_a_port() -> None:
    assert "psn_window" not in settings(SymphonyConfig())
    assert settings(SymphonyConfig(psn_window_ns=77))["psn_window"] == 77


@given(K, st.integers(2, 10))
def test_k_in_logarithms_is_half_a_step_off_at_most(k: float, fraction_bits: int) -> None:
    c = SymphonyConfig(k=k, fraction_bits=fraction_bits)
    got = k_code(c) / 2**fraction_bits - c.random_exponent_bits
    assert abs(got - math.log2(k)) <= 2 ** -(fraction_bits + 1) + 1e-12


@given(K)
def test_k_in_exact_arithmetic_is_a_256th_off_at_most(k: float) -> None:
    c = SymphonyConfig(k=k, arithmetic="exact")
    code = k_code(c)
    assert 1 << (EXACT_K_BITS - 1) <= code < 1 << EXACT_K_BITS
    assert abs(code / 2 ** k_exponent(c) * k - 1) <= 1 / 256


@given(st.integers(0, 2**24 - 1), st.integers(0, 2**24 - 1), st.floats(0.001, 1))
def test_width_of_red(low: int, high: int, pmax: float) -> None:
    low, high = sorted((low, high))
    c = SymphonyConfig(kmin=low, kmax=high, pmax=pmax)
    scale, shift = red_scale(c)
    width = (high - low) / pmax
    assert abs((scale << shift) - width) <= max(0.5, width / 256)


@pytest.mark.parametrize("k", [0.009, 0.0125, 0.0156])
@pytest.mark.parametrize("arithmetic", ["log", "exact"])
def test_k_may_change_where_the_hardware_is_the_same(arithmetic: str, k: float) -> None:
    """As long as 1/k stays below the same power of two, k is a matter of its port alone."""
    c = SymphonyConfig(arithmetic=arithmetic, alpha_max=100)
    other = replace(c, k=k)
    assert setting_bits(other) == setting_bits(c)
    assert other.random_bits == c.random_bits
    assert k_exponent(other) == k_exponent(c)
