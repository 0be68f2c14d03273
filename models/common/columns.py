"""CSV files of whole numbers, read column by column at some millions of rows a second.

A buffer of nothing but digits, commas, line ends and the words of columns of words is taken apart
by numpy, a piece at a time. A piece with anything else in it, or a number out of range, goes
through a slow reader that either reads it after all (text in columns nobody asked for, quotes) or
names the line and the field.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence

import numpy as np

from models.common.check import parse_integer
from models.common.column import Column, Columns
from models.common.errors import InputError
from models.common.files import check_text, read_bytes
from models.common.parquet import is_parquet, read_parquet

_PIECE = 1 << 20
_LONGEST = 18  # digits that surely fit 63 bits


def first_line(file: str | os.PathLike[str]) -> int:
    """Line of a file's first row: 2, below the header, or 1 in Parquet, which counts rows."""
    return 1 if is_parquet(file) else 2


def read_columns(file: str | os.PathLike[str], columns: Sequence[Column]) -> Columns:
    """Read `columns` of a file as int64 arrays; the line of row i is i + `first_line(file)`.

    A name that ends in .parquet is read by `models.common.parquet`, anything else as CSV. The
    header names the columns, in any order; others may stand among them and are passed over, and
    the answer lacks an optional one that is not there. Lines end with LF or CRLF. Raises
    `InputError` for a file that cannot be read, is empty or is no text, a missing or doubled
    column, a wrong number of fields, and a field that is no integer of its column's range.
    """
    if is_parquet(file):
        return read_parquet(file, columns)
    data = read_bytes(file)
    check_text(file, data)
    data = data.removeprefix(b"\xef\xbb\xbf")
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    head, _, body = data.partition(b"\n")
    names, columns = _header(file, head.decode(), columns)
    if not body:
        raise InputError(file, 2, None, None, "empty: there is no row below the header")
    if not body.endswith(b"\n"):
        body += b"\n"
    where = [names.index(column.name) for column in columns]
    pieces: list[list[np.ndarray]] = []
    line = 2
    start = 0
    while start < len(body):
        end = body.find(b"\n", min(start + _PIECE, len(body) - 1)) + 1
        piece = body[start:end]
        rows = _fast(piece, len(names), where, columns)
        if rows is None:
            rows = _slow(file, line, piece.decode(), len(names), where, columns)
        pieces.append(rows)
        line += len(rows[0])
        start = end
    return {
        column.name: np.concatenate([piece[i] for piece in pieces])
        for i, column in enumerate(columns)
    }


def _header(
    file: str | os.PathLike[str], text: str, columns: Sequence[Column]
) -> tuple[list[str], list[Column]]:
    """Return the names of all columns, and those of `columns` that are there."""
    if not text.strip():
        raise InputError(file, 1, None, None, "empty: there is no header")
    names = [name.strip() for name in _split(text)]
    for column in columns:
        if column.name not in names and not column.optional:
            raise InputError(file, 1, column.name, None, "this column is missing in the header")
        if names.count(column.name) > 1:
            raise InputError(file, 1, column.name, None, "this column stands twice in the header")
    return names, [column for column in columns if column.name in names]


def _split(text: str) -> list[str]:
    try:
        return next(csv.reader([text]), [])
    except csv.Error:  # a carriage return in mid-line, or a field of over 128 KB
        return text.split(",")


def _fast(
    piece: bytes, width: int, where: Sequence[int], columns: Sequence[Column]
) -> list[np.ndarray] | None:
    """Read a piece of whole lines, or return None if anything in it is odd."""
    data = np.frombuffer(piece, np.uint8)
    breaks = np.flatnonzero(data < 48)
    letters = int((data > 57).sum())
    if len(breaks) % width:
        return None
    ends = breaks.reshape(-1, width)
    marks = data[ends]
    if (marks[:, :-1] != ord(",")).any() or (marks[:, -1] != ord("\n")).any():
        return None
    starts = np.empty_like(breaks)
    starts[0] = 0
    starts[1:] = breaks[:-1] + 1
    starts = starts.reshape(-1, width)
    out = []
    for at, column in zip(where, columns, strict=True):
        if column.words:
            values, used = _words(data, starts[:, at], ends[:, at], column)
            letters -= used
        else:
            values = _digits(data, starts[:, at], ends[:, at], column.blank)
        if values is None:
            return None
        low = column.low if column.blank is None else min(column.low, column.blank)
        if values.min() < low or values.max() > column.high:
            return None
        out.append(values)
    return None if letters else out  # a letter that is in no word


def _words(
    data: np.ndarray, starts: np.ndarray, ends: np.ndarray, column: Column
) -> tuple[np.ndarray | None, int]:
    """Numbers of the words in [start, end), or None if there is another; and how many letters they
    have in all."""
    lengths = ends - starts
    values = np.full(len(starts), -1, np.int64)
    letters = 0
    for number, word in enumerate(column.words):
        same = np.flatnonzero(lengths == len(word))
        for place, letter in enumerate(word.encode()):
            same = same[data[starts[same] + place] == letter]
        values[same] = number
        letters += len(same) * len(word)
    other = values < 0
    if column.blank is not None:
        other &= lengths > 0
        values[lengths == 0] = column.blank
    return None if other.any() else values, letters


def _digits(
    data: np.ndarray, starts: np.ndarray, ends: np.ndarray, blank: int | None
) -> np.ndarray | None:
    """Values of the digit runs [start, end), or None if one is too long, or empty without leave."""
    lengths = ends - starts
    shortest, longest = int(lengths.min()), int(lengths.max())
    if longest > _LONGEST or (shortest == 0 and blank is None):
        return None
    values = np.zeros(len(starts), np.int64)
    at = ends - 1
    weight = 1
    for digit in range(longest):
        worth = data[at].astype(np.int64)
        worth -= 48
        worth *= weight
        if digit >= shortest:
            worth[lengths <= digit] = 0
        values += worth
        at -= 1
        weight *= 10
    if shortest == 0 and blank is not None:
        values[lengths == 0] = blank
    return values


def _slow(
    file: str | os.PathLike[str],
    first_line: int,
    piece: str,
    width: int,
    where: Sequence[int],
    columns: Sequence[Column],
) -> list[np.ndarray]:
    """Read a piece of whole lines field by field; raises `InputError` at the first bad one."""
    rows = []
    for line, text in enumerate(piece.split("\n")[:-1], first_line):
        fields = _split(text)
        if len(fields) != width:
            reason = f"has {len(fields)} fields where the header has {width}"
            raise InputError(file, line, "row", text, reason)
        row = []
        for at, column in zip(where, columns, strict=True):
            field = fields[at].strip(" \t")
            blank = fields[at] == "" and column.blank is not None
            value = column.blank if blank else _number(field, column)
            if value is None or (not blank and not column.low <= value <= column.high):
                raise InputError(file, line, column.name, fields[at], column.reason())
            row.append(value)
        rows.append(row)
    return list(np.array(rows, np.int64).reshape(-1, len(columns)).T)


def _number(field: str, column: Column) -> int | None:
    if column.words:
        return column.words.index(field) if field in column.words else None
    return parse_integer(field)
