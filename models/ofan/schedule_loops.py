"""The schedules of the banked engines as machine code: in which cycle each packet is served.

Packets lie in order of batch and lane, those of batch b from `start[b]` to `start[b + 1] - 1`; no
batch is empty. Banks and queues are numbered over all pipes. Functions here take all they need as
arguments (see `models.common.jit`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.common.jit import compiled


class Offer(NamedTuple):
    """What comes in."""

    cycle: np.ndarray
    """Of each batch: the cycle in which it arrives; rising."""
    start: np.ndarray
    """Of each batch, and one more: its first packet."""
    key: np.ndarray
    """Of each packet."""
    bank: np.ndarray
    """Of each packet."""


class Times(NamedTuple):
    """What comes out: arrays to fill."""

    taken: np.ndarray
    """Of each batch: the cycle in which the engine takes it."""
    served: np.ndarray
    """Of each packet: the cycle in which its bank serves it; -1 to begin with."""


class Queues(NamedTuple):
    """Shape of `models.ofan.queued`."""

    pipes: int
    queues: int
    """Of a pipe."""
    fold: int
    """Waves of a batch in a pipe."""
    depth: int
    waves: int
    """Waves that may be under way in a pipe."""
    banks: int
    """Of a pipe."""


@compiled
def queued(shape: Queues, offer: Offer, wave: np.ndarray, queue: np.ndarray, times: Times) -> None:
    """Fill in `times` as `models.ofan.queued` serves; `wave` and `queue` are each packet's number
    of its wave in the batch and of its queue."""
    taken, served = times
    held = np.zeros(shape.pipes * shape.queues, np.int64)
    blocked = np.full(shape.pipes * shape.queues, -1)  # cycle in which the older wave is at its head
    busy = np.full(shape.pipes * shape.banks, -1)  # 2 · cycle + (0 for the older wave, 1)
    serves = np.zeros(shape.pipes * shape.banks, np.int64)  # the key, -1 once another one was met
    oldest = np.zeros(shape.pipes, np.int64)
    following = np.zeros(shape.pipes, np.int64)
    begins = np.zeros((shape.pipes, shape.waves), np.int64)
    ends = np.zeros((shape.pipes, shape.waves), np.int64)
    left = np.zeros((shape.pipes, shape.waves), np.int64)
    front = now = inside = 0
    while front < len(offer.cycle) or inside:
        if not inside:
            now = max(now, offer.cycle[front])
        if front < len(offer.cycle) and offer.cycle[front] <= now:
            first, end = offer.start[front], offer.start[front + 1]
            room = True
            for pipe in range(shape.pipes):
                room &= following[pipe] - oldest[pipe] <= shape.waves - shape.fold
            for i in range(first, end):
                held[queue[i]] += 1
                room &= held[queue[i]] <= shape.depth
            if room:
                taken[front] = now
                front += 1
                inside += end - first
                for i in range(first, end):
                    pipe = wave[i] // shape.fold
                    if i == first or wave[i] != wave[i - 1]:
                        following[pipe] += 1
                        begins[pipe, (following[pipe] - 1) % shape.waves] = i
                        left[pipe, (following[pipe] - 1) % shape.waves] = 0
                    ends[pipe, (following[pipe] - 1) % shape.waves] = i + 1
                    left[pipe, (following[pipe] - 1) % shape.waves] += 1
            else:
                for i in range(first, end):
                    held[queue[i]] -= 1
        for pipe in range(shape.pipes):
            for younger in range(min(2, following[pipe] - oldest[pipe])):
                at = (oldest[pipe] + younger) % shape.waves
                for i in range(begins[pipe, at], ends[pipe, at]):
                    if served[i] >= 0:
                        continue
                    if younger and blocked[queue[i]] == now:
                        break  # it is hidden: all that follow in its wave wait
                    blocked[queue[i]] = now
                    bank = offer.bank[i]
                    if busy[bank] < 2 * now:
                        busy[bank], serves[bank] = 2 * now + younger, offer.key[i]
                    elif busy[bank] != 2 * now + younger:
                        continue
                    elif serves[bank] != offer.key[i]:
                        serves[bank] = -1
                        continue
                    served[i] = now
                    held[queue[i]] -= 1
                    left[pipe, at] -= 1
                    inside -= 1
            for _ in range(2):
                if oldest[pipe] < following[pipe] and not left[pipe, oldest[pipe] % shape.waves]:
                    oldest[pipe] += 1
        now += 1


@compiled
def prefix_turns(start: np.ndarray, key: np.ndarray, bank: np.ndarray, pipe: np.ndarray, banks: int):
    """Return the turn of each packet in its batch under `models.ofan.matched`: in each turn a pipe
    serves its lanes up to the first whose bank serves another key; `banks` is of all pipes."""
    turns = np.zeros(len(key), np.int64)
    stamp = np.full(banks, -1)
    serves = np.zeros(banks, np.int64)
    now = 0
    for b in range(len(start) - 1):
        for i in range(start[b], start[b + 1]):
            if i == start[b] or pipe[i] != pipe[i - 1]:
                turn = 0
                now += 1
            if stamp[bank[i]] == now and serves[bank[i]] != key[i]:
                turn += 1
                now += 1
            stamp[bank[i]], serves[bank[i]] = now, key[i]
            turns[i] = turn
    return turns


@compiled
def in_turn(
    offer: Offer, pipe: np.ndarray, turns: np.ndarray, pipes: int, depth: int, times: Times
) -> None:
    """Fill in `times` where a pipe serves batch after batch, each in its turns, from a queue of
    `depth` batches that the first of them does not pass through when it is empty.

    A batch is taken when every pipe has fewer than `depth` batches that are not done.
    """
    taken, served = times
    free = np.zeros((pipes, depth), np.int64)  # cycle from which a place of the queue is free
    count = np.zeros(pipes, np.int64)
    ready = np.zeros(pipes, np.int64)  # cycle from which the pipe can serve another batch
    earliest = 0
    for b in range(len(offer.cycle)):
        now = max(earliest, offer.cycle[b])
        for p in range(pipes):
            now = max(now, free[p, count[p] % depth])
        taken[b] = now
        earliest = now + 1
        begin = now
        last = 0
        for i in range(offer.start[b], offer.start[b + 1]):
            p = pipe[i]
            if i == offer.start[b] or p != pipe[i - 1]:
                begin = max(now, ready[p])
                last = 0
            last = max(last, turns[i])
            served[i] = begin + turns[i]
            if i + 1 == offer.start[b + 1] or p != pipe[i + 1]:
                ready[p] = begin + last + 1
                free[p, count[p] % depth] = ready[p]
                count[p] += 1
