"""When a stream pauses in a bench: one truth value a cycle, drawn from the generator passed in.

`length` is the latency of what is tested, for pauses that outlast it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

Pause = Callable[[random.Random, int], Iterator[bool]]


def never(rng: random.Random, length: int) -> Iterator[bool]:
    """No pause at all."""
    while True:
        yield False


def sometimes(rng: random.Random, length: int, probability: float = 0.3) -> Iterator[bool]:
    """A pause in any cycle with one probability."""
    while True:
        yield rng.random() < probability


def bursts(rng: random.Random, length: int) -> Iterator[bool]:
    """Runs of up to 8 cycles with and without a pause."""
    while True:
        for pausing in (False, True):
            yield from [pausing] * rng.randint(1, 8)


def long_pauses(rng: random.Random, length: int) -> Iterator[bool]:
    """Pauses of more than `length` cycles, the latency, so that the pipeline fills or drains."""
    while True:
        yield from [False] * rng.randint(1, 3 * length)
        yield from [True] * rng.randint(length + 1, 2 * length)


PAUSES: dict[str, Pause] = {
    "none": never,
    "sometimes": sometimes,
    "bursts": bursts,
    "long": long_pauses,
}
