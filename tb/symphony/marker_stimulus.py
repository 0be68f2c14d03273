"""What a bench feeds a marker: packets of jobs at work, corners of Algorithm 1, orders.

Everything is drawn from the `random.Random` that is passed in, so that a seed repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

from models.common.ecn import ECT0
from models.symphony.beat import GIVE, PACKET, READ, TAKE
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.marker import Packet
from tb.symphony.marker_bench import Offer
from tb.symphony.marker_reference import Order

Offers = Iterator[Offer]

EDGE = 8
"""Packets in a row within one window, so that its end waits for no end of another."""


def offer(
    c: SymphonyConfig,
    rng: random.Random,
    job: int,
    step: int,
    psn: int,
    last: bool = False,
    advance: int = 0,
    **more: Any,
) -> Offer:
    """A packet at position `psn` of a step, with any queue, codepoint and random word that `more`
    does not name; steps wrap, positions are cut to what fits."""
    step %= 1 << c.step_bits
    fields = {"queue_bytes": depth(c, rng), "ecn": rng.getrandbits(2), "random": word(c, rng)}
    psn = (psn + step * c.step_packets) % (1 << c.psn_bits)
    return Offer(Packet(0, job, step, psn, last, **{**fields, **more}), advance)


def depth(c: SymphonyConfig, rng: random.Random) -> int:
    """A queue's depth, mostly one at which RED does not mark."""
    low, high = rng.choice(((0, c.kmin), (0, c.kmin), (c.kmin, c.kmax), (0, 2**c.queue_bits - 1)))
    return rng.choice((low, high, rng.randint(low, high), rng.randint(low, high)))


def word(c: SymphonyConfig, rng: random.Random) -> int | None:
    """None, or a random word whose coin's number has any exponent of the likely ones as often."""
    if rng.random() < 0.5:
        return None
    bits = c.random_exponent_bits
    zeros = rng.choice((bits, *range(min(bits, 12))))
    lead = (rng.getrandbits(bits) | 1 << bits - 1) >> zeros
    return lead << RED_BITS + c.random_mantissa_bits | rng.getrandbits(
        RED_BITS + c.random_mantissa_bits
    )


def far(c: SymphonyConfig, rng: random.Random) -> int:
    """A position of any order of magnitude."""
    return rng.getrandbits(rng.randint(1, c.psn_bits))


def any_job(c: SymphonyConfig, rng: random.Random, jobs: Sequence[int]) -> int:
    """Mostly one of `jobs`, now and then any number."""
    return (
        rng.choice(jobs)
        if rng.random() < 0.95
        else rng.getrandbits(c.job_bits or 1) >> (0 if c.job_bits else 1)
    )


def beyond(c: SymphonyConfig) -> range:
    """A few numbers of jobs for which there is no memory."""
    return range(c.jobs, min(c.jobs + 3, 1 << c.job_bits))


