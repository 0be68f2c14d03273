"""Random packets in bulk that reach every branch of Algorithm 1."""

from __future__ import annotations

import numpy as np

from models.symphony.config import SymphonyConfig
from models.symphony.slots import Orders
from models.symphony.trace import NO_WORD, Trace

HOT = 64
"""Jobs that get most packets of a call, enough to move α in every window; half of them are the same
in all calls, so that α comes to its ceiling."""

WINDOW = 8192
"""Packets of a window, on average."""


def random_trace(
    config: SymphonyConfig, count: int, rng: np.random.Generator, start_ns: int = 0
) -> Trace:
    """Return packets of all jobs, most of them of a few; time moves on evenly, and now and then by
    three windows. For 60 windows most are ahead of their job's step, for 60 few. PSNs are as
    often small as large, queues mostly where RED tosses a coin, and one word in four is given."""
    c = config
    hot = rng.integers(0, c.jobs, HOT)
    hot[::2] = np.arange(HOT // 2) * c.jobs // HOT
    job = np.where(
        rng.random(count) < 0.7, hot[rng.integers(0, HOT, count)], rng.integers(0, c.jobs, count)
    )
    passing = rng.integers(0, 2 * c.window_ns // WINDOW + 2, count)
    passing[rng.random(count) < 0.2 / WINDOW] = 3 * c.window_ns
    time_ns = start_ns + np.cumsum(passing)
    calm = time_ns // c.window_ns // 60 % 2 == 1
    ahead = rng.choice([-1, 0, 0, 0, 0, 1, 1, 1, 2, 9], count)
    ahead[calm & (rng.random(count) < 0.9)] = 0
    step = rng.integers(2**c.step_bits) + np.arange(count) // WINDOW + ahead
    position = (2 ** (rng.random(count) * c.psn_bits)).astype(np.int64) - 1
    queue = rng.integers(0, min(c.kmax * 5 // 4 + 2, 2**c.queue_bits), count)
    words = rng.integers(0, min(2**c.random_bits, 2**63), count) >> rng.integers(0, 30, count)
    return Trace.of(
        time_ns=np.minimum(time_ns, 2 ** min(c.time_bits, 63) - 1),
        job=job,
        step=step % 2**c.step_bits,
        psn=(position + step * c.step_packets) % 2**c.psn_bits,
        last=rng.random(count) < np.where(calm, 0.03, 0.003),
        queue_bytes=queue,
        ecn=rng.choice([0, 1, 2, 2, 2, 3], count),
        random=np.where(rng.random(count) < 0.75, NO_WORD, words),
    )


def random_orders(config: SymphonyConfig, count: int, rng: np.random.Generator) -> Orders:
    """Return orders among `count` packets: nine jobs in ten have a slot from the start; then slots
    are given and taken every thousand packets."""
    jobs = np.flatnonzero(rng.random(config.jobs) < 0.9)
    more = count // 1000
    return Orders.of(
        np.concatenate([np.zeros(len(jobs)), np.sort(rng.integers(0, count, more))]),
        np.concatenate([jobs, rng.integers(0, config.jobs, more)]),
        np.concatenate([np.ones(len(jobs)), rng.random(more) < 0.6]),
    )
