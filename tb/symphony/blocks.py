"""Benches of Symphony's blocks in Amaranth's simulator, and the traffic they share."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from models.symphony.beat import GIVE, PACKET, READ, TAKE
from models.symphony.config import SymphonyConfig
from models.symphony.settings import settings
from tb.bench import exercise

Beat = dict[str, int]
Model = Callable[[Beat], Mapping[str, int]]

SMALL: dict[str, Any] = {
    "step_bits": 4,
    "psn_bits": 6,
    "queue_bits": 8,
    "time_bits": 20,
    "n_warmup": 3,
    "kmin": 40,
    "kmax": 90,
    "window_ns": 50,
    "window_packets": 255,
}


@st.composite
def configs(draw: Any, **fixed: Any) -> SymphonyConfig:
    """Small configurations of both arithmetics, with every choice that changes the hardware."""
    apart = draw(st.sampled_from([None, 16, 70]))
    changes = {
        "jobs": draw(st.sampled_from([1, 2, 5, 64, 130])),
        "arithmetic": draw(st.sampled_from(["log", "exact"])),
        "step_wrap": draw(st.sampled_from(["serial", "plain"])),
        "step_packets": draw(st.sampled_from([0, 0, 5])),
        "tau": draw(st.sampled_from([0, 0.25, 0.3, 0.5, 1])),
        "k": draw(st.sampled_from([0.0001, 0.01, 0.3, 1])),
        "alpha_max": draw(st.sampled_from([1, 2, 3, 100])),
        "n_sample": draw(st.integers(0, 3)),
        "psn_window_ns": apart,
        "mantissa_bits": draw(st.integers(2, 6)),
        "fraction_bits": draw(st.integers(2, 7)),
        "time_timeout": draw(st.sampled_from([1, 2, 9])),
        "counter_bits": draw(st.sampled_from([0, 8])),
        **fixed,
    }
    return SymphonyConfig(**{**SMALL, **changes})


def beats(
    config: SymphonyConfig,
    fields: Mapping[str, int],
    count: int,
    seed: int,
    orders: float = 0.1,
    jobs: int = 3,
) -> list[Beat]:
    """Return `count` random beats over a few jobs, some of them orders."""
    rng = random.Random(seed)
    few = [rng.randrange(config.jobs) for _ in range(jobs)]
    made = []
    for _ in range(count):
        beat = {name: rng.getrandbits(bits) if bits else 0 for name, bits in fields.items()}
        beat["job"] = rng.choice(few)
        is_order = rng.random() < orders
        beat["op"] = rng.choice((READ, GIVE, GIVE, TAKE)) if is_order else PACKET
        made.append(beat)
    return made


def held(
    dut: Any,
    config: SymphonyConfig,
    model: Callable[[], Model],
    first: Sequence[Beat],
    second: Sequence[Beat],
    *,
    seed: int = 0,
    wait: int = 0,
    ports: Any = None,
) -> None:
    """Hold a block against a model: at full speed, with pauses, and after a reset in mid-traffic.

    A model takes a beat and returns the fields that the block makes of it; the fields that it does
    not name must come out as they went in. What it does not name of an order may be anything.
    """
    codes = settings(config)
    inputs = [(getattr(dut, name), codes[name]) for name in codes if hasattr(dut, name)]
    out = (ports or dut).o.payload.shape().members
    fast, slow, after = exercise(
        dut, first, second, seed=seed, wait=wait, inputs=inputs, ports=ports
    )
    kept = model()
    for answers, given, judge in (
        (fast, first, kept),
        (slow, second, kept),
        (after, first, model()),
    ):
        for number, (answer, beat) in enumerate(zip(answers, given, strict=True)):
            expected = {**beat, **judge(beat)}
            for name in out:
                if name not in expected and beat["op"] != PACKET:
                    continue
                got = answer[name]
                assert got == expected[name], (
                    f"beat {number} {beat}: {name} is {got}, not {expected[name]}"
                )
