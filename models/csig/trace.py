"""Traces: the packets that leave a hop in columns, and their files.

In: `time_ns,port,bytes,delay_ns,queue_bytes,format,signal,value,locator`, sorted by time; the
optional `discard` is D. `format` is `compact` or `wide`. A packet without a tag has an empty value
and an empty locator. Out: the same rows, these columns in this order, value and locator as they
leave (empty where there is no tag any more), then `replaced`; other columns are passed over. So
what leaves one hop can go into the next. A name that ends in `.parquet` is read and written as
Parquet, which needs PyArrow; anything else is CSV.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from models.common.column import Column, Columns
from models.common.columns import first_line, read_columns
from models.common.errors import InputError
from models.common.parquet import write_parquet
from models.csig.answers import Answers
from models.csig.config import CsigConfig
from models.csig.setup import LONGEST_NS, Setup
from models.csig.tag import FORMATS, width

MAX_TIME = 2**62 - 1
"""Largest time that a file may hold, ns: 146 years."""

NO_TAG = -1
"""In `value` and `locator`: the packet has no tag."""

_ROWS_A_WRITE = 1 << 16


@dataclass(frozen=True)
class Trace:
    """The packets of a trace in the order of its rows, rising in time; arrays of one length."""

    time_ns: np.ndarray
    """int64: when the packet leaves through the port, ns."""
    port: np.ndarray
    """int32."""
    bytes: np.ndarray
    """int32: its length."""
    delay_ns: np.ndarray
    """int64: time it spent in this hop."""
    queue_bytes: np.ndarray
    """int64: depth of the queue it leaves."""
    format: np.ndarray
    """uint8: place of its tag's format in `FORMATS`."""
    signal: np.ndarray
    """uint8: T."""
    value: np.ndarray
    """int32: S, `NO_TAG` where there is no tag."""
    locator: np.ndarray
    """int32: LM, likewise."""
    discard: np.ndarray | None = None
    """uint8: D; None: 0 for all."""

    @classmethod
    def of(
        cls,
        time_ns: Any,
        port: Any,
        bytes: Any,
        delay_ns: Any,
        queue_bytes: Any,
        format: Any,
        signal: Any,
        value: Any,
        locator: Any,
        discard: Any = None,
    ) -> Trace:
        """Make a trace of anything numpy takes, without any check."""
        return cls(
            np.asarray(time_ns, np.int64),
            np.asarray(port, np.int32),
            np.asarray(bytes, np.int32),
            np.asarray(delay_ns, np.int64),
            np.asarray(queue_bytes, np.int64),
            np.asarray(format, np.uint8),
            np.asarray(signal, np.uint8),
            np.asarray(value, np.int32),
            np.asarray(locator, np.int32),
            None if discard is None else np.asarray(discard, np.uint8),
        )

    def __len__(self) -> int:
        return len(self.time_ns)

    def __getitem__(self, rows: slice | np.ndarray) -> Trace:
        return Trace(**{name: values[rows] for name, values in self.columns().items()})

    def columns(self) -> Columns:
        """Return the columns that are there, by name."""
        return {name: values for name, values in vars(self).items() if values is not None}

    def discarded(self) -> np.ndarray:
        """Return D of each packet (uint8)."""
        return np.zeros(len(self), np.uint8) if self.discard is None else self.discard


def columns(config: CsigConfig) -> tuple[Column, ...]:
    """The columns of a trace file, with the ranges that all formats allow."""
    values, locators, signals = (
        max(2 ** width(format, config.layout, field) - 1 for format in FORMATS)
        for field in ("s", "lm", "t")
    )
    return (
        Column("time_ns", 0, MAX_TIME),
        Column("port", 0, 63),
        Column("bytes", 0, 2**config.bytes_bits - 1),
        Column("delay_ns", 0, 2**32 - 1),
        Column("queue_bytes", 0, 2**32 - 1),
        Column.of_words("format", FORMATS),
        Column("signal", 0, signals),
        Column("value", 0, values, blank=NO_TAG),
        Column("locator", 0, locators, blank=NO_TAG),
        Column("discard", 0, 1, optional=True),
    )


