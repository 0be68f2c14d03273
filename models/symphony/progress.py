"""A job's state as the hardware keeps it, and what one packet does to it (Algorithm 1, lines 2 to
11; equations 2, 3 and 5).

Three things differ from the letter of the paper and from nothing it can do. The end of a window is
applied when the job's next packet comes (lazily): windows without a packet change nothing, since no
sample is too few. Cnt_op and Cnt_total are one number, the balance
tau_scale·(Cnt_op - τ·Cnt_total), whose sign is the answer to equation 5, and a guard that counts
from N_sample + 1 down to 0. And psn_rec is kept as its logarithm where the coin wants no more: the
largest PSN has the largest one.
"""

from __future__ import annotations

from typing import NamedTuple

from models.symphony.config import SymphonyConfig
from models.symphony.measure import stored


class State(NamedTuple):
    """A job's word in the state memory."""

    valid: bool
    """The slot is given to a job."""
    step_min: int
    rec: int
    """psn_rec, or its logarithm."""
    warm: bool
    """psn_rec is above N_warmup; kept beside a logarithm, which does not tell."""
    alpha: int
    balance: int
    guard: int


class Tracked(NamedTuple):
    """What the packet goes on with."""

    known: bool
    """Its job has a slot."""
    outpacing: bool
    """step > step_min, as it was before the packet."""
    tossed: bool
    """Algorithm 1 reaches the coin."""
    alpha: int
    rec: int
    """psn_rec after the packet, as it is stored."""


def free(config: SymphonyConfig) -> State:
    """Return the word of a slot that no job has."""
    return State(False, 0, 0, False, 1, 0, config.n_sample + 1)


def fresh(config: SymphonyConfig) -> State:
    """Return the state of a new job: step_min 0, psn_rec 0, α 1, nothing counted."""
    return free(config)._replace(valid=True)


def distance(config: SymphonyConfig, step: int, step_min: int) -> int:
    """Return by how much `step` is ahead of `step_min`, negative where it is behind.

    With wrapping steps, from half the range behind to just less than half ahead.
    """
    if config.step_wrap == "plain":
        return step - step_min
    half = 1 << (config.step_bits - 1)
    return (step - step_min + half) % (2 * half) - half


def step_after(config: SymphonyConfig, step: int) -> int:
    """Return the step behind a step: the next one, wrapped; the last one itself if they do not."""
    last = (1 << config.step_bits) - 1
    if step == last:
        return 0 if config.step_wrap == "serial" else last
    return step + 1


def track(
    config: SymphonyConfig,
    state: State,
    step: int,
    psn: int,
    last: bool,
    first: bool,
    psn_first: bool,
) -> tuple[State, Tracked]:
    """Return a job's state after one packet, and what the packet goes on with.

    Args:
        config: the configuration.
        state: the job's word.
        step, psn, last: the packet's step, position in it, and whether it ends its write.
        first, psn_first: whether it is the job's first packet in its window of α, and of psn_rec.
    """
    c = config
    if not state.valid:
        return state, Tracked(False, False, False, state.alpha, state.rec)
    _, step_min, rec, warm, alpha, balance, guard = state
    if first:
        if guard == 0:
            alpha = min(alpha + 1, c.ceiling) if balance >= 0 else max(1, alpha - 1)
        balance, guard = 0, c.n_sample + 1
    if psn_first:
        rec, warm = 0, False

    outpacing = distance(c, step, step_min) > 0
    balance += c.tau_scale - c.tau_code if outpacing else -c.tau_code
    limit = 1 << (c.balance_bits - 1)
    balance = min(max(balance, -limit), limit - 1)
    guard = max(guard - 1, 0)

    if last:
        step_min, rec, warm = step_after(c, step), 0, False
    elif distance(c, step, step_min) < 0:
        step_min, rec, warm = step, stored(c, psn), psn > c.n_warmup
    elif step == step_min:
        rec, warm = max(rec, stored(c, psn)), warm or psn > c.n_warmup
    tossed = distance(c, step, step_min) > 0 and warm
    after = State(True, step_min, rec, warm, alpha, balance, guard)
    return after, Tracked(True, outpacing, tossed, alpha, rec)
