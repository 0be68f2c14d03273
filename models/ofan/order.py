"""The port order π of each pointer (seed appendix F.2), and the diversity of a permutation P.

A pointer holds a position i; its packet leaves on uplink π(i). One permutation P of {0 … w-1} is
shared by all pointers, and each pointer's identifier id turns it into an order of its own:

    π(i) = (xor_w(P[i], id1) + id2) mod w,   id1 = id mod 2^b,   id2 = ⌊id / 2^b⌋,   b = ⌈log2 w⌉
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import cache
from typing import Literal

import numpy as np

from models.common.check import bits_for, integer

Order = tuple[int, ...] | Literal["plain"]


def check_permutation(order: Sequence[int] | str, uplinks: int) -> tuple[int, ...]:
    """Return `order` as a tuple if it is a permutation of 0 … uplinks-1.

    Raises `TypeError` if it is no sequence of integers and `ValueError` if it is another one; the
    message is `order must be plain or a permutation of 0 to LAST, not VALUE`.
    """
    message = f"order must be plain or a permutation of 0 to {uplinks - 1}, not "
    if isinstance(order, str):
        raise ValueError(message + repr(order))
    if not isinstance(order, (tuple, list)) or any(type(port) is not int for port in order):
        raise TypeError(message + repr(order))
    if sorted(order) != list(range(uplinks)):
        raise ValueError(message + repr(",".join(str(port) for port in order)))
    return tuple(order)


def xor_w(value: int, x: int, uplinks: int) -> int:
    """XOR that stays below w: v ⊕ x if that is below w, else v; one-to-one on {0 … w-1}."""
    mixed = value ^ x
    return mixed if mixed < uplinks else value


def pi(order: Order, uplinks: int, identifier: int, position: int) -> int:
    """Return π(i), the uplink at `position` in the order of pointer `identifier` (equation 18)."""
    if order == "plain":
        return position
    b = bits_for(uplinks)
    id1, id2 = identifier % 2**b, identifier // 2**b
    return (xor_w(order[position], id1, uplinks) + id2) % uplinks


def valid_positions(order: Order, uplinks: int, identifier: int, reached: int) -> list[int]:
    """Return the positions of pointer `identifier` whose uplink is in the set `reached` (bit u for
    uplink u), in rising order."""
    return [i for i in range(uplinks) if reached >> pi(order, uplinks, identifier, i) & 1]


def order_table(order: Order, uplinks: int, identifiers: int) -> np.ndarray:
    """Return π of every identifier below `identifiers` as a uint8 array [identifiers, uplinks]."""
    positions = np.arange(uplinks)
    ids = np.arange(identifiers)[:, None]
    if order == "plain":
        return np.tile(positions.astype(np.uint8), (identifiers, 1))
    b = bits_for(uplinks)
    base = np.asarray(order)[None, :]
    mixed = base ^ (ids & (2**b - 1))
    kept = np.where(mixed < uplinks, mixed, base)
    return ((kept + (ids >> b)) % uplinks).astype(np.uint8)


def _steps(order: Sequence[int]) -> bytes:
    """Distances modulo w from each uplink of a cyclic order to the next: additions keep them."""
    w = len(order)
    return bytes((order[(i + 1) % w] - order[i]) % w for i in range(w))


def _period(steps: bytes) -> int:
    """Smallest turn that leaves the steps as they were; also the number of orders that share them.

    P + c is a turn of P exactly if that turn keeps P's steps, so each of the w/period such turns
    takes one c away from the w additions.
    """
    return (steps + steps).index(steps, 1)


def shift_orders(permutation: Sequence[int]) -> int:
    """Return how many cyclic orders additions alone make of P: those of (P[i] + c) mod w, all c.

    Appendix F.2 wants P such that "its w cyclic shifts define w distinct orders": the return value
    is then w. From w = 4 on such a P exists; for w = 2 and 3 every addition only turns the order,
    so the answer is always 1.
    """
    return _period(_steps(permutation))


def cyclic_orders(permutation: Sequence[int]) -> int:
    """Return how many different cyclic orders the identifiers make of P (30 in the paper, w = 6).

    Two orders are the same if one is a rotation of the other, since a pointer starts anywhere.
    All id1 below 2^b and id2 below w count, so 2^b·w is a ceiling, and w²/2 if w = 2, 4, 8, …
    (there XOR with w/2 and addition of w/2 are the same). Orders that differ by id2 alone have the
    same steps, so each different cycle of steps that an id1 makes adds its period. For w = 6 the
    720 permutations give 10, 11, 14, 19, 20, 24, 30 (288 of them), 33 or 36 (36 of them).
    """
    w = len(permutation)
    rows = order_table(tuple(permutation), w, 2 ** bits_for(w)).tolist()
    cycles = set()
    for steps in map(_steps, rows):
        cycles.add(min(steps[turn:] + steps[:turn] for turn in range(w)))
    return sum(_period(steps) for steps in cycles)


def best_permutation(uplinks: int, draws: int, seed: int = 0) -> tuple[tuple[int, ...], int]:
    """Search P with the most cyclic orders among `draws` random permutations of w uplinks.

    Returns (P, its number of cyclic orders). Only P that meet the condition of appendix F.2
    (`shift_orders` is w) are kept if w >= 4; for w = 2 and 3 none does, and all P have the same
    count. The first best of the draws of `random.Random(seed).shuffle` is kept, so the answer is
    the same on every machine. Where no draw meets the condition the answer is the identity with
    its last two uplinks swapped, which does for each w >= 4 (below, the identity itself).
    """
    integer("uplinks", uplinks, 1, 64)
    integer("draws", draws, 0, 10**9)
    rng = random.Random(seed)
    best, most = None, 0
    for _ in range(draws):
        candidate = list(range(uplinks))
        rng.shuffle(candidate)
        if uplinks >= 4 and shift_orders(candidate) < uplinks:
            continue
        found = cyclic_orders(candidate)
        if found > most:
            best, most = candidate, found
    if best is None:
        best = list(range(uplinks))
        if uplinks >= 4:
            best[-2:] = reversed(best[-2:])
        most = cyclic_orders(best)
    return tuple(best), most


@cache
def default_permutation(uplinks: int) -> tuple[int, ...]:
    """Return the P used where none is given: the best of 32 draws with seed 0, w up to 64.

    Its number of cyclic orders is 4 for w = 4, 36 for 6, 32 for 8, 168 for 12, 128 for 16, 512 for
    32 and 2,048 for 64. Up to w = 7 no permutation that meets the condition of appendix F.2 has
    more (all were tried), and for w = 8, 16, 32 and 64 it is the ceiling w²/2.
    """
    return best_permutation(uplinks, draws=32)[0]
