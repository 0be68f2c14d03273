"""Measure: position in the step and its stored form, hardware against `models.symphony.measure`."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from models.symphony.beat import timed
from models.symphony.config import SymphonyConfig
from models.symphony.measure import position, stored
from rtl.symphony.measure import Measure
from tb.symphony.blocks import Beat, beats, configs, held


@settings(max_examples=20, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_hardware(config: SymphonyConfig, seed: int) -> None:
    def judge(beat: Beat) -> dict[str, int]:
        psn = position(config, beat["step"], beat["psn"])
        progress = stored(config, psn)
        return {"progress": progress, "some": psn > 0, "above": psn > config.n_warmup}

    first, second = (beats(config, timed(config), 60, seed + n) for n in (0, 1))
    held(Measure(config), config, lambda: judge, first, second, seed=seed)


def test_psns_that_run_on() -> None:
    config = SymphonyConfig(step_packets=1000)
    assert [position(config, step, 5007) for step in (4, 5, 6)] == [1007, 7, 2**24 - 993]


def test_stored_keeps_the_order_of_positions() -> None:
    config = SymphonyConfig(psn_bits=12)
    codes = [stored(config, psn) for psn in range(1 << 12)]
    assert codes == sorted(codes)
    assert max(codes).bit_length() <= config.rec_bits
