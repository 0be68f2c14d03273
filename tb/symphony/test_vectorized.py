"""The bulk model against the golden model and against the blocks' models, packet by packet."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from models.common.ecn import may_mark
from models.common.lfsr import initial_state, next_state
from models.common.log2 import log2_code
from models.symphony import coin, loop, vectorized
from models.symphony.answers import Answers
from models.symphony.config import RED_BITS, SymphonyConfig, preset
from models.symphony.marker import Packet, Symphony
from models.symphony.measure import position, stored
from models.symphony.progress import free, fresh, track
from models.symphony.red import red_mark, red_probability
from models.symphony.slots import Orders
from models.symphony.touch import Touch
from models.symphony.trace import NO_WORD, Trace
from models.symphony.vectorized import VectorizedSymphony, answer
from models.symphony.window import Clock

Draw = st.DrawFn
ROOT = Path(__file__).parents[2]


@st.composite
def configs(draw: Draw) -> SymphonyConfig:
    """Small widths, and every option at both ends of what it can do."""
    psn_bits = draw(st.integers(4, 7))
    kmin, kmax = sorted(draw(st.lists(st.integers(0, 255), min_size=2, max_size=2)))
    return SymphonyConfig(
        jobs=draw(st.integers(1, 5)),
        step_bits=draw(st.integers(2, 4)),
        psn_bits=psn_bits,
        queue_bits=8,
        time_bits=draw(st.sampled_from([16, 40, 64])),
        k=draw(st.sampled_from([1.0, 0.3, 0.05, 0.0001])),
        tau=draw(st.sampled_from([0.0, 0.25, 0.3, 0.5, 1.0])),
        window_ns=draw(st.integers(16, 90)),
        psn_window_ns=draw(st.one_of(st.none(), st.integers(16, 90))),
        n_warmup=draw(st.integers(0, 4)),
        n_sample=draw(st.sampled_from([0, 0, 1, 2, 5])),
        alpha_max=draw(st.sampled_from([None, 1, 2, 3])),
        step_wrap=draw(st.sampled_from(["serial", "plain"])),
        step_packets=draw(st.sampled_from([0, 0, 1, 5, 1000])),
        kmin=kmin,
        kmax=kmax,
        pmax=draw(st.sampled_from([0.001, 0.2, 1.0])),
        arithmetic=draw(st.sampled_from(["log", "exact"])),
        mantissa_bits=draw(st.integers(2, 7)),
        fraction_bits=draw(st.integers(2, 7)),
        seed=draw(st.integers(0, 2**63 - 1)),
        time_timeout=draw(st.integers(1, 8)),
    )


def packets_of(c: SymphonyConfig, count: int, still: float, seed: int) -> list[Packet]:
    """Jobs a few steps ahead of and behind one another; times that stand still, creep, and jump
    over many windows."""
    rng = random.Random(seed)
    packets, time, step = [], rng.choice([0, 1, 1000]), rng.randrange(2**c.step_bits)
    for _ in range(count):
        if rng.random() >= still:
            time += rng.choice([1, 1, 2, 3, 5, 17, 90, 4000])
            step += rng.random() < 0.1
        high = rng.choice([c.psn_bits, c.psn_bits, 3])
        word = rng.getrandbits(c.random_bits)
        packets.append(
            Packet(
                time_ns=min(time, 2**c.time_bits - 1),
                job=rng.randrange(c.jobs),
                step=(step + rng.choice([0, 0, 1, 1, 1, 2, -1, 7])) % 2**c.step_bits,
                psn=rng.randrange(2**high),
                last=rng.random() < 0.05,
                queue_bytes=rng.randrange(256),
                ecn=rng.randrange(4),
                random=rng.choice([None, word, word % 2**RED_BITS]),
            )
        )
    return packets


@st.composite
def cases(draw: Draw) -> tuple[SymphonyConfig, list[Packet], list[tuple[int, int, bool]]]:
    """A switch, packets, and orders (before which packet, job, given), some behind the last."""
    c = draw(configs())
    count, seed = draw(st.integers(1, 120)), draw(st.integers(0, 2**32))
    packets = packets_of(c, count, draw(st.sampled_from([0.1, 0.4, 0.8])), seed)
    rng = random.Random(seed)
    orders = [(0, job, True) for job in range(c.jobs) if rng.random() < 0.9]
    for _ in range(rng.choice([0, 0, 4])):
        orders.append((rng.randrange(count + 2), rng.randrange(c.jobs), rng.random() < 0.6))
    return c, packets, sorted(orders, key=lambda order: order[0])


def columns(packets: list[Packet]) -> Trace:
    names = ("time_ns", "job", "step", "psn", "last", "queue_bytes", "ecn")
    data: dict[str, Any] = {name: [getattr(p, name) for p in packets] for name in names}
    data["random"] = [NO_WORD if p.random is None else p.random for p in packets]
    return Trace.of(**data)


def orders_of(orders: list[tuple[int, int, bool]]) -> Orders:
    return Orders.of(*zip(*orders, strict=True)) if orders else Orders.of()


def rows(answers: Answers) -> list[tuple[Any, ...]]:
    """Return what the golden model's `Verdict` has, a tuple a packet."""
    names = ("known", "outpacing", "probability", "symphony", "red", "mark", "ecn")
    return list(zip(*(getattr(answers, name).tolist() for name in names), strict=True))


