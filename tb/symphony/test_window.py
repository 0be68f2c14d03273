"""Window: time stamps against ⌊time / window⌋, leaps, time that stops or runs backwards."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.symphony.beat import PACKET, asked
from models.symphony.config import SymphonyConfig
from models.symphony.window import Clock, window_number
from rtl.symphony.window import Window
from tb.bench import Bench, Traffic
from tb.symphony.blocks import Beat, beats, configs, held


class Numbered:
    """The paper's window numbers, counted anew in the order in which they appear."""

    def __init__(self, config: SymphonyConfig) -> None:
        self.clock = Clock(config)
        self.seen: tuple[list[int], list[int]] = ([0], [0])

    def __call__(self, beat: Beat) -> dict[str, Any]:
        if beat["op"] != PACKET:
            return {}
        moving = self.clock.packet(beat["time"])
        serials = []
        for seen, window in zip(self.seen, self.clock.windows(), strict=True):
            if window != seen[-1]:
                seen.append(window)
            serials.append(len(seen) - 1)
        return {"moving": moving, "serial": serials[0], "psn_serial": serials[1]}


def stamped(
    config: SymphonyConfig, count: int, seed: int, leaps: bool, start: int = 0
) -> list[Beat]:
    rng = random.Random(seed)
    time = start
    made = beats(config, asked(config), count, seed)
    shortest = min(config.window_ns, config.psn_window_ns or config.window_ns)
    for beat in made:
        if beat["op"] != PACKET:
            continue
        time += rng.choice((0, 0, 1, shortest if leaps else shortest // 5))
        if leaps and rng.random() < 0.2:
            time += rng.randrange(1 << rng.randrange(1, 14))
        beat["time"] = max(0, time - (rng.randrange(200) if leaps and rng.random() < 0.2 else 0))
    return made


@settings(max_examples=25, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_window_numbers(config: SymphonyConfig, seed: int) -> None:
    first = stamped(config, 40, seed, leaps=False)
    second = stamped(config, 60, seed + 1, leaps=True, start=first[-1]["time"])
    held(Window(config), config, lambda: Numbered(config), first, second, seed=seed, wait=9)


@pytest.mark.parametrize("far", [2, 3, 1000, 2**43])
def test_a_leap_takes_the_logarithm_of_its_windows(far: int) -> None:
    config = SymphonyConfig(jobs=1)
    dut = Window(config)
    base = {name: 0 for name in asked(config)}
    leap = [{**base, "time": 5}, {**base, "time": far * config.window_ns + 7}]
    (run,) = Bench(dut, inputs=[(dut.window, config.window_ns)]).run(Traffic(beats=leap, wait=9))
    assert [answer["serial"] for answer in run.answers] == [0, 1]
    assert run.taken[1] - run.taken[0] <= 6 * (2 * far.bit_length() + 2)


def test_window_number_is_the_floor() -> None:
    assert [window_number(t, 100) for t in (0, 99, 100, 199, 200)] == [0, 0, 1, 1, 2]


def test_time_that_stands_still_has_stopped_until_it_moves() -> None:
    clock = Clock(SymphonyConfig(time_timeout=3))
    assert [clock.packet(t) for t in (5, 5, 5, 5, 4, 6, 6)] == [
        True, True, True, False, False, True, True,
    ]  # fmt: skip
