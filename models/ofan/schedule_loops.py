"""The schedules of the banked engines as machine code: in which cycle each packet is served.

Packets lie in order of batch and lane, those of batch b from `start[b]` to `start[b + 1] - 1`; no
batch is empty. Banks and queues are numbered over all pipes. Functions here take all they need as
arguments (see `models.common.jit`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.common.jit import compiled
from models.ofan.slots import GROUP


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
    """Shape of `models.ofan.queued`; all but `pipes` are of a pipe."""

    pipes: int
    queues: int
    fold: int
    """Waves of a batch."""
    depth: int
    banks: int


@compiled
def queued(shape: Queues, offer: Offer, wave: np.ndarray, queue: np.ndarray, times: Times) -> None:
    """Fill in `times` as `models.ofan.queued` serves; `wave` and `queue` are each packet's number
    of its wave in the batch and of its queue, counted over all pipes.

    In a pipe, wave f of batch b has the number b · fold + f.
    """
    taken, served = times
    pipes, fold = shape.pipes, shape.fold
    places = fold * shape.depth
    blocked = np.full(pipes * shape.queues, -1)  # cycle in which an older packet is before it
    busy = np.full(pipes * shape.banks, -1)  # 2 · cycle, and 1 more for the younger wave
    serves = np.zeros(pipes * shape.banks, np.int64)  # the key, -1 once another one was met
    oldest = np.zeros(pipes, np.int64)
    begin = np.zeros((pipes, places), np.int64)
    end = np.zeros((pipes, places), np.int64)
    left = np.zeros((pipes, places), np.int64)
    front = now = inside = 0
    while front < len(offer.cycle) or inside:
        if not inside:
            now = max(now, offer.cycle[front])
        if front < len(offer.cycle) and offer.cycle[front] <= now:
            room = True
            for pipe in range(pipes):
                room &= front - oldest[pipe] // fold < shape.depth
            if room:
                taken[front] = now
                for i in range(offer.start[front], offer.start[front + 1]):
                    pipe, at = wave[i] // fold, (front * fold + wave[i] % fold) % places
                    if not left[pipe, at]:
                        begin[pipe, at] = i
                    end[pipe, at] = i + 1
                    left[pipe, at] += 1
                    inside += 1
                front += 1
        for pipe in range(pipes):
            while oldest[pipe] < front * fold and not left[pipe, oldest[pipe] % places]:
                oldest[pipe] += 1
            place = oldest[pipe] - 1
            for younger in range(2):
                place += 1
                while place < front * fold and not left[pipe, place % places]:
                    place += 1
                if place >= front * fold:
                    break
                at = place % places
                held = shape.queues  # from this queue on the packets of the younger wave wait
                for i in range(begin[pipe, at], end[pipe, at] if younger else 0):
                    if served[i] < 0 and blocked[queue[i]] == now:
                        held = queue[i] % shape.queues // GROUP * GROUP
                        break
                for i in range(begin[pipe, at], end[pipe, at]):
                    if served[i] >= 0:
                        continue
                    if younger and queue[i] % shape.queues >= held:
                        break
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
                    left[pipe, at] -= 1
                    inside -= 1
            while oldest[pipe] < front * fold and not left[pipe, oldest[pipe] % places]:
                oldest[pipe] += 1
        now += 1


@compiled
def prefix_turns(offer: Offer, pipe: np.ndarray, banks: int):
    """Return the turn of each packet under `models.ofan.matched`: in each turn of a batch a pipe
    serves its lanes up to the first whose bank serves another key; `banks` is of all pipes."""
    start, key, bank = offer.start, offer.key, offer.bank
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
    cycle: np.ndarray, length: np.ndarray, depth: int, taken: np.ndarray, begin: np.ndarray
):
    """Fill in when each batch is taken and when each pipe begins to serve it, where a pipe serves
    batch b for `length[b, pipe]` cycles and then the next one; 0 where it has no part in it.

    A batch is taken when every pipe has fewer than `depth` batches that it is not done with.
    """
    pipes = length.shape[1]
    free = np.zeros((pipes, depth), np.int64)  # cycle from which a place for a batch is free
    count = np.zeros(pipes, np.int64)
    ready = np.zeros(pipes, np.int64)  # cycle from which the pipe can serve another batch
    now = -1
    for b in range(len(cycle)):
        now = max(now + 1, cycle[b])
        for p in range(pipes):
            now = max(now, free[p, count[p] % depth])
        taken[b] = now
        for p in range(pipes):
            if length[b, p]:
                begin[b, p] = max(now, ready[p])
                ready[p] = begin[b, p] + length[b, p]
                free[p, count[p] % depth] = ready[p]
                count[p] += 1
