"""When packets leave a pointer engine: every engine's schedule, some million cycles a second.

At most one batch arrives in a cycle. One that the engine does not take waits in front of it, and no
later batch passes. Batches without a packet take no place and no time. The golden models of the
schedules are `models.ofan.queued`, `matched` and `rounds`; `sorted` never lets a packet wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from models.ofan.banks import place
from models.ofan.config import OfanConfig
from models.ofan.queued import WAVES
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


def schedule(config: OfanConfig, offered: Offered) -> Schedule:
    """Return when the engine of `config` takes and serves what is offered to its lanes."""
    engine, width = config.engine, config.lanes_per_pipe
    taken, served = offered.cycle.copy(), np.full(len(offered.key), -1)
    times = Times(taken, served)
    pipe = offered.lane // width
    banks = pipe * engine.banks + place(np.arange(config.keys), engine.banks)[0][offered.key]
    offer = Offer(offered.cycle, offered.start, offered.key, banks)
    if engine.kind == "sorted":
        served[:] = offered.cycle[offered.batch]
    elif engine.kind == "queued-banked":
        count = engine.queues_of(width)
        shape = Queues(
            config.pipes, count, width // count, engine.depth, WAVES, engine.banks
        )
        queues = pipe * count + offered.lane % count
        queued(shape, offer, offered.lane // count, queues, times)
    else:
        many = config.pipes * engine.banks
        if engine.kind == "matched-banked":
            turns = prefix_turns(offered.start, offered.key, banks, pipe, many)
        else:
            turns = rank_turns(offered.batch * many + banks, offered.key)
        in_turn(offer, pipe, turns, config.pipes, engine.depth, times)
    return Schedule(offered, taken, served)


def rank_turns(bank: np.ndarray, key: np.ndarray) -> np.ndarray:
    """Return the turn of each packet in its batch under `models.ofan.rounds`: the number of smaller
    keys that its bank has there; `bank` tells the banks of one batch from those of another."""
    above = key.max() + 1
    codes, packet = np.unique(bank * above + key, return_inverse=True)
    turns = np.arange(len(codes)) - np.searchsorted(codes, codes // above * above)
    return turns[packet]