def read_trace(file: str | os.PathLike[str], config: CsigConfig, setup: Setup) -> Trace:
    """Read a trace for the ports of `setup`; raises `InputError` for whatever is wrong in it."""
    found = read_columns(file, columns(config))
    trace = Trace.of(**found)
    check = _Check(file, found)
    backwards = np.zeros(len(trace), bool)
    backwards[1:] = trace.time_ns[1:] < trace.time_ns[:-1]
    check.none("time_ns", backwards, "must be {} or more, as time does not run backwards")
    known = np.zeros(64, bool)
    known[[port.id for port in setup.ports]] = True
    there = ", ".join(str(port.id) for port in setup.ports)
    check.none("port", ~known[trace.port], f"must be a port of the ports file ({there})")
    half = (trace.value == NO_TAG) != (trace.locator == NO_TAG)
    check.none("value", half, "value and locator must both be there, or both be empty")
    for number, format in enumerate(FORMATS):
        here = trace.format == number
        for name, field in (("signal", "t"), ("value", "s"), ("locator", "lm")):
            largest = 2 ** width(format, config.layout, field) - 1
            reason = f"must be at most {largest} in a {format} tag of layout {config.layout}"
            check.none(name, here & (found[name] > largest), reason)
    if trace.discard is not None and not width("compact", config.layout, "d"):
        reason = f"must be 0, as there is no D in layout {config.layout} (--layout uec)"
        check.none("discard", trace.discard > 0, reason)
    return trace


def with_time(config: CsigConfig, trace: Trace) -> CsigConfig:
    """Return the hardware with a time that is wide enough for the trace: where software writes
    values, times must not wrap around, or old values would hold again."""
    if not config.agent or trace.time_ns[-1] + 3 * LONGEST_NS < 1 << config.time_bits:
        return config
    return replace(config, time_bits=64)


class _Check:
    """Names the first row of a file that something is wrong in."""

    def __init__(self, file: str | os.PathLike[str], columns: Columns) -> None:
        self.file = file
        self.columns = columns

    def none(self, name: str, wrong: np.ndarray, reason: str) -> None:
        """Raise `InputError` about a column's first value that is wrong, if one is; {} in the
        reason is the value in the row before."""
        if not wrong.any():
            return
        row = int(wrong.argmax())
        values = self.columns[name]
        reason = reason.format(values[row - 1])
        shown = "" if values[row] == NO_TAG else values[row]
        raise InputError(self.file, row + first_line(self.file), name, shown, reason)


def write_trace(
    path: Path, trace: Trace, answers: Answers | None = None, parquet: bool = False
) -> None:
    """Write the rows of `trace`, or with `answers` as the packets leave.

    Writes straight to `path`; put it in `models.common.files.replacing` to replace a file whole.
    """
    data = trace.columns()
    if answers is not None:
        data |= {"value": answers.value, "locator": answers.locator}
        data["replaced"] = answers.replaced.astype(np.uint8)
    if parquet:
        nulls = {name: data[name] == NO_TAG for name in ("value", "locator")}
        data["format"] = np.array(FORMATS, object)[trace.format]
        write_parquet(path, data, nulls)
    else:
        _write_csv(path, data)


def _write_csv(path: Path, data: Columns) -> None:
    kinds = {name: "%s" if name == "format" else "%d" for name in data}
    blank = kinds | {"value": "%.0s", "locator": "%.0s"}
    forms = [",".join(kind.values()) + "\n" for kind in (kinds, blank)]
    with open(path, "w", newline="\n") as file:
        file.write(",".join(data) + "\n")
        for start in range(0, len(data["time_ns"]), _ROWS_A_WRITE):
            part = slice(start, start + _ROWS_A_WRITE)
            fields = [
                [FORMATS[code] for code in values[part].tolist()]
                if name == "format"
                else values[part].tolist()
                for name, values in data.items()
            ]
            without = (data["value"][part] == NO_TAG).tolist()
            rows = zip(*fields, strict=True)
            file.writelines(forms[none] % row for none, row in zip(without, rows, strict=True))
