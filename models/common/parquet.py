"""Columns of whole numbers in Parquet files, by PyArrow, which is an extra of the install."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from models.common.column import Column, Columns
from models.common.errors import InputError
from models.common.files import read_bytes


def is_parquet(file: str | os.PathLike[str]) -> bool:
    """Whether the name of `file` ends in .parquet."""
    return Path(file).suffix.lower() == ".parquet"


def need_pyarrow(file: str | os.PathLike[str]) -> Any:
    """Return the module `pyarrow.parquet`, or raise `InputError` that says what to install."""
    try:
        import pyarrow.parquet
    except ImportError:
        reason = "Parquet needs PyArrow, which is not installed: pip install -e '.[parquet]'"
        raise InputError(file, None, None, None, reason) from None
    return pyarrow.parquet


def read_parquet(file: str | os.PathLike[str], columns: Sequence[Column]) -> Columns:
    """Read `columns` of a Parquet file; the same errors as `models.common.columns.read_columns`,
    with the row, from 1, in place of the line."""
    parquet = need_pyarrow(file)
    import pyarrow as arrow

    data = read_bytes(file)
    try:
        source = parquet.ParquetFile(arrow.BufferReader(data))
        names = source.schema_arrow.names
        columns = [column for column in columns if not column.optional or column.name in names]
        for column in columns:
            _check_schema(file, source.schema_arrow, column)
        table = source.read(columns=[column.name for column in columns])
    except (arrow.ArrowException, OSError) as error:
        reason = f"this is no Parquet file ({str(error).splitlines()[0][:80]})"
        raise InputError(file, None, None, None, reason) from None
    if not len(table):
        raise InputError(file, 1, None, None, "empty: there is no row")
    return {column.name: _values(file, table[column.name], column) for column in columns}


def _check_schema(file: str | os.PathLike[str], schema: Any, column: Column) -> None:
    import pyarrow as arrow

    copies = schema.names.count(column.name)
    if copies != 1:
        said = "is missing" if copies == 0 else "stands twice"
        raise InputError(file, 1, column.name, None, f"this column {said} in the schema")
    kind = schema.field(column.name).type
    if column.words:
        plain = kind.value_type if arrow.types.is_dictionary(kind) else kind
        if not (arrow.types.is_string(plain) or arrow.types.is_large_string(plain)):
            raise InputError(file, 1, column.name, kind, "must be a column of strings")
    elif not arrow.types.is_integer(kind):
        raise InputError(file, 1, column.name, kind, "must be a column of integers")


def _values(file: str | os.PathLike[str], found: Any, column: Column) -> np.ndarray:
    texts = found
    if column.words:
        found = _numbers(found, column)
    missing = found.is_null().to_numpy()
    values = found.fill_null(0).to_numpy()
    wrong = ((values < column.low) | (values > column.high)) & ~missing
    if column.blank is None:
        wrong |= missing
    if wrong.any():
        row = int(wrong.argmax())
        value = "null" if missing[row] else texts[row].as_py()
        raise InputError(file, row + 1, column.name, value, column.reason())
    values = values.astype(np.int64)
    if column.blank is not None:
        values[missing] = column.blank
    return values


def _numbers(found: Any, column: Column) -> Any:
    """Return the numbers of words: one more than there is for another word, null for null."""
    import pyarrow as arrow
    import pyarrow.compute as compute

    texts = found.cast(arrow.string())
    numbers = compute.index_in(texts, value_set=arrow.array(column.words))
    return compute.if_else(texts.is_null(), None, numbers.fill_null(len(column.words)))


def write_parquet(path: Path, data: Mapping[str, np.ndarray], nulls: Mapping[str, np.ndarray]):
    """Write `data` as columns; `nulls` has, for columns with nulls, a bool array of where."""
    parquet = need_pyarrow(path)
    import pyarrow as arrow

    arrays = {name: arrow.array(values, mask=nulls.get(name)) for name, values in data.items()}
    parquet.write_table(arrow.table(arrays), path)
