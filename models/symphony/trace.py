"""Traces: the packets that leave one switch port in columns, and their files.

In: `time_ns,job,step,psn,last,queue_bytes`, sorted by time; optional columns are `ecn`, the
codepoint a packet comes with (ECT(0) where the column is missing), and `random`, a random word in
place of the register's (empty: the register's). Out: the same rows and columns, then
`probability,mark_symphony,mark_red,mark`. A name that ends in `.parquet` is read and written as
Parquet, which needs PyArrow; anything else is CSV.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from models.common.column import Column, Columns
from models.common.columns import first_line, read_columns
from models.common.ecn import ECT0
from models.common.errors import InputError
from models.common.parquet import write_parquet
from models.symphony.answers import Answers
from models.symphony.config import SymphonyConfig

MAX_WORD = 2**63 - 1
"""Largest time and random word that a file may hold, where the configuration does not say less."""

NO_WORD = -1
"""In `random`: the packet takes the register's word."""

_ROWS_A_WRITE = 1 << 16


@dataclass(frozen=True)
class Trace:
    """The packets of a trace in the order of its rows, rising in time; arrays of one length."""

    time_ns: np.ndarray
    """int64: when the packet leaves its queue, ns."""
    job: np.ndarray
    """int32."""
    step: np.ndarray
    """int32."""
    psn: np.ndarray
    """int32."""
    last: np.ndarray
    """uint8: 1 where the packet ends its RDMA write."""
    queue_bytes: np.ndarray
    """int64: depth of the queue it leaves, bytes."""
    ecn: np.ndarray | None = None
    """uint8: codepoints; None: all are ECT(0)."""
    random: np.ndarray | None = None
    """int64: random words, `NO_WORD` for the register's; None: all are the register's."""

    @classmethod
    def of(
        cls,
        time_ns: Any,
        job: Any,
        step: Any,
        psn: Any,
        last: Any,
        queue_bytes: Any,
        ecn: Any = None,
        random: Any = None,
    ) -> Trace:
        """Make a trace of anything numpy takes, without any check."""
        return cls(
            np.asarray(time_ns, np.int64),
            np.asarray(job, np.int32),
            np.asarray(step, np.int32),
            np.asarray(psn, np.int32),
            np.asarray(last, np.uint8),
            np.asarray(queue_bytes, np.int64),
            None if ecn is None else np.asarray(ecn, np.uint8),
            None if random is None else np.asarray(random, np.int64),
        )

    def __len__(self) -> int:
        return len(self.time_ns)

    def __getitem__(self, rows: slice) -> Trace:
        return Trace(**{name: values[rows] for name, values in self.columns().items()})

    def columns(self) -> Columns:
        """Return the columns that are there, by name."""
        return {name: values for name, values in vars(self).items() if values is not None}

    def codepoints(self) -> np.ndarray:
        """Return the codepoint of each packet (uint8)."""
        return np.full(len(self), ECT0, np.uint8) if self.ecn is None else self.ecn


def columns(config: SymphonyConfig) -> tuple[Column, ...]:
    """The columns of a trace file, with the ranges that `config` gives them."""
    c = config
    word = min(2**c.random_bits - 1, MAX_WORD)
    return (
        Column("time_ns", 0, min(2**c.time_bits - 1, MAX_WORD)),
        Column("job", 0, c.jobs - 1, hint=f"--jobs {c.jobs}"),
        Column("step", 0, 2**c.step_bits - 1),
        Column("psn", 0, 2**c.psn_bits - 1),
        Column("last", 0, 1),
        Column("queue_bytes", 0, 2**c.queue_bits - 1),
        Column("ecn", 0, 3, optional=True),
        Column("random", 0, word, blank=NO_WORD, optional=True),
    )


def read_trace(file: str | os.PathLike[str], config: SymphonyConfig) -> Trace:
    """Read a trace that `config` can serve; raises `InputError` for whatever is wrong in it."""
    found = read_columns(file, columns(config))
    check_order(file, found["time_ns"])
    return Trace.of(**found)


def check_order(file: str | os.PathLike[str], time_ns: np.ndarray) -> None:
    """Raise `InputError` at the first row whose time is below that of the one before."""
    falls = time_ns[1:] < time_ns[:-1]
    if falls.any():
        row = int(falls.argmax()) + 1
        reason = f"must be {time_ns[row - 1]} or more, as time does not run backwards"
        raise InputError(file, row + first_line(file), "time_ns", time_ns[row], reason)


def write_trace(
    path: Path, trace: Trace, answers: Answers | None = None, parquet: bool = False
) -> None:
    """Write the rows of `trace`, with what became of the packets if `answers` is given.

    Writes straight to `path`; put it in `models.common.files.replacing` to replace a file whole.
    """
    data = trace.columns()
    if answers is not None:
        data |= {
            "probability": answers.probability,
            "mark_symphony": answers.symphony.astype(np.uint8),
            "mark_red": answers.red.astype(np.uint8),
            "mark": answers.mark.astype(np.uint8),
        }
    if parquet:
        blank = {} if trace.random is None else {"random": trace.random == NO_WORD}
        write_parquet(path, data, blank)
    else:
        _write_csv(path, data)


def _write_csv(path: Path, data: Columns) -> None:
    texts = {"random": _words, "probability": _reals}
    form = ",".join("%s" if name in texts else "%d" for name in data) + "\n"
    with open(path, "w", newline="\n") as file:
        file.write(",".join(data) + "\n")
        for start in range(0, len(data["time_ns"]), _ROWS_A_WRITE):
            part = slice(start, start + _ROWS_A_WRITE)
            fields: list[Iterable[Any]] = [
                texts[name](values[part]) if name in texts else values[part].tolist()
                for name, values in data.items()
            ]
            file.writelines(map(form.__mod__, zip(*fields, strict=True)))


def _words(values: np.ndarray) -> list[int | str]:
    return ["" if value == NO_WORD else value for value in values.tolist()]


def _reals(values: np.ndarray) -> list[str]:
    """Return the shortest texts that read back as the same numbers."""
    different, where = np.unique(values, return_inverse=True)
    texts = [repr(value).removesuffix(".0") for value in different.tolist()]
    return [texts[i] for i in where.tolist()]