def in_turn(packets: list[Packet], orders: list[tuple[int, int, bool]]) -> Any:
    """Give packets and orders in the order in which they go in."""
    waiting = list(orders)
    for number, packet in enumerate(packets):
        while waiting and waiting[0][0] <= number:
            yield waiting.pop(0)
        yield packet


@given(cases())
def test_real_numbers_equal_the_golden_model(case: Any) -> None:
    c, packets, orders = case
    golden = Symphony(c)
    expected = []
    for item in in_turn(packets, orders):
        if isinstance(item, Packet):
            v = golden.serve(item)
            expected.append((v.known, v.outpacing, v.probability, v.symphony, v.red, v.mark, v.ecn))
        elif item[2]:
            golden.give(item[1])
        else:
            golden.take(item[1])
    event(f"coin tossed: {any(row[2] > 0 for row in expected)}")
    assert rows(answer(c, columns(packets), orders_of(orders), real=True)) == expected


def by_blocks(c: SymphonyConfig, packets: list[Packet], orders: Any) -> list[tuple[Any, ...]]:
    """Serve packets as the hardware's blocks do, by their models; the last entry is the gap."""
    clock = Clock(c)
    touches = [Touch(c), Touch(c)]
    state = [free(c)] * c.jobs
    register = initial_state(c.seed)
    answers = []
    for item in in_turn(packets, orders):
        if not isinstance(item, Packet):
            state[item[1]] = fresh(c) if item[2] else free(c)
            continue
        word, register = register % 2**c.random_bits, next_state(register)
        word = word if item.random is None else item.random
        red = red_mark(c, item.queue_bytes, word % 2**RED_BITS)
        moving = clock.packet(item.time_ns)
        windows = zip(touches, clock.windows(), strict=True)
        first, psn_first = (touch.packet(item.job, window) for touch, window in windows)
        psn = position(c, item.step, item.psn)
        state[item.job], tracked = track(
            c, state[item.job], item.step, psn, item.last, first, psn_first
        )
        some = tracked.tossed and moving and psn > 0
        gap = coin.gap(c, tracked.alpha, tracked.rec, stored(c, psn), some)
        symphony = bool(coin.mark(c, gap, coin.split(c, word)))
        mark = (symphony or red) and may_mark(item.ecn)
        verdict = (symphony, red, mark, 3 if mark else item.ecn, gap)
        answers.append((tracked.known, tracked.outpacing, coin.gap_probability(c, gap), *verdict))
    return answers


@given(cases())
def test_answers_equal_those_of_the_blocks(case: Any) -> None:
    c, packets, orders = case
    expected = by_blocks(c, packets, orders)
    event(f"{c.arithmetic}, coin tossed: {any(row[-1] > 0 for row in expected)}")
    got = answer(c, columns(packets), orders_of(orders))
    assert got.gap is not None
    pairs = zip(rows(got), got.gap.tolist(), strict=True)
    assert [(*row, gap) for row, gap in pairs] == expected


@given(cases(), st.integers(1, 12))
def test_calls_go_on_where_the_last_one_ended(case: Any, block: int) -> None:
    c, packets, orders = case
    whole = answer(c, columns(packets), orders_of(orders))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vectorized, "_BLOCK", block)
        seen: list[int] = []
        parts = answer(c, columns(packets), orders_of(orders), seen.append)
    assert rows(parts) == rows(whole)
    assert seen[-1] == len(packets)


