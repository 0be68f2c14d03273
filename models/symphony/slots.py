"""When jobs get their slots and lose them: orders of the control plane among a trace's packets.

A file of orders has the columns `time_ns,job,given` (1: the slot is given, and the job starts anew;
0: it is taken), sorted by time. An order goes in before the first packet whose time is not less.
Every job of the trace has a slot from the start, but for those that the file gives one later.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.common.column import Column
from models.common.columns import read_columns
from models.symphony.config import SymphonyConfig
from models.symphony.trace import Trace, check_order, columns


@dataclass(frozen=True)
class Orders:
    """Orders in the order in which they go in; arrays of one length."""

    before: np.ndarray
    """int64, rising: number of the packet that it goes in before; as many as there are packets, or
    more, for one behind them all."""
    job: np.ndarray
    """int32."""
    given: np.ndarray
    """uint8: 1 where the slot is given, 0 where it is taken."""

    @classmethod
    def of(cls, before: Any = (), job: Any = (), given: Any = ()) -> Orders:
        """Make orders of anything numpy takes, without any check."""
        arrays = np.asarray(before, np.int64), np.asarray(job, np.int32)
        return cls(*arrays, np.asarray(given, np.uint8))

    def __len__(self) -> int:
        return len(self.before)

    def among(self, rows: slice) -> Orders:
        """Return the orders that go in before the packets of `rows`, which they are then counted
        from. An order behind the last packet is before none."""
        first, end = np.searchsorted(self.before, (rows.start, rows.stop))
        part = slice(first, end)
        return Orders(self.before[part] - rows.start, self.job[part], self.given[part])


def orders(
    config: SymphonyConfig, trace: Trace, file: str | os.PathLike[str] | None = None
) -> Orders:
    """Return the orders of a file, if there is one, among the packets of `trace`, and before them
    those that give slots from the start; raises `InputError` for whatever is wrong in the file."""
    jobs = np.unique(trace.job)
    if file is None:
        return Orders.of(np.zeros(len(jobs)), jobs, np.ones(len(jobs)))
    time, job = columns(config)[:2]
    found = read_columns(file, (time, job, Column("given", 0, 1)))
    check_order(file, found["time_ns"])
    named, first = np.unique(found["job"], return_index=True)
    later = named[found["given"][first] == 1]
    jobs = jobs[~np.isin(jobs, later)]
    return Orders.of(
        np.concatenate([np.zeros(len(jobs)), np.searchsorted(trace.time_ns, found["time_ns"])]),
        np.concatenate([jobs, found["job"]]),
        np.concatenate([np.ones(len(jobs)), found["given"]]),
    )
