"""Benches of CSIG's blocks in Amaranth's simulator, and the traffic they share."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

from models.csig.config import CsigConfig
from tb.bench import exercise

Beat = dict[str, int]
Model = Callable[[Beat], Mapping[str, int]]


@st.composite
def configs(draw: Any, **fixed: Any) -> CsigConfig:
    """Small configurations, with every choice that changes the hardware."""
    changes = {
        "ports": draw(st.sampled_from([1, 2, 3, 8])),
        "formats": draw(st.sampled_from([("compact",), ("wide",), ("compact", "wide")])),
        "layout": draw(st.sampled_from(["draft", "uec"])),
        "sources": draw(st.sampled_from(["native", "agent", "both"])),
        "clocks": draw(st.sampled_from([1, 2, 3])),
        "longest_window_ns": 1000,
        "time_bits": draw(st.sampled_from([24, 40])),
        "delay_bits": 10,
        "queue_bits": 12,
        "update_discarded": draw(st.booleans()),
        **fixed,
    }
    return CsigConfig(**changes)


def beats(config: CsigConfig, fields: Mapping[str, int], count: int, seed: int) -> list[Beat]:
    """Return `count` random beats of ports that there are."""
    rng = random.Random(seed)
    made = []
    for _ in range(count):
        beat = {name: rng.getrandbits(bits) if bits else 0 for name, bits in fields.items()}
        beat["port"] = rng.randrange(config.ports)
        made.append(beat)
    return made


def held(
    dut: Any,
    model: Callable[[], Model],
    first: Sequence[Beat],
    second: Sequence[Beat],
    **given: Any,
) -> None:
    """Hold a block against a model: at full speed, with pauses, and after a reset in mid-traffic.

    A model takes a beat and returns the fields that the block makes of it; the fields that it does
    not name must come out as they went in.
    """
    fast, slow, after = exercise(dut, first, second, **given)
    kept = model()
    for answers, sent, judge in (
        (fast, first, kept),
        (slow, second, kept),
        (after, first, model()),
    ):
        for number, (answer, beat) in enumerate(zip(answers, sent, strict=True)):
            expected = {**beat, **judge(beat)}
            for name in dut.o.payload.shape().members:
                got = answer[name]
                assert got == expected[name], (
                    f"beat {number} {beat}: {name} is {got}, not {expected[name]}"
                )
