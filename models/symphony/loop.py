"""The state of all jobs, packet by packet, as machine code: what is sequential in Symphony.

It keeps what `models.symphony.progress`, `touch` and `window` say, but each job's psn_rec as the
PSN itself, which its logarithm follows from, and the start of its last window in place of a bit.
Functions here take all they need as arguments (see `models.common.jit`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.common.jit import compiled

JOB_WORDS = 8
"""int64 words of a job: a cache line."""
VALID, STEP_MIN, REC, ALPHA, BALANCE, GUARD, WINDOW, PSN_WINDOW = range(JOB_WORDS)

CLOCK_WORDS = 4
"""int64 words of the clock."""
NOW, STILL, WINDOW_START, PSN_WINDOW_START = range(CLOCK_WORDS)

KNOWN, OUTPACING, TOSSED = 1, 2, 4
"""Bits of `flags`."""


class Constants(NamedTuple):
    """What the loop needs of a configuration."""

    window: int
    psn_window: int
    time_timeout: int
    half: int
    """Half the range of steps where they wrap, 0 where they do not."""
    last_step: int
    step_packets: int
    psn_mask: int
    n_warmup: int
    n_sample: int
    outpacing: int
    """What an outpacing packet adds to the balance."""
    lagging: int
    """What any other takes from it."""
    limit: int
    """The balance stays from -limit to limit - 1."""
    ceiling: int


class Orders(NamedTuple):
    """Arrays of `models.symphony.slots.Orders`."""

    before: np.ndarray
    job: np.ndarray
    given: np.ndarray


class Packets(NamedTuple):
    """Arrays of `models.symphony.trace.Trace`."""

    time: np.ndarray
    job: np.ndarray
    step: np.ndarray
    psn: np.ndarray
    last: np.ndarray


class Tracked(NamedTuple):
    """What the packets go on with: arrays to fill."""

    flags: np.ndarray
    """uint8: `KNOWN`, `OUTPACING`, `TOSSED`."""
    alpha: np.ndarray
    """int32."""
    rec: np.ndarray
    """int32: psn_rec after the packet."""
    position: np.ndarray
    """int32: the packet's position in its step."""


@compiled
def track(
    c: Constants,
    jobs: np.ndarray,
    clock: np.ndarray,
    orders: Orders,
    packets: Packets,
    out: Tracked,
) -> None:
    """Serve packets in order, with the orders among them.

    `jobs` is int64 [jobs, JOB_WORDS] and `clock` int64 [CLOCK_WORDS]; both start as 0 and are kept
    up to date.
    """
    done = 0
    for i in range(len(packets.time)):
        while done < len(orders.before) and orders.before[done] <= i:
            state = jobs[orders.job[done]]
            state[:] = 0  # an unused state ends a window as it began
            if orders.given[done]:
                state[VALID], state[ALPHA], state[GUARD] = 1, 1, c.n_sample + 1
            done += 1

        time = packets.time[i]
        if time > clock[NOW]:
            clock[NOW], clock[STILL] = time, 0
            if time - clock[WINDOW_START] >= c.window:
                clock[WINDOW_START] = time // c.window * c.window
            if time - clock[PSN_WINDOW_START] >= c.psn_window:
                clock[PSN_WINDOW_START] = time // c.psn_window * c.psn_window
        else:
            clock[STILL] = min(clock[STILL] + 1, c.time_timeout)

        step = np.int64(packets.step[i])
        position = (packets.psn[i] - step * c.step_packets) & c.psn_mask
        out.position[i] = position
        state = jobs[packets.job[i]]
        if not state[VALID]:
            out.flags[i] = out.alpha[i] = out.rec[i] = 0
            continue
        rec, alpha, balance, guard = state[REC], state[ALPHA], state[BALANCE], state[GUARD]
        if state[WINDOW] != clock[WINDOW_START]:
            state[WINDOW] = clock[WINDOW_START]
            if guard == 0:
                alpha = min(alpha + 1, c.ceiling) if balance >= 0 else max(1, alpha - 1)
            balance, guard = 0, c.n_sample + 1
        if state[PSN_WINDOW] != clock[PSN_WINDOW_START]:
            state[PSN_WINDOW] = clock[PSN_WINDOW_START]
            rec = 0

        ahead = step - state[STEP_MIN]
        if c.half:
            ahead = ((ahead + c.half) & (2 * c.half - 1)) - c.half
        flags = KNOWN | (OUTPACING if ahead > 0 else 0)
        balance += c.outpacing if ahead > 0 else -c.lagging
        balance = min(max(balance, -c.limit), c.limit - 1)
        guard = max(guard - 1, 0)

        if packets.last[i]:
            step_min = step + 1
            if step == c.last_step:
                step_min = 0 if c.half else c.last_step
            state[STEP_MIN], rec = step_min, 0
        elif ahead < 0:
            state[STEP_MIN], rec = step, position
        elif ahead == 0:
            rec = max(rec, position)
        elif rec > c.n_warmup and clock[STILL] < c.time_timeout:
            flags |= TOSSED
        state[REC], state[ALPHA], state[BALANCE], state[GUARD] = rec, alpha, balance, guard
        out.flags[i], out.alpha[i], out.rec[i] = flags, alpha, rec


@compiled
def register_words(state: np.uint64, mask: np.uint64, out: np.ndarray) -> np.uint64:
    """Fill `out` (uint64) with the low bits of the register's states from `state` on, and return
    the state behind them; `models.common.lfsr` says how it moves."""
    left, right, left_again = np.uint64(13), np.uint64(7), np.uint64(17)
    for i in range(len(out)):
        out[i] = state & mask
        state ^= state << left
        state ^= state >> right
        state ^= state << left_again
    return state
