"""What a bench feeds a switch: batches and link failures.

Everything is drawn from the `random.Random` that is passed in, so that a seed repeats a run.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

from models.ofan.config import OfanConfig
from models.ofan.masks import MaskWrite
from models.ofan.place import place
from models.ofan.switch import Packet

Packets = list[Packet]
Writes = list[tuple[int, MaskWrite]]
"""(batches accepted when the write is first offered, write), in order."""


def key(c: OfanConfig, rng: random.Random) -> tuple[int, int]:
    """Any (destination, size class)."""
    return rng.randrange(c.destinations), rng.randrange(c.size_classes)


def keys(c: OfanConfig, rng: random.Random, count: int) -> list[tuple[int, int]]:
    """`count` different keys, or all there are."""
    some = rng.sample(range(c.keys), min(count, c.keys))
    return [(k % c.destinations, k // c.destinations) for k in some]


def drawn(
    c: OfanConfig, rng: random.Random, pool: Sequence[tuple[int, int]], load: float
) -> Packets:
    """A packet on each lane with probability `load`, its key from `pool`."""
    return [Packet(lane, *rng.choice(pool)) for lane in range(c.lanes) if rng.random() < load]


def uniform(c: OfanConfig, rng: random.Random, count: int) -> Iterator[Packets]:
    """Any destination and class, at a load that changes from batch to batch."""
    for _ in range(count):
        load = rng.choice((0.3, 0.7, 1.0))
        yield [Packet(lane, *key(c, rng)) for lane in range(c.lanes) if rng.random() < load]


def one_key(c: OfanConfig, rng: random.Random, count: int) -> Iterator[Packets]:
    """All lanes of a batch have one key, and often the batch behind has the same."""
    pool = keys(c, rng, 2)
    for _ in range(count):
        yield drawn(c, rng, [rng.choice(pool)], 1.0)


def distinct(c: OfanConfig, rng: random.Random, count: int) -> Iterator[Packets]:
    """No two packets of a batch share a pointer, as far as there are keys."""
    for _ in range(count):
        pool = keys(c, rng, c.lanes_per_pipe)
        yield [Packet(lane, *pool[lane % c.lanes_per_pipe % len(pool)]) for lane in range(c.lanes)]


def few_keys(c: OfanConfig, rng: random.Random, count: int) -> Iterator[Packets]:
    """Three pointers, so that nearly every batch depends on those in front of it."""
    pool = keys(c, rng, 3)
    for _ in range(count):
        yield drawn(c, rng, pool, rng.choice((0.2, 0.9)))


def sparse(c: OfanConfig, rng: random.Random, count: int) -> Iterator[Packets]:
    """Empty batches, single packets and few others."""
    for _ in range(count):
        lanes = rng.sample(range(c.lanes), min(c.lanes, rng.choice((0, 0, 1, 2))))
        yield [Packet(lane, *key(c, rng)) for lane in sorted(lanes)]


def classes(c: OfanConfig, rng: random.Random, count: int) -> Iterator[Packets]:
    """All size classes of one destination at once: data beside ACKs."""
    for _ in range(count):
        destination = rng.randrange(min(2, c.destinations))
        pool = [(destination, t) for t in range(c.size_classes)]
        yield drawn(c, rng, pool, 0.9)


def groups(c: OfanConfig, rng: random.Random, count: int) -> Iterator[Packets]:
    """A group of each size from 1 to the lanes of a pipe, on any lanes, among other packets."""
    pool = keys(c, rng, 4)
    for number in range(max(count, c.lanes_per_pipe)):
        size = number % c.lanes_per_pipe + 1
        mine = rng.choice(pool)
        rest = [k for k in pool if k != mine]
        packets = []
        for pipe in range(c.pipes):
            first = pipe * c.lanes_per_pipe
            lanes = set(rng.sample(range(first, first + c.lanes_per_pipe), size))
            for lane in range(first, first + c.lanes_per_pipe):
                if lane in lanes:
                    packets.append(Packet(lane, *mine))
                elif rest and rng.random() < 0.5:
                    packets.append(Packet(lane, *rng.choice(rest)))
        yield packets


def echoes(c: OfanConfig, rng: random.Random, distance: int) -> Iterator[Packets]:
    """For each n from 1 to `distance`: a key, n - 1 batches without it, and the key again."""
    for n in range(1, distance + 1):
        mine, *rest = keys(c, rng, 4)
        for batch in range(n + 1):
            if batch in (0, n):
                yield drawn(c, rng, [mine, mine, *rest], 0.8) or [Packet(0, *mine)]
            else:
                yield drawn(c, rng, rest, 0.8) if rest else []


def crowded(c: OfanConfig, rng: random.Random, count: int) -> Iterator[Packets]:
    """Packets of few pointers that live in one bank, or in two, so that batches wait: full ones,
    and such that have a packet or two among many lanes."""
    load, pool = 1.0, [(0, 0)]
    for number in range(count):
        if number % 5 == 0:
            load = rng.choice((0.05, 0.3, 1.0))
        if number % 10 == 0:
            crowd = rng.sample(range(c.engine.banks), min(c.engine.banks, rng.choice((1, 2))))
            there = [k for k in range(c.keys) if place(k, c.engine.banks)[0] in crowd]
            keys = rng.sample(there, min(5, len(there)))
            pool = [(k % c.destinations, k // c.destinations) for k in keys]
        yield drawn(c, rng, pool, load)


TRAFFIC = {
    "uniform": uniform,
    "one key": one_key,
    "distinct": distinct,
    "few keys": few_keys,
    "sparse": sparse,
    "classes": classes,
    "groups": groups,
}


def mixed(c: OfanConfig, rng: random.Random, count: int) -> list[Packets]:
    """About `count` batches of all kinds, kind by kind in any order."""
    kinds = list(TRAFFIC.values())
    if c.engine.banked:
        kinds += [crowded, crowded]
    rng.shuffle(kinds)
    share = -(-count // len(kinds))
    return [packets for kind in kinds for packets in kind(c, rng, share)]


def hot(
    c: OfanConfig, rng: random.Random, count: int, destinations: Sequence[int]
) -> Iterator[Packets]:
    """Traffic for a few destinations, many a batch for one of them alone, and some uniform."""
    pool = [(d, t) for d in destinations for t in range(c.size_classes)]
    for _ in range(count):
        if rng.random() < 0.1:
            yield from uniform(c, rng, 1)
        else:
            some = rng.choice((pool, rng.sample(pool, 1)))
            yield drawn(c, rng, some, rng.choice((0.4, 1.0)))


def failures(c: OfanConfig, rng: random.Random, batches: int, hot: Sequence[int]) -> Writes:
    """Writes over `batches` batches for the destinations `hot`: single uplinks and many that fail,
    a destination cut off and healed, a mask in use rewritten, and writes back to back."""
    every = 2**c.uplinks - 1
    scenarios = (_single, _many, _cut_off, _burst)
    places = sorted(rng.randrange(batches) for _ in range(max(8, batches // 24)))
    made: Writes = []
    for number, before in enumerate(places):
        scenario = scenarios[number % len(scenarios)]
        made += [(before, write) for write in scenario(c, rng, every, hot)]
        if scenario is _cut_off:
            # Healed soon, so that packets which no uplink serves stay a part of all packets.
            mask = made[-1][1].address if made[-1][1].select else 0
            made.append((before + rng.randint(1, 6), MaskWrite(1, mask, every)))
    return sorted(made, key=lambda pair: pair[0])


def _use(c: OfanConfig, rng: random.Random, hot: Sequence[int]) -> tuple[int, list[MaskWrite]]:
    """A mask number, and the write that makes a hot destination use it."""
    number = rng.randrange(c.masks)
    return number, [MaskWrite(0, rng.choice(hot), number)]


def _single(c: OfanConfig, rng: random.Random, every: int, hot: Sequence[int]) -> list[MaskWrite]:
    number, use = _use(c, rng, hot)
    return [*use, MaskWrite(1, number, every & ~(1 << rng.randrange(c.uplinks)))]


def _many(c: OfanConfig, rng: random.Random, every: int, hot: Sequence[int]) -> list[MaskWrite]:
    number, use = _use(c, rng, hot)
    return [MaskWrite(1, number, rng.getrandbits(c.uplinks)), *use]


def _cut_off(c: OfanConfig, rng: random.Random, every: int, hot: Sequence[int]) -> list[MaskWrite]:
    number, use = _use(c, rng, hot)
    return [*use, MaskWrite(1, number, 0)]


def _burst(c: OfanConfig, rng: random.Random, every: int, hot: Sequence[int]) -> list[MaskWrite]:
    writes = []
    for _ in range(rng.randint(2, 6)):
        number, use = _use(c, rng, hot)
        writes += [MaskWrite(1, number, rng.getrandbits(c.uplinks) or every), *use]
    return writes
