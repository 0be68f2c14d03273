"""SymphonyConfig: the paper's constants, every refusal in its words, every derived width."""

from __future__ import annotations

import math
import re
from dataclasses import FrozenInstanceError, fields, replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.symphony.config import PRESETS, SymphonyConfig, preset

INTEGERS: dict[str, tuple[int, int]] = {
    "jobs": (1, 65536),
    "step_bits": (2, 24),
    "psn_bits": (4, 24),
    "queue_bits": (8, 32),
    "time_bits": (16, 64),
    "window_ns": (16, 2**32 - 1),
    "psn_window_ns": (16, 2**32 - 1),
    "n_warmup": (0, 2**24 - 1),
    "n_sample": (0, 65534),
    "alpha_max": (1, 65535),
    "step_packets": (0, 2**24 - 1),
    "kmin": (0, 2**24 - 1),
    "kmax": (0, 2**24 - 1),
    "mantissa_bits": (2, 10),
    "fraction_bits": (2, 10),
    "seed": (0, 2**63 - 1),
    "window_packets": (255, 2**32 - 1),
    "time_timeout": (1, 2**20),
    "counter_bits": (8, 32),
}
REALS: dict[str, tuple[float, float]] = {"k": (1e-4, 1), "tau": (0, 1), "pmax": (1e-3, 1)}
CHOICES = {"step_wrap": ("serial", "plain"), "arithmetic": ("log", "exact")}
BESIDE: dict[str, dict[str, Any]] = {
    # what must be set beside the ends of a range for them to be allowed
    "psn_bits": {"n_warmup": 3},
    "queue_bits": {"kmin": 7, "kmax": 9},
    "time_bits": {"window_ns": 100},
    "kmin": {"kmax": 2**24 - 1},
    "kmax": {"kmin": 0},
}


def made(**changes: Any) -> SymphonyConfig:
    return SymphonyConfig(**changes)


def refusal(error: type[Exception], message: str) -> Any:
    return pytest.raises(error, match=f"^{re.escape(message)}$")


def test_constants_of_the_paper() -> None:
    """Sections 3.3, 3.4.2, 3.5 and 4.1."""
    c = SymphonyConfig()
    assert (c.k, c.tau, c.window_ns, c.psn_window_ns) == (0.01, 0.25, 100_000, None)
    assert (c.kmin, c.kmax, c.pmax) == (50_000, 100_000, 0.2)
    assert c.jobs == 16 * 1024


def test_every_field_is_tested() -> None:
    assert {field.name for field in fields(SymphonyConfig)} == {*INTEGERS, *REALS, *CHOICES}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name: str) -> None:
    low, high = INTEGERS[name]
    beside = BESIDE.get(name, {})
    for value in (low, high):
        assert getattr(made(**{**beside, name: value}), name) == value
    wrong_type = [True, 2.5, "3", b"3"]
    if name not in ("psn_window_ns", "alpha_max", "window_packets", "counter_bits"):
        wrong_type.append(None)
    cases = [(low - 1, ValueError), (high + 1, ValueError)]
    for value, error in [*cases, *((value, TypeError) for value in wrong_type)]:
        with refusal(error, f"{name} must be an integer from {low} to {high}, not {value!r}"):
            made(**{**beside, name: value})


def test_no_counters() -> None:
    assert SymphonyConfig(counter_bits=0).counter_bits == 0
    with refusal(ValueError, "counter_bits must be an integer from 8 to 32, not -1"):
        SymphonyConfig(counter_bits=-1)


@pytest.mark.parametrize("name", REALS)
def test_reals(name: str) -> None:
    low, high = REALS[name]
    for value in (low, high, (low + high) / 2):
        assert getattr(made(**{name: value}), name) == value
    assert isinstance(getattr(made(**{name: 1}), name), float)
    wrong: list[tuple[Any, type[Exception]]] = [
        (low - 1e-5, ValueError),
        (high + 1e-5, ValueError),
        (math.inf, ValueError),
        (math.nan, ValueError),
        ("0.5", TypeError),
        (True, TypeError),
        (None, TypeError),
    ]
    for value, error in wrong:
        with refusal(error, f"{name} must be a number from {low:g} to {high:g}, not {value!r}"):
            made(**{name: value})


@pytest.mark.parametrize("name", CHOICES)
def test_choices(name: str) -> None:
    for value, error in (("other", ValueError), (3, TypeError), (None, TypeError)):
        with refusal(error, f"{name} must be one of {', '.join(CHOICES[name])}, not {value!r}"):
            made(**{name: value})


def test_ranges_that_hang_on_other_fields() -> None:
    with refusal(ValueError, "kmin must be at most kmax (9), not 10"):
        SymphonyConfig(kmin=10, kmax=9)
    with refusal(ValueError, "kmax must be an integer from 0 to 255, not 100000"):
        SymphonyConfig(queue_bits=8, kmin=10)
    with refusal(ValueError, "n_warmup must be an integer from 0 to 15, not 32"):
        SymphonyConfig(psn_bits=4)
    # A window must end before time does.
    assert SymphonyConfig(time_bits=16, window_ns=32767).window_ns == 32767
    for name in ("window_ns", "psn_window_ns"):
        with refusal(ValueError, f"{name} must be an integer from 16 to 32767, not 32768"):
            made(**{"window_ns": 99, "time_bits": 16, name: 32768})