def uniform(c: SymphonyConfig, rng: random.Random, jobs: Sequence[int], count: int) -> Offers:
    """Any step and position."""
    for _ in range(count):
        step, last = rng.getrandbits(c.step_bits), rng.random() < 0.2
        advance = rng.choice((0, 1, c.window_ns // 8))
        yield offer(c, rng, any_job(c, rng, jobs), step, far(c, rng), last, advance)


def ring(c: SymphonyConfig, rng: random.Random, jobs: Sequence[int], count: int) -> Offers:
    """Jobs whose flows are a step or two apart, and some in a window's last moments."""
    base = {job: rng.getrandbits(c.step_bits) for job in jobs}
    for _ in range(count):
        job = any_job(c, rng, jobs)
        step = base.setdefault(job, 0) + rng.choice((0, 0, 0, 0, 1, 1, 1, 1, 2, -1))
        last = rng.random() < 0.04
        base[job] += last
        advance = rng.choice((0, 0, 1, c.window_ns // 40, c.window_ns // 6))
        yield offer(c, rng, job, step, far(c, rng), last, advance)


def echoes(c: SymphonyConfig, rng: random.Random, jobs: Sequence[int], distance: int) -> Offers:
    """For each n from 1 to `distance`: a job's packet, n - 1 of other jobs, and its next one; once
    in the same window, once behind its edge."""
    for advance in (0, c.window_ns):
        for n in range(1, distance + 1):
            mine, *rest = rng.sample(jobs, len(jobs))
            for _ in range(EDGE):
                yield offer(c, rng, mine, 0, far(c, rng))
            for _ in range(n - 1):
                yield offer(c, rng, rng.choice(rest or jobs), rng.randrange(3), far(c, rng))
            yield offer(c, rng, mine, rng.randrange(2), far(c, rng), advance=advance)


def gaps(distance: int) -> Iterator[bool]:
    """Pauses of n - 1 cycles, n from 1 to `distance`, each in front of `EDGE` packets in a row."""
    for n in range(1, distance + 1):
        yield from [True] * (n - 1) + [False] * EDGE
    yield from repeat(False)


def behind_gaps(c: SymphonyConfig, rng: random.Random, job: int, distance: int) -> Offers:
    """A job's packets for `gaps`, a window's edge behind each."""
    for _ in range(distance):
        for number in range(EDGE):
            advance = 0 if number else c.window_ns
            yield offer(c, rng, job, rng.randrange(2), far(c, rng), advance=advance)


def at(c: SymphonyConfig, rng: random.Random, job: int, step: int) -> Offer:
    """A packet behind which step_min is `step`."""
    return offer(c, rng, job, step - 1, far(c, rng), last=True)


def corners(c: SymphonyConfig, rng: random.Random, job: int) -> Offers:
    """Every branch of Algorithm 1, with step_min in the middle and at the end of its range."""
    top = (1 << c.step_bits) - 1
    warm = c.n_warmup + 1
    for step in (top // 2, top - 2):
        yield at(c, rng, job, step)
        for psn in (warm, warm + 1, warm):
            yield offer(c, rng, job, step, psn)
        yield offer(c, rng, job, step + 1, 0)
        yield offer(c, rng, job, step + 2, 3, last=True)
        yield offer(c, rng, job, step, warm)
        yield offer(c, rng, job, step - 2, warm, last=True)
        yield offer(c, rng, job, step - 1, warm)
        yield offer(c, rng, job, step, far(c, rng))
        yield offer(c, rng, job, step - 1, far(c, rng), last=True)
    yield at(c, rng, job, top)
    for step in (top, top + 1, top, top + 2):
        yield offer(c, rng, job, step, warm)
    yield offer(c, rng, job, top, warm, last=True)
    yield offer(c, rng, job, top + 1, warm)


def warming(c: SymphonyConfig, rng: random.Random, job: int) -> Offers:
    """psn_rec just below N_warmup, at it and above, each met by packets ahead."""
    step = (1 << c.step_bits) // 2 - 1
    yield at(c, rng, job, step)
    for psn in range(max(0, c.n_warmup - 1), c.n_warmup + 2):
        yield offer(c, rng, job, step, psn)
        for _ in range(3):
            yield offer(c, rng, job, step + 1, far(c, rng))


def coins(c: SymphonyConfig, rng: random.Random, job: int, count: int) -> Offers:
    """Coins with P from far below 1 to 1, for each codepoint, RED's queue low and high."""
    step = (1 << c.step_bits) // 2 - 1
    yield at(c, rng, job, step)
    for number in range(count):
        if number % 16 == 0:
            yield offer(c, rng, job, step, c.n_warmup + 1 + number // 16)
        low, high = (0, c.kmin), (c.kmax + 1, 2**c.queue_bits - 1)
        queue = rng.randint(*(low if number % 4 else high))
        yield offer(c, rng, job, step + 1, far(c, rng), queue_bytes=queue, ecn=number // 4 % 4)


def climb(c: SymphonyConfig, rng: random.Random, job: int) -> Offers:
    """α up to its ceiling and down to 1 again; then windows in which ρ is τ, as near as it gets,
    and windows of too few packets."""
    enough = c.n_sample + 1
    yield from windows(c, rng, job, c.ceiling + 1, enough, enough - 1)
    yield from windows(c, rng, job, c.ceiling + 1, enough, 0)
    places = c.tau_scale
    count = -(-enough // places) * places if c.tau_scale <= 4 else enough
    yield from windows(c, rng, job, 3, count, int(count * c.tau))
    yield from windows(c, rng, job, 2, max(1, c.n_sample), 0)
    yield from windows(c, rng, job, 2, 1, 0)


def windows(
    c: SymphonyConfig, rng: random.Random, job: int, number: int, count: int, ahead: int
) -> Offers:
    """So many windows of `count` packets of a job, the last `ahead` of which are ahead."""
    step = (1 << c.step_bits) // 2 - 1
    yield at(c, rng, job, step)
    for _ in range(number):
        for place in range(count):
            outpacing = place >= count - ahead
            psn = far(c, rng) if place else c.n_warmup + 1
            advance = 0 if place else c.window_ns
            yield offer(c, rng, job, step + outpacing, psn, advance=advance)


def sleep(c: SymphonyConfig, rng: random.Random, jobs: Sequence[int]) -> Offers:
    """A job that sleeps while windows end, by another job's packets or, for want of one, a leap."""
    mine, *rest = rng.sample(jobs, len(jobs))
    for windows in (1, 2, 3, 9):
        yield offer(c, rng, mine, 0, far(c, rng))
        for _ in range(windows if rest else 0):
            yield offer(c, rng, rest[0], 1, far(c, rng), advance=c.window_ns)
        advance = 0 if rest else windows * c.window_ns
        yield offer(c, rng, mine, 1, far(c, rng), advance=advance)


def everything(c: SymphonyConfig, rng: random.Random, jobs: Sequence[int], count: int) -> Offers:
    """Some of all, in about `count` packets and what corners take."""
    for part in range(4):
        yield from ring(c, rng, jobs, count // 8)
        yield from uniform(c, rng, jobs, count // 16)
        yield from (corners, warming)[part % 2](c, rng, rng.choice(jobs))
        yield from coins(c, rng, rng.choice(jobs), count // 16)
    yield from sleep(c, rng, jobs)
    for job in beyond(c):
        yield offer(c, rng, job, 0, far(c, rng))


def standing(c: SymphonyConfig, rng: random.Random, job: int) -> Offers:
    """Coins until time counts as stopped, some more, and time moves again."""
    step = (1 << c.step_bits) // 2 - 1
    yield at(c, rng, job, step)
    yield offer(c, rng, job, step, c.n_warmup + 1, advance=1)
    for _ in range(c.time_timeout + 6):
        yield offer(c, rng, job, step + 1, far(c, rng), ecn=ECT0)
    yield offer(c, rng, job, step + 1, far(c, rng), advance=1)


def leaps(c: SymphonyConfig, rng: random.Random, jobs: Sequence[int], count: int) -> Offers:
    """Time that runs, leaps by any number of windows that leaves room for more, and runs back."""
    longest = (c.time_bits - c.window_ns.bit_length()) - count.bit_length() - 1
    for _ in range(count):
        windows = rng.choice((2, 3, 1 << rng.randint(1, longest), rng.getrandbits(longest)))
        advance = windows * c.window_ns + rng.randint(-c.window_ns, c.window_ns)
        yield offer(c, rng, rng.choice(jobs), rng.randrange(2), far(c, rng), advance=advance)
        for _ in range(rng.randrange(5)):
            some = rng.choice((0, 1, c.window_ns // 3, -1, -c.window_ns))
            yield offer(c, rng, rng.choice(jobs), rng.randrange(2), far(c, rng), advance=some)


def orders(
    c: SymphonyConfig, rng: random.Random, jobs: Sequence[int], packets: int, count: int
) -> list[tuple[int, Order]]:
    """Orders of all kinds among so many packets, some in a row; half of them read, by either op."""
    places = sorted(rng.randrange(packets) for _ in range(count))
    ops = (READ, READ, PACKET, GIVE, GIVE, TAKE)
    return [
        (place, Order(any_job(c, rng, [*jobs, *beyond(c)]), rng.choice(ops))) for place in places
    ]
