"""RED: the drawn threshold against the probability it must come to, hardware against both."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.symphony.beat import tossed
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.red import red_mark, red_probability, red_scale
from rtl.symphony.red import Red
from tb.symphony.blocks import Beat, beats, configs, held


@settings(max_examples=15, deadline=None)
@given(
    config=configs(),
    kmin=st.integers(0, 200),
    width=st.sampled_from([0, 1, 20, 55]),
    pmax=st.sampled_from([0.001, 0.2, 1]),
    seed=st.integers(0, 2**16),
)
def test_hardware(config: SymphonyConfig, kmin: int, width: int, pmax: float, seed: int) -> None:
    config = replace(config, kmin=kmin, kmax=kmin + width, pmax=pmax)

    def judge(beat: Beat) -> dict[str, int]:
        return {"red": red_mark(config, beat["queue"], beat["random"])}

    first, second = (beats(config, tossed(config), 60, seed + n) for n in (0, 1))
    deepest = (1 << config.queue_bits) - 1
    for beat, queue in zip(first, (kmin, kmin + 1, config.kmax, config.kmax + 1) * 5, strict=False):
        beat["queue"] = min(queue, deepest)
    held(Red(config), config, lambda: judge, first, second, seed=seed)


@pytest.mark.parametrize("queue", [0, 50_000, 50_001, 62_345, 75_000, 99_999, 100_000, 100_001])
def test_share_of_all_random_numbers_is_the_probability(queue: int) -> None:
    config = SymphonyConfig()
    marks = sum(red_mark(config, queue, random) for random in range(1 << RED_BITS))
    share, wanted = marks / (1 << RED_BITS), red_probability(config, queue)
    assert abs(share - wanted) <= 1 / (1 << RED_BITS) + wanted / 256


def test_numbers_of_the_paper() -> None:
    config = SymphonyConfig()
    assert (config.kmin, config.kmax, config.pmax) == (50_000, 100_000, 0.2)
    assert red_probability(config, 75_000) == pytest.approx(0.1)
    assert red_scale(config) == (244, 10)  # 250,000 bytes


def test_a_step_without_a_slope() -> None:
    config = SymphonyConfig(kmin=70, kmax=70)
    assert [red_mark(config, queue, 0) for queue in (69, 70, 71)] == [False, False, True]
    assert [red_probability(config, queue) for queue in (70, 71)] == [0, 1]
