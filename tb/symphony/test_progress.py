"""Progress: the state of every job, hardware against `models.symphony.progress`, and that against
the paper's numbers and the golden model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.symphony.beat import GIVE, PACKET, TAKE, touched
from models.symphony.config import SymphonyConfig
from models.symphony.marker import Job, Packet, Symphony
from models.symphony.measure import position, stored
from models.symphony.progress import State, distance, free, fresh, step_after, track
from models.symphony.touch import Touch
from models.symphony.window import window_number
from rtl.symphony.progress import Progress
from tb.bench import ANY
from tb.symphony.blocks import Beat, Model, beats, configs, held


def reference(config: SymphonyConfig) -> Model:
    """Return a model of the block: every job's word, by `track`."""
    words: dict[int, State] = {}
    psns = {stored(config, psn): psn for psn in range(1 << config.psn_bits)}

    def judge(beat: Beat) -> dict[str, int]:
        before = words.get(beat["job"], free(config))
        if beat["op"] == GIVE:
            words[beat["job"]] = fresh(config)
        if beat["op"] == TAKE:
            words[beat["job"]] = free(config)
        if beat["op"] != PACKET:
            return {"known": before.valid}
        psn = psns[beat["progress"]]
        words[beat["job"]], tracked = track(
            config,
            before,
            beat["step"],
            psn,
            bool(beat["last"]),
            bool(beat["first"]),
            bool(beat["psn_first"]),
        )
        if not tracked.known:
            return {"known": 0, "outpacing": 0, "tossed": 0, "alpha": beat.get("alpha", 0)}
        seen = tracked._asdict()
        return {**seen, "tossed": tracked.tossed and beat["moving"]}

    return judge


def sensible(config: SymphonyConfig, made: list[Beat], start: int) -> list[Beat]:
    """Make the beats those of a few jobs a few steps apart, with the flags that belong to them."""
    for number, beat in enumerate(made):
        beat["step"] = (start + number // 20 + beat["step"] % 4) % (1 << config.step_bits)
        psn = beat["psn"] if "psn" in beat else beat["progress"] % (1 << config.psn_bits)
        beat["progress"], beat["above"] = stored(config, psn), psn > config.n_warmup
        beat["some"] = psn > 0
        beat["last"] &= number % 3 == 0
        beat["first"] &= number % 2
        beat["psn_first"] = beat["first"] if config.psn_window_ns is None else beat["psn_first"]
    return made


@settings(max_examples=40, deadline=None)
@given(
    config=configs(step_packets=0),
    jobs=st.sampled_from([1, 1, 3]),
    start=st.integers(0, 15),
    seed=st.integers(0, 2**16),
)
def test_hardware(config: SymphonyConfig, jobs: int, start: int, seed: int) -> None:
    first, second = (
        sensible(config, beats(config, touched(config), count, seed + count, 0.06, jobs), start)
        for count in (60, 90)
    )
    for beat in (first[0], second[0]):
        beat["op"] = GIVE

    def model() -> Model:
        judge = reference(config)
        # α and psn_rec of a job without a slot mean nothing.
        return lambda beat: {"alpha": ANY, "rec": ANY, **known(judge(beat))}

    held(Progress(config), config, model, first, second, seed=seed, wait=config.jobs + 3)


def known(fields: Mapping[str, int]) -> dict[str, int]:
    """Leave α and psn_rec out where the job has no slot."""
    return {n: v for n, v in fields.items() if fields["known"] or n not in ("alpha", "rec")}


@settings(max_examples=200, deadline=None)
@given(config=configs(), data=st.data())
def test_lazy_is_eager(config: SymphonyConfig, data: st.DataObject) -> None:
    """The word of each job after each packet is what the golden model has, whose windows end at
    their own time, however long a job sleeps."""
    golden = Symphony(replace(config, time_timeout=2**20))
    touch, psn_touch = Touch(config), Touch(config)
    words: dict[int, State] = {}
    for job in range(min(config.jobs, 3)):
        golden.give(job)
        words[job] = fresh(config)
    time = 0
    for _ in range(data.draw(st.integers(1, 60))):
        time += data.draw(st.sampled_from([0, 0, 0, 1, 49, 50, 51, 500, 5000]))
        job = data.draw(st.integers(0, len(words) - 1))
        packet = Packet(
            time,
            job,
            data.draw(st.integers(0, 15)),
            data.draw(st.integers(0, 63)),
            data.draw(st.booleans()),
        )
        golden.serve(packet)
        number, psn_number = golden.clock.windows()
        assert number == window_number(time, config.window_ns)
        first, psn_first = touch.packet(job, number), psn_touch.packet(job, psn_number)
        psn = position(config, packet.step, packet.psn)
        words[job], _ = track(config, words[job], packet.step, psn, packet.last, first, psn_first)
        word, want = words[job], golden.jobs[job]
        assert (word.step_min, word.alpha) == (want.step_min, want.alpha)
        assert word.rec == stored(config, want.psn_rec)
        assert word.warm == (want.psn_rec > config.n_warmup)
        assert (word.balance >= 0) == (want.cnt_op >= config.tau_fraction * want.cnt_total)
        assert (word.guard == 0) == (want.cnt_total > config.n_sample)


def test_steps_wrap_or_do_not() -> None:
    serial, plain = (SymphonyConfig(step_bits=4, step_wrap=wrap) for wrap in ("serial", "plain"))
    assert [distance(serial, step, 14) for step in (13, 14, 15, 0, 5, 6)] == [-1, 0, 1, 2, 7, -8]
    assert [distance(plain, step, 14) for step in (13, 14, 15, 0)] == [-1, 0, 1, -14]
    assert (step_after(serial, 15), step_after(plain, 15)) == (0, 15)


def test_word_is_small() -> None:
    assert SymphonyConfig().word_bits == 63
    assert SymphonyConfig(arithmetic="exact").word_bits == 74
    assert Job() == Job(step_min=0, psn_rec=0, alpha=1)
    assert fresh(SymphonyConfig())[1:5] == (0, 0, False, 1)


@pytest.mark.parametrize("alpha", [1, 2, 99, 100])
@pytest.mark.parametrize("share", [24, 25])
def test_alpha_moves_by_one_and_stops_at_both_ends(alpha: int, share: int) -> None:
    """Equations 2, 3 and 5 at the threshold: 25 of 100 outpacing packets are τ."""
    config = SymphonyConfig()
    state = fresh(config)._replace(alpha=alpha)
    for number in range(100):
        state, _ = track(config, state, int(number < share), 0, False, number == 0, False)
    state, _ = track(config, state, 0, 0, False, True, False)
    assert state.alpha == (min(alpha + 1, 100) if share == 25 else max(1, alpha - 1))