def test_frozen_and_keyword_only() -> None:
    with pytest.raises(FrozenInstanceError):
        SymphonyConfig().k = 0.5  # type: ignore[misc]
    with pytest.raises(TypeError, match="positional"):
        SymphonyConfig(64)  # type: ignore[misc]
    assert hash(SymphonyConfig()) == hash(SymphonyConfig(k=0.01))


@pytest.mark.parametrize(
    ("k", "ceiling"), [(0.01, 100), (1, 1), (0.3, 4), (1 / 3, 3), (1e-4, 10_000), (0.007, 143)]
)
def test_ceiling_is_where_alpha_k_is_one(k: float, ceiling: int) -> None:
    c = SymphonyConfig(k=k)
    assert (c.ceiling, c.alpha_max) == (ceiling, ceiling)
    assert ceiling * k >= 1 - 1e-9 > (ceiling - 1) * k
    assert SymphonyConfig(k=k, alpha_max=7).ceiling == 7
    assert c.alpha_bits == ceiling.bit_length()


@pytest.mark.parametrize(
    ("tau", "code", "scale"),
    [
        (0, 0, 1),
        (1, 1, 1),
        (0.5, 1, 2),
        (0.25, 1, 4),
        (0.3, 3, 10),
        (0.001, 1, 1000),
        (1 / 3, 1, 3),
    ],
)
def test_tau_is_a_ratio(tau: float, code: int, scale: int) -> None:
    c = SymphonyConfig(tau=tau)
    assert (c.tau_code, c.tau_scale) == (code, scale)
    assert c.tau_fraction == Fraction(code, scale)


@pytest.mark.parametrize("tau", [0.0001, 0.99999, 0.12345, 0.333333])
def test_tau_is_never_rounded(tau: float) -> None:
    with pytest.raises(ValueError, match=f"tau must be a ratio of .* such as 0.123, not {tau}"):
        SymphonyConfig(tau=tau)


@given(st.integers(0, 1000), st.integers(255, 2**32 - 1))
def test_balance_holds_any_window(thousandths: int, packets: int) -> None:
    """All packets outpacing, or none, up to `window_packets`: neither end is reached, and one bit
    less would not do."""
    c = SymphonyConfig(tau=thousandths / 1000, window_packets=packets)
    most = max(c.tau_code, c.tau_scale - c.tau_code) * packets
    assert 2 ** (c.balance_bits - 2) - 1 < most <= 2 ** (c.balance_bits - 1) - 1


def test_packets_of_a_window_follow_its_length() -> None:
    windows = (1000, 100_000, 2**20, 2**32 - 1)
    found = [SymphonyConfig(window_ns=window).most_packets for window in windows]
    assert found == [131_071, 131_071, 2**21 - 1, 2**32 - 1]
    assert preset("log-64", window_ns=2**20).most_packets == 2**21 - 1


# preset: job alpha tau balance sample log rec word exponent mantissa random, by hand
WIDTHS = {
    "log-16k": (14, 7, 4, 20, 6, 12, 12, 63, 31, 6, 49),
    "exact-16k": (14, 7, 4, 20, 6, 12, 24, 74, 31, 8, 51),
    "log-1k": (10, 7, 4, 20, 6, 12, 12, 63, 31, 6, 49),
    "exact-1k": (10, 7, 4, 20, 6, 12, 24, 74, 31, 8, 51),
    "log-64": (6, 7, 4, 20, 6, 12, 12, 63, 31, 6, 49),
}


@pytest.mark.parametrize("name", PRESETS)
def test_derived_widths_of_every_preset(name: str) -> None:
    c = PRESETS[name]
    assert (
        c.job_bits,
        c.alpha_bits,
        c.tau_scale,
        c.balance_bits,
        c.sample_bits,
        c.log_bits,
        c.rec_bits,
        c.word_bits,
        c.random_exponent_bits,
        c.random_mantissa_bits,
        c.random_bits,
    ) == WIDTHS[name]


def test_smallest_widths() -> None:
    c = SymphonyConfig(jobs=1, k=1, n_sample=0, tau=1, window_packets=255)
    assert (c.job_bits, c.alpha_bits, c.sample_bits, c.balance_bits) == (0, 1, 1, 9)
    assert c.random_exponent_bits == 25


def test_presets_say_what_they_are() -> None:
    for name, config in PRESETS.items():
        arithmetic, jobs = name.split("-")
        assert config.arithmetic == arithmetic
        assert config.jobs == int(jobs.removesuffix("k")) * (1024 if jobs.endswith("k") else 1)
        assert replace(config, arithmetic="log", jobs=16384) == SymphonyConfig()


def test_preset_with_changes() -> None:
    assert preset("log-64") == PRESETS["log-64"]
    assert preset("log-64", tau=0.5) == replace(PRESETS["log-64"], tau=0.5)
    assert preset("log-64", k=0.05).ceiling == 20
    assert preset("log-64", k=0.05, alpha_max=3).ceiling == 3
    with refusal(ValueError, f"preset must be one of {', '.join(PRESETS)}, not 'log-65'"):
        preset("log-65")
