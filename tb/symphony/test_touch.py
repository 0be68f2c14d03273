"""Touch: which packet is its job's first one in a window, against a set of (job, window)."""

from __future__ import annotations

import random
from collections.abc import Mapping

from hypothesis import given, settings
from hypothesis import strategies as st

from models.symphony.beat import PACKET, measured
from models.symphony.config import SymphonyConfig
from models.symphony.touch import Touch as Model
from models.symphony.touch import row_jobs, serial_bits
from rtl.symphony.touch import Touch
from tb.symphony.blocks import Beat, beats, configs, held


def rising(config: SymphonyConfig, made: list[Beat], seed: int, start: int = 0) -> list[Beat]:
    """Give the beats serial numbers that rise as a clock's do, some by many windows."""
    rng = random.Random(seed)
    kinds = [name for name in measured(config) if name.endswith("serial")]
    now = dict.fromkeys(kinds, start)
    for beat in made:
        for kind in kinds:
            now[kind] += rng.choice((0, 0, 0, 1, 1, 5))
            beat[kind] = now[kind]
    return made


def reference(config: SymphonyConfig) -> Mapping[str, Model]:
    return {"first": Model(config), "psn_first": Model(config)}


@settings(max_examples=20, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_first_in_window(config: SymphonyConfig, seed: int) -> None:
    fields = measured(config)
    first = rising(config, beats(config, fields, 40, seed), seed)
    second = rising(config, beats(config, fields, 60, seed + 1), seed, start=250)

    def model():
        rows = reference(config)

        def judge(beat: Beat) -> dict[str, int]:
            windows = beat["serial"], beat.get("psn_serial", beat["serial"])
            if beat["op"] != PACKET:
                return {}
            return {
                name: rows[name].packet(beat["job"], window)
                for name, window in zip(rows, windows, strict=True)
            }

        return judge

    held(Touch(config), config, model, first, second, seed=seed, wait=config.jobs + 3)


@settings(max_examples=50, deadline=None)
@given(data=st.data())
def test_model_is_the_set_of_jobs_seen(data: st.DataObject) -> None:
    config = SymphonyConfig(jobs=200)
    model = Model(config)
    seen: set[tuple[int, int]] = set()
    window = 0
    for _ in range(60):
        window += data.draw(st.sampled_from([0, 0, 0, 1, 2**40]))
        job = data.draw(st.sampled_from([0, 1, 63, 64, 65, 199]))
        assert model.packet(job, window) == ((job, window) not in seen)
        seen.add((job, window))


def test_serial_numbers_outlast_time() -> None:
    config = SymphonyConfig()
    windows = 2**config.time_bits // config.window_ns
    assert windows < 2 ** serial_bits(config, config.window_ns)
    assert serial_bits(config, config.window_ns) == 48
    assert row_jobs(config) == 64