@pytest.mark.parametrize("name", ["log-16k", "exact-16k", "log-64"])
def test_presets_at_full_width(name: str) -> None:
    c = preset(name, seed=3, k=0.05, window_ns=2000, n_warmup=4, n_sample=4)
    rng = np.random.default_rng(1)
    packets = [
        Packet(
            time_ns=time,
            job=[0, 1, 2, c.jobs - 1, int(rng.integers(c.jobs))][rng.integers(5)],
            step=int(rng.choice([0, 1, 2, 3, 65535])),
            psn=int(rng.integers(2 ** rng.integers(1, 24))),
            last=bool(rng.random() < 0.02),
            queue_bytes=int(rng.integers(0, 150_000)),
        )
        for time in np.cumsum(rng.integers(0, 60, 3000)).tolist()
    ]
    orders = [(0, job, True) for job in range(c.jobs - 1)] + [(500, 1, False), (900, 1, True)]
    got = answer(c, columns(packets), orders_of(orders))
    expected = by_blocks(c, packets, orders)
    assert [(*row, int(gap)) for row, gap in zip(rows(got), got.gap, strict=True)] == expected  # type: ignore[arg-type]
    assert got.symphony.sum() > 50
    assert (~got.known).any()


def test_the_balance_saturates_as_the_hardware_does() -> None:
    """A long run of one kind, then of the other, in one window: the sign turns early."""
    c = SymphonyConfig(jobs=1, window_packets=255, window_ns=10**6, n_sample=0, tau=0.5)
    steps = [0] + [1] * 600 + [0] * 500 + [0]
    times = [*range(1, len(steps)), 2 * 10**6]
    packets = [Packet(time, 0, step, 0) for time, step in zip(times, steps, strict=True)]
    orders = [(0, 0, True)]
    for real, alpha in ((False, 1), (True, 2)):
        model = VectorizedSymphony(c, real=real)
        assert model.follow(columns(packets), orders_of(orders)).alpha[-1] == alpha
    got = answer(c, columns(packets), orders_of(orders))
    assert [row[0] for row in rows(got)] == [row[0] for row in by_blocks(c, packets, orders)]


@given(st.integers(0, 2**64 - 1), st.integers(1, 64))
def test_register_words(state: int, bits: int) -> None:
    words = np.empty(20, np.uint64)
    after = loop.register_words(np.uint64(state), np.uint64(2**bits - 1), words)
    for word in words.tolist():
        assert word == state % 2**bits
        state = next_state(state)
    assert int(after) == state


@pytest.mark.parametrize("mantissa_bits", [2, 6, 10])
@pytest.mark.parametrize("psn_bits", [4, 10, 12])
def test_all_logarithms(mantissa_bits: int, psn_bits: int) -> None:
    c = SymphonyConfig(mantissa_bits=mantissa_bits, psn_bits=psn_bits, n_warmup=0)
    codes = vectorized.stored_all(c, np.arange(2**psn_bits))
    expected = [log2_code(v, mantissa_bits, c.fraction_bits, psn_bits) for v in range(2**psn_bits)]
    assert codes.tolist() == expected
    exact = replace(c, arithmetic="exact")
    assert vectorized.stored_all(exact, np.arange(16)).tolist() == list(range(16))


@given(configs(), st.lists(st.integers(0, 2**40 - 1), min_size=1, max_size=20))
def test_random_numbers_and_red(c: SymphonyConfig, words: list[int]) -> None:
    words = [word % 2**c.random_bits for word in words]
    array = np.array(words, np.int64)
    assert vectorized.drawn(c, array).tolist() == [coin.drawn(c, word) for word in words]
    queues = np.arange(256)
    for word in words[:3]:
        marks = vectorized.red_marks(c, queues, np.full(256, word))
        assert marks.tolist() == [red_mark(c, q, word % 2**RED_BITS) for q in range(256)]


@pytest.mark.parametrize(("kmin", "kmax"), [(40, 90), (0, 255), (90, 90)])
def test_red_in_real_numbers(kmin: int, kmax: int) -> None:
    """Of all random numbers, the largest that marks is known; it and the next are tried."""
    c = SymphonyConfig(queue_bits=8, kmin=kmin, kmax=kmax, pmax=0.75)
    queues = np.arange(256)
    share = [red_probability(c, queue) for queue in range(256)]
    most = np.ceil(np.array(share) * 2**RED_BITS - 0.5).astype(np.int64)  # so many mark
    some, not_all = most > 0, most < 2**RED_BITS
    assert vectorized.red_real(c, queues, most - 1)[some].all()
    assert not vectorized.red_real(c, queues, most)[not_all].any()


def test_machine_code_is_kept_out_of_the_tree(tmp_path: Path) -> None:
    """In a process of its own, as the place is chosen when Numba is first imported."""
    program = "from models.symphony import loop; print(loop.track.stats.cache_path)"
    for given_place in (None, str(tmp_path)):
        environment = {k: v for k, v in os.environ.items() if k != "NUMBA_CACHE_DIR"}
        if given_place:
            environment["NUMBA_CACHE_DIR"] = given_place
        command = [sys.executable, "-c", program]
        done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment)
        assert done.stdout.startswith(given_place or str(ROOT / "build" / "numba")), done
