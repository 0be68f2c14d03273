"""When packets leave a pointer engine: every engine's schedule, some million cycles a second.

At most one batch arrives in a cycle. One that the engine does not take waits in front of it, and no
later batch passes. A batch without a packet does not count as one. The golden models of the
schedules are `models.ofan.queued`, `matched` and `sorted_banked`; `sorted` makes no packet wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.ofan.config import OfanConfig
from models.ofan.place import place
from models.ofan.schedule_loops import Offer, Queues, Times, in_turn, prefix_turns, queued


@dataclass(frozen=True)
class Offered:
    """Traffic of the lanes of a switch: cases one after the other, each met by an empty engine."""

    cycle: np.ndarray
    """Of each batch: the cycle in which it arrives; rising."""
    start: np.ndarray
    """Of each batch, and one more: number of its first packet."""
    lane: np.ndarray
    """Of each packet."""
    key: np.ndarray
    """Of each packet."""
    begins: np.ndarray
    """Of each case: its first cycle."""
    lengths: np.ndarray
    """Of each case: the cycles in which it offers batches, with or without packets."""

    @classmethod
    def of(cls, cases: Iterable[np.ndarray]) -> Offered:
        """Make it of arrays [cycles, lanes] of keys, -1 where a lane is idle.

        A case without a packet is left out. A packet is served every cycle at least, so as many
        cycles as a case has packets, after its last one, empty any engine.
        """
        cycles, lanes, keys, begins, lengths = [], [], [], [], []
        begin = 0
        for case in cases:
            at, lane = np.nonzero(case >= 0)
            if not len(at):
                continue
            cycles.append(begin + at)
            lanes.append(lane)
            keys.append(case[at, lane])
            begins.append(begin)
            lengths.append(len(case))
            begin += len(case) + len(at)
        at = np.concatenate(cycles)
        cycle, start = np.unique(at, return_index=True)
        return cls(
            cycle,
            np.append(start, len(at)),
            np.concatenate(lanes),
            np.concatenate(keys).astype(np.int64),
            np.array(begins),
            np.array(lengths),
        )

    @property
    def batches(self) -> int:
        """Batches that have a packet."""
        return len(self.cycle)

    @cached_property
    def batch(self) -> np.ndarray:
        """Of each packet: its batch."""
        return np.repeat(np.arange(self.batches), np.diff(self.start))


@dataclass(frozen=True)
class Schedule:
    """When the batches of `Offered` are taken and their packets served."""

    offered: Offered
    taken: np.ndarray
    """Of each batch: the cycle in which the engine takes it."""
    served: np.ndarray
    """Of each packet: the cycle in which its bank serves it. It leaves the engine's latency later,
    less one."""

    @cached_property
    def waiting(self) -> np.ndarray:
        """Of each packet: cycles that it waits, in front of the engine and inside."""
        return self.served - self.offered.cycle[self.offered.batch]

    @cached_property
    def histogram(self) -> np.ndarray:
        """How many packets wait 0, 1, 2, … cycles."""
        return np.bincount(self.waiting)

    def longest(self, share: float) -> int:
        """Return how long a packet waits at most, for this share of the packets."""
        return int(np.searchsorted(self.histogram.cumsum(), share * len(self.served)))

    @cached_property
    def backlog(self) -> int:
        """Most batches that have arrived and are not wholly served, the one that just came too."""
        done = np.maximum.reduceat(self.served, self.offered.start[:-1])
        gone = np.searchsorted(np.sort(done), self.offered.cycle)
        return int((np.arange(1, len(done) + 1) - gone).max())

    @cached_property
    def in_front(self) -> int:
        """Most batches that wait in front because the engine does not take them."""
        gone = np.searchsorted(self.taken, self.offered.cycle, side="right")
        return int((np.arange(1, len(self.taken) + 1) - gone).max())

    @cached_property
    def cycles_a_batch(self) -> float:
        """Cycles until all is served by cycles in which batches were offered; 1 if it keeps up."""
        o = self.offered
        first = o.start[np.searchsorted(o.cycle, o.begins)]
        busy = np.maximum.reduceat(self.served, first) + 1 - o.begins
        return float(np.maximum(busy, o.lengths).sum() / o.lengths.sum())


def schedule(config: OfanConfig, offered: Offered, bank_of: np.ndarray | None = None) -> Schedule:
    """Return when the engine of `config` takes and serves what is offered to its lanes.

    `bank_of` is the bank of each key, if it is not to be that of `models.ofan.place`.
    """
    engine, width = config.engine, config.lanes_per_pipe
    if bank_of is None:
        bank_of, _ = place(np.arange(config.keys), engine.banks)
    pipe = offered.lane // width
    offer = Offer(
        offered.cycle, offered.start, offered.key, pipe * engine.banks + bank_of[offered.key]
    )
    if engine.kind == "sorted":
        return Schedule(offered, offered.cycle, offered.cycle[offered.batch])
    if engine.kind == "queued-banked":
        taken, served = np.empty_like(offered.cycle), np.full(len(offered.key), -1)
        count = engine.queues_of(width)
        shape = Queues(config.pipes, count, width // count, engine.depth, engine.banks)
        queue = pipe * count + offered.lane % count
        queued(shape, offer, offered.lane // count, queue, Times(taken, served))
        return Schedule(offered, taken, served)
    if engine.kind == "matched-banked":
        turn = prefix_turns(offer, pipe, config.pipes * engine.banks)
        return _in_turn(config, offered, pipe, turn)
    turn = rank_turns(offered.batch * config.pipes * engine.banks + offer.bank, offered.key)
    return _in_turn(config, offered, pipe, turn)


def rank_turns(bank: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the round of each packet under `models.ofan.rounds`: the number of smaller keys that
    its bank is asked for; `bank` tells the banks of one batch from those of another."""
    above = key.max() + 1
    codes, packet = np.unique(bank * above + key, return_inverse=True)
    turns = np.arange(len(codes)) - np.searchsorted(codes, codes // above * above)
    return turns[packet]


def _in_turn(config: OfanConfig, offered: Offered, pipe: np.ndarray, turn: np.ndarray) -> Schedule:
    """Return the schedule of pipes that serve batch after batch; `turn` is the cycle of each packet
    in the time of its batch. Sorted batches leave a pipe whole."""
    part = offered.batch * config.pipes + pipe
    length = np.zeros(offered.batches * config.pipes, np.int64)
    np.maximum.at(length, part, turn + 1)
    taken, begin = np.empty_like(offered.cycle), np.zeros_like(length)
    shape = offered.batches, config.pipes
    depth = config.engine.depth
    in_turn(offered.cycle, length.reshape(shape), depth, taken, begin.reshape(shape))
    if config.engine.kind == "sorted-banked":
        turn = length[part] - 1
    return Schedule(offered, taken, begin[part] + turn)
