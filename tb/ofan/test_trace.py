"""Trace files: what is read, what is refused and how it is said, what is written."""

from __future__ import annotations

import builtins
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common import columns
from models.common.errors import InputError
from models.common.files import replacing
from models.common.parquet import is_parquet, need_pyarrow
from models.ofan.config import OfanConfig, preset
from models.ofan.trace import Trace, read_trace, write_trace

CONFIG = preset("edge-k64")
HEAD = "batch,lane,destination,size_class\n"


def write(folder: Path, text: str | bytes, name: str = "t.csv") -> Path:
    file = folder / name
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def rows(trace: Trace) -> list[tuple[int, ...]]:
    names = (trace.batch, trace.lane, trace.destination, trace.size_class)
    return list(zip(*(values.tolist() for values in names), strict=True))


READABLE = {
    "plain": HEAD + "0,3,7,0\n0,1,2047,1\n5,0,0,0\n",
    "no last line end": HEAD + "0,3,7,0\n0,1,2047,1\n5,0,0,0",
    "crlf": (HEAD + "0,3,7,0\n0,1,2047,1\n5,0,0,0\n").replace("\n", "\r\n"),
    "other order": "lane,size_class,batch,destination\n3,0,0,7\n1,1,0,2047\n0,0,5,0\n",
    "a column of text": "batch,lane,who,destination,size_class\n"
    "0,3,é,7,0\n0,1,,2047,1\n5,0,-1.5,0,0\n",
    "a column of numbers": "uplink,batch,lane,destination,size_class\n9,0,3,7,0\n"
    ",0,1,2047,1\n1,5,0,0,0\n",
    "quotes": '"batch","lane","destination","size_class"\n"0",3,7,0\n0,"1",2047,1\n5,0,0,0\n',
    "blanks": "batch, lane, destination, size_class\n0, 3, 7, 0\n0,1 ,2047,1\n5,0,0,0\n",
    "byte order mark": "\ufeff" + HEAD + "0,3,7,0\n0,1,2047,1\n5,0,0,0\n",
    "leading zeros": HEAD + "0,03,7,0\n0,1,0000000002047,1\n5,0,0,0\n",
}


@pytest.mark.parametrize("name", READABLE)
def test_reads(tmp_path: Path, name: str) -> None:
    trace = read_trace(write(tmp_path, READABLE[name]), CONFIG)
    assert rows(trace) == [(0, 3, 7, 0), (0, 1, 2047, 1), (5, 0, 0, 0)]
    assert trace.batches == 2
    assert trace.slots.tolist() == [0, 0, 1]
    assert trace.lane_order is not None
    assert trace.lane_order.tolist() == [1, 0, 2]


