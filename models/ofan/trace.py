"""Traces: the northbound packets of one switch in columns, and their files.

In: `batch,lane,destination,size_class`, sorted by batch, at most one row for a batch and lane.
Out: the same rows in the same order with `uplink`, empty where unroutable. A name that ends in
`.parquet` is read and written as Parquet, which needs PyArrow; anything else is CSV.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from models.common.column import Column, Columns
from models.common.columns import first_line, read_columns
from models.common.errors import InputError
from models.common.parquet import write_parquet
from models.ofan.config import OfanConfig

MAX_BATCH = 2**53 - 1
_NAMES = ("batch", "lane", "destination", "size_class")
_ROWS_A_WRITE = 1 << 16


@dataclass(frozen=True)
class Trace:
    """The packets of a trace in the order of its rows; four arrays of one length.

    Batches are in rising order; the rows of one batch may be in any order of lanes.
    """

    batch: np.ndarray
    """int64: number of the batch; numbers may be left out."""
    lane: np.ndarray
    """uint8: lane the packet came in on."""
    destination: np.ndarray
    """uint16: its destination."""
    size_class: np.ndarray
    """uint8: its size class."""

    @classmethod
    def of(cls, batch: Any, lane: Any, destination: Any, size_class: Any) -> Trace:
        """Make a trace of anything numpy takes, without any check."""
        return cls(
            np.asarray(batch, np.int64),
            np.asarray(lane, np.uint8),
            np.asarray(destination, np.uint16),
            np.asarray(size_class, np.uint8),
        )

    def __len__(self) -> int:
        return len(self.batch)

    @cached_property
    def slots(self) -> np.ndarray:
        """Of each row, how many different batches come before its own (int64): batches counted
        without the numbers left out."""
        first = np.ones(len(self), bool)
        first[1:] = self.batch[1:] != self.batch[:-1]
        return first.cumsum() - 1

    @property
    def batches(self) -> int:
        """Number of different batches."""
        return int(self.slots[-1]) + 1 if len(self) else 0

    @cached_property
    def place(self) -> np.ndarray:
        """slot·64 + lane of each row (int64): packets are served in rising place."""
        return self.slots * 64 + self.lane

    @cached_property
    def lane_order(self) -> np.ndarray | None:
        """The row numbers in rising place, or None if the rows lie so already."""
        falls = (self.place[1:] < self.place[:-1]).any()
        return np.argsort(self.place, kind="stable") if falls else None

    def keys(self, config: OfanConfig) -> np.ndarray:
        """Pointer keys id = d + N_d·t of the rows (int64)."""
        return self.destination + config.destinations * self.size_class.astype(np.int64)


def columns(config: OfanConfig) -> tuple[Column, ...]:
    """The columns of a trace file, with the ranges that `config` gives them."""
    return (
        Column("batch", 0, MAX_BATCH),
        Column("lane", 0, config.lanes - 1),
        Column("destination", 0, config.destinations - 1),
        Column("size_class", 0, config.size_classes - 1),
    )


def read_trace(file: str | os.PathLike[str], config: OfanConfig) -> Trace:
    """Read a trace that `config` can serve; raises `InputError` for whatever is wrong in it."""
    found = read_columns(file, columns(config))
    check_order(file, found["batch"])
    trace = Trace.of(*(found[name] for name in _NAMES))
    _check_lanes(file, trace)
    return trace


def check_order(file: str | os.PathLike[str], batch: np.ndarray) -> None:
    """Raise `InputError` at the first row whose batch is below the one before."""
    falls = batch[1:] < batch[:-1]
    if falls.any():
        row = int(falls.argmax()) + 1
        reason = f"must be {batch[row - 1]} or more, as rows are sorted by batch"
        raise InputError(file, row + first_line(file), "batch", batch[row], reason)


def _check_lanes(file: str | os.PathLike[str], trace: Trace) -> None:
    order = trace.lane_order
    placed = trace.place if order is None else trace.place[order]
    again = np.flatnonzero(placed[1:] == placed[:-1]) + 1
    if len(again):
        row = int(again[0] if order is None else order[again].min())
        reason = f"must be one that has no packet in batch {trace.batch[row]} yet"
        raise InputError(file, row + first_line(file), "lane", trace.lane[row], reason)


def write_trace(
    path: Path, trace: Trace, uplink: np.ndarray | None = None, parquet: bool = False
) -> None:
    """Write the rows of `trace`, with a column `uplink` if given (below 0: unroutable).

    Writes straight to `path`; put it in `models.common.files.replacing` to replace a file whole.
    """
    data = {name: getattr(trace, name) for name in _NAMES}
    if not parquet:
        _write_csv(path, data, uplink)
    elif uplink is None:
        write_parquet(path, data, {})
    else:
        write_parquet(path, data | {"uplink": uplink}, {"uplink": uplink < 0})


def _write_csv(path: Path, data: Columns, uplink: np.ndarray | None) -> None:
    names = list(data) + ([] if uplink is None else ["uplink"])
    tail = [f",{port}" for port in range(64)] + [","]  # tail[-1] is that of an unroutable packet
    with open(path, "w", newline="\n") as file:
        file.write(",".join(names) + "\n")
        for start in range(0, len(data["batch"]), _ROWS_A_WRITE):
            part = slice(start, start + _ROWS_A_WRITE)
            fields: list[Any] = [values[part].tolist() for values in data.values()]
            if uplink is None:
                fields.append([""] * len(fields[0]))
            else:
                fields.append([tail[port] for port in uplink[part].tolist()])
            file.writelines(map("%d,%d,%d,%d%s\n".__mod__, zip(*fields, strict=True)))
