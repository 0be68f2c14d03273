"""Columns of input files that may be missing, or hold nothing, in CSV and in Parquet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.common.column import Column
from models.common.columns import read_columns
from models.common.errors import InputError
from models.common.parquet import write_parquet

COLUMNS = (
    Column("a", 0, 9, hint="--many 10"),
    Column("b", 0, 3, optional=True),
    Column("c", 0, 99, blank=-1, optional=True),
)


def file_of(folder: Path, kind: str, **data: Any) -> Path:
    """Write columns to a file; None stands for nothing."""
    path = folder / f"t.{kind}"
    if kind == "parquet":
        pytest.importorskip("pyarrow")
        masks = {name: np.array([v is None for v in values]) for name, values in data.items()}
        arrays = {name: np.array([v or 0 for v in values]) for name, values in data.items()}
        write_parquet(path, arrays, masks)
    else:
        rows = zip(*data.values(), strict=True)
        lines = [",".join("" if v is None else str(v) for v in row) for row in rows]
        path.write_text("\n".join([",".join(data), *lines]))
    return path


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_optional_columns_may_be_missing(tmp_path: Path, kind: str) -> None:
    found = read_columns(file_of(tmp_path, kind, a=[1, 2]), COLUMNS)
    assert {name: values.tolist() for name, values in found.items()} == {"a": [1, 2]}
    found = read_columns(file_of(tmp_path, kind, c=[7, None], a=[1, 2]), COLUMNS)
    assert {name: values.tolist() for name, values in found.items()} == {"a": [1, 2], "c": [7, -1]}
    found = read_columns(file_of(tmp_path, kind, b=[0, 3], c=[5, 6], x=[8, 9], a=[1, 2]), COLUMNS)
    assert list(found) == ["a", "b", "c"]


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_what_is_there_must_be_right(tmp_path: Path, kind: str) -> None:
    line = 1 if kind == "parquet" else 2
    bad: dict[str, dict[str, Any]] = {
        f"t.{kind}:1: a: this column is missing": {"b": [0]},
        rf":{line}: a: must be an integer from 0 to 9 \(--many 10\), not '10'": {"a": [10]},
        f":{line + 1}: b: must be an integer from 0 to 3, not '(null)?'": {
            "a": [1, 2],
            "b": [0, None],
        },
        f":{line}: c: must be empty or an integer from 0 to 99, not '-1'": {"a": [1], "c": [-1]},
    }
    for said, data in bad.items():
        with pytest.raises(InputError, match=said):
            read_columns(file_of(tmp_path, kind, **data), COLUMNS)


def test_an_optional_column_may_not_stand_twice(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b,b\n1,2,3\n")
    with pytest.raises(InputError, match="t.csv:1: b: this column stands twice in the header"):
        read_columns(tmp_path / "t.csv", COLUMNS)
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = arrow.table([[1], [2], [3]], names=["a", "b", "b"])
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match="t.parquet:1: b: this column stands twice in the schema"):
        read_columns(tmp_path / "t.parquet", COLUMNS)


def test_many_pieces_with_and_without_words(tmp_path: Path) -> None:
    """Long enough for several pieces; the fast reader, and the slow one for a piece."""
    rows = [(n % 10, n % 4, None if n % 3 else n % 100) for n in range(300_000)]
    text = "a,b,c\n" + "".join(f"{a},{b},{'' if c is None else c}\n" for a, b, c in rows)
    for odd in ("", '"1",2,3\n'):
        (tmp_path / "t.csv").write_text(text + odd)
        found = read_columns(tmp_path / "t.csv", COLUMNS)
        got = list(zip(*(found[name].tolist() for name in "abc"), strict=True))
        assert got[: len(rows)] == [(a, b, -1 if c is None else c) for a, b, c in rows]
        assert got[len(rows) :] == ([(1, 2, 3)] if odd else [])