BAD: dict[str, tuple[str | bytes, str]] = {
    "empty file": ("", "1: empty: there is no header"),
    "blank header": ("\n0,0,0,0\n", "1: empty: there is no header"),
    "header alone": (HEAD, "2: empty: there is no row below the header"),
    "column missing": ("batch,lane,size_class\n0,0,0\n", "1: destination: this column is missing"),
    "column twice": (
        "batch,lane,lane,destination,size_class\n0,0,0,0,0\n",
        "1: lane: this column stands twice",
    ),
    "text": (HEAD + "0,0,0,0\n0,one,0,0\n", "3: lane: must be an integer from 0 to 31, not 'one'"),
    "character after 9": (HEAD + "0,0,:,0\n", "2: destination: must be .*, not ':'"),
    "fraction": (HEAD + "0,0,1.0,0\n", "2: destination: must be an integer .*, not '1.0'"),
    "negative": (HEAD + "-1,0,0,0\n", "2: batch: must be an integer from 0 to .*, not '-1'"),
    "nothing": (HEAD + "0,,0,0\n", "2: lane: must be an integer from 0 to 31, not ''"),
    "lane": (HEAD + "0,0,0,0\n0,32,0,0\n", "3: lane: must be an integer from 0 to 31, not '32'"),
    "destination": (HEAD + "0,0,2048,0\n", "2: destination: .* from 0 to 2047, not '2048'"),
    "size class": (HEAD + "0,0,0,2\n", "2: size_class: must be .* from 0 to 1, not '2'"),
    "batch": (HEAD + "9007199254740992,0,0,0\n", "2: batch: .*, not '9007199254740992'"),
    "long": (HEAD + f"0,0,{'9' * 60},0\n", "2: destination: must be .*, not '9{40}…'"),
    "two on a lane": (
        HEAD + "0,5,0,0\n0,4,0,0\n0,5,1,0\n",
        "4: lane: must be one that has no packet in batch 0 yet, not '5'",
    ),
    "two twice": (HEAD + "0,5,0,0\n0,4,0,0\n0,5,1,0\n0,4,0,0\n", "4: lane: .*, not '5'"),
    "two in order": (HEAD + "7,5,0,0\n7,5,0,0\n", "3: lane: .* in batch 7 yet, not '5'"),
    "order": (
        HEAD + "0,0,0,0\n2,0,0,0\n1,0,0,0\n",
        "4: batch: must be 2 or more, as rows are sorted by batch, not '1'",
    ),
    "few fields": (HEAD + "0,0,0\n", "2: row: has 3 fields where the header has 4, not '0,0,0'"),
    "many fields": (HEAD + "0,0,0,0,0\n", "2: row: has 5 fields where the header has 4"),
    "fields shifted": (HEAD + "0,0,0\n0,0,0,0,0\n", "2: row: has 3 fields"),
    "empty line": (HEAD + "0,0,0,0\n\n1,0,0,0\n", "3: row: has 0 fields"),
    "carriage return": (HEAD + "0,0\r,0,0,0\n", "2: row: has 5 fields"),
    "not UTF-8": (HEAD.encode() + b"0,0,0,0\n0,\xe9,0,0\n", "3: byte 0xe9 is not UTF-8 text"),
    "NUL": (HEAD + "0,0,0,0\n0,1,\0,0\n", "3: NUL byte: this is not a text file"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named_by_line_field_and_value(tmp_path: Path, name: str) -> None:
    text, said = BAD[name]
    file = write(tmp_path, text)
    with pytest.raises(InputError, match=said) as caught:
        read_trace(file, CONFIG)
    assert str(caught.value).startswith(f"{file}:")
    assert len(str(caught.value).splitlines()) == 1


def test_errors_deep_in_a_long_file_have_the_right_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(columns, "_PIECE", 1000)
    lines = [f"{batch},{lane},{batch % 50},1" for batch in range(500) for lane in range(3)]
    good = read_trace(write(tmp_path, HEAD + "\n".join(lines)), CONFIG)
    assert [",".join(map(str, row)) for row in rows(good)] == lines
    lines[1234] = "411,99,0,0"
    with pytest.raises(InputError, match=r"t\.csv:1236: lane: .*, not '99'"):
        read_trace(write(tmp_path, HEAD + "\n".join(lines)), CONFIG)


def test_missing_file_directory_and_no_permission(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.csv: no such file or directory$"):
        read_trace(tmp_path / "none.csv", CONFIG)
    with pytest.raises(InputError, match=r": is a directory$"):
        read_trace(tmp_path, CONFIG)


FIELDS = st.text(alphabet='0123456789,\n\r -."x\0é', max_size=60)


@given(FIELDS)
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory: Any, text: str) -> None:
    file = write(tmp_path_factory.getbasetemp(), HEAD + text, "any.csv")
    try:
        trace = read_trace(file, CONFIG)
    except InputError as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert len(trace) > 0


@given(st.lists(st.tuples(st.integers(0, 31), st.integers(0, 2047)), min_size=1, max_size=40))
def test_fast_and_slow_reader_agree(tmp_path_factory: Any, packets: list[tuple[int, int]]) -> None:
    lines = [f"{batch},{lane},{d},{lane % 2}" for batch, (lane, d) in enumerate(packets)]
    folder = tmp_path_factory.getbasetemp()
    fast = read_trace(write(folder, HEAD + "\n".join(lines), "fast.csv"), CONFIG)
    slow_text = HEAD.strip() + ",note\n" + "\n".join(f"{line},x" for line in lines)
    slow = read_trace(write(folder, slow_text, "slow.csv"), CONFIG)
    assert rows(fast) == rows(slow)


TRACE = Trace.of([0, 0, 5, 6], [3, 1, 0, 31], [7, 2047, 0, 9], [0, 1, 0, 1])
UPLINK = np.array([0, -1, 31, 5], np.int16)


def test_written_csv(tmp_path: Path) -> None:
    write_trace(tmp_path / "o.csv", TRACE, UPLINK)
    assert (tmp_path / "o.csv").read_text() == (
        "batch,lane,destination,size_class,uplink\n0,3,7,0,0\n0,1,2047,1,\n5,0,0,0,31\n6,31,9,1,5\n"
    )


@pytest.mark.parametrize("name", ["o.csv", "o.parquet"])
def test_what_is_written_is_read_again(tmp_path: Path, name: str) -> None:
    if is_parquet(name):
        pytest.importorskip("pyarrow")
    for uplink in (None, UPLINK):
        write_trace(tmp_path / name, TRACE, uplink, parquet=is_parquet(name))
        assert rows(read_trace(tmp_path / name, CONFIG)) == rows(TRACE)


def test_parquet_has_null_where_unroutable(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    write_trace(tmp_path / "o.parquet", TRACE, UPLINK, parquet=True)
    table = parquet.read_table(tmp_path / "o.parquet")
    assert table.column_names == ["batch", "lane", "destination", "size_class", "uplink"]
    assert table["uplink"].to_pylist() == [0, None, 31, 5]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"lane": None}, "1: lane: this column is missing in the schema"),
        ({"lane": [1.0, 2.0]}, "1: lane: must be a column of integers, not 'double'"),
        ({"lane": [1, 32]}, "2: lane: must be an integer from 0 to 31, not '32'"),
        ({"lane": [-1, 32]}, "1: lane: must be an integer from 0 to 31, not '-1'"),
        ({"lane": [1, None]}, "2: lane: must be an integer from 0 to 31, not 'null'"),
        ({"batch": [3, 2]}, "2: batch: must be 3 or more"),
        ({"batch": [3, 3], "lane": [4, 4]}, "2: lane: must be one that has no packet in batch 3"),
    ],
)
def test_bad_parquet(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    data = {"batch": [0, 1], "lane": [0, 1], "destination": [0, 1], "size_class": [0, 1]} | change
    table = arrow.table({name: values for name, values in data.items() if values is not None})
    parquet.write_table(table, tmp_path / "t.parquet")
    with pytest.raises(InputError, match=rf"t\.parquet:{said}"):
        read_trace(tmp_path / "t.parquet", CONFIG)


def test_parquet_that_is_none_or_empty(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    for text in ("", HEAD):
        with pytest.raises(InputError, match=r"t\.parquet: this is no Parquet file"):
            read_trace(write(tmp_path, text, "t.parquet"), CONFIG)
    empty: Any = {name: arrow.array([], arrow.int64()) for name in HEAD.strip().split(",")}
    parquet.write_table(arrow.table(empty), tmp_path / "t.parquet")
    with pytest.raises(InputError, match=r"t\.parquet:1: empty: there is no row"):
        read_trace(tmp_path / "t.parquet", CONFIG)
    with pytest.raises(InputError, match=r"none\.parquet: no such file"):
        read_trace(tmp_path / "none.parquet", CONFIG)


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"t\.parquet: Parquet needs PyArrow, .*\[parquet\]"):
        need_pyarrow("t.parquet")


def test_replacing_keeps_the_old_file_on_any_error(tmp_path: Path) -> None:
    file = write(tmp_path, "old")
    for error in (ValueError, KeyboardInterrupt):
        with pytest.raises(error), replacing(file) as beside:
            beside.write_text("half")
            raise error
        assert os.listdir(tmp_path) == ["t.csv"]
        assert file.read_text() == "old"
    with replacing(file) as beside:
        beside.write_text("new")
        assert file.read_text() == "old"
    assert file.read_text() == "new"
    assert os.listdir(tmp_path) == ["t.csv"]


def test_replacing_follows_links_and_refuses_what_is_no_file(tmp_path: Path) -> None:
    file = write(tmp_path, "old")
    link = tmp_path / "link.csv"
    link.symlink_to(file)
    with replacing(link) as beside:
        beside.write_text("new")
    assert link.is_symlink()
    assert file.read_text() == "new"
    for place in (tmp_path, Path(os.devnull)):
        with pytest.raises(InputError, match="not a regular file"), replacing(place):
            pytest.fail("the block must not run")
    with (
        pytest.raises(InputError, match="no such file or directory"),
        replacing(tmp_path / "x" / "y"),
    ):
        pytest.fail("the block must not run")


def test_keys() -> None:
    config = OfanConfig(lanes=32, uplinks=4, destinations=2048, size_classes=2)
    assert TRACE.keys(config).tolist() == [7, 2047 + 2048, 0, 9 + 2048]
