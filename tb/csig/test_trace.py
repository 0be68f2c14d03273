"""Trace files: what is read, what is refused and how it is said, what is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.column import Column
from models.common.columns import read_columns
from models.common.errors import InputError
from models.common.parquet import is_parquet
from models.csig.answers import Answers
from models.csig.config import CsigConfig
from models.csig.port import Port
from models.csig.setup import Setup
from models.csig.trace import NO_TAG, Trace, read_trace, write_trace

SETUP = Setup(ports=(Port(id=0, speed_gbps=1, locator=1), Port(id=5, speed_gbps=1, locator=2)))
CONFIG = SETUP.config()
UEC = SETUP.config(layout="uec")
HEAD = "time_ns,port,bytes,delay_ns,queue_bytes,format,signal,value,locator"
GOOD = "7,5,1500,20,3000,compact,1,31,127\n7,0,64,0,0,wide,15,1048575,65535\n"


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def rows(trace: Trace) -> list[tuple[int, ...]]:
    return list(zip(*(values.tolist() for values in trace.columns().values()), strict=True))


def test_reads(tmp_path: Path) -> None:
    trace = read_trace(write(tmp_path, f"{HEAD}\n{GOOD}"), CONFIG, SETUP)
    assert rows(trace) == [
        (7, 5, 1500, 20, 3000, 0, 1, 31, 127),
        (7, 0, 64, 0, 0, 1, 15, 2**20 - 1, 2**16 - 1),
    ]
    assert trace.discard is None
    assert trace.discarded().tolist() == [0, 0]


def test_reads_columns_in_any_order_and_packets_without_tags(tmp_path: Path) -> None:
    text = f"discard,replaced,{HEAD}\n1,x,7,5,1500,20,3000,compact,1,,\n0,1,8,0,64,0,0,wide,0,3,4\n"
    trace = read_trace(write(tmp_path, text), UEC, SETUP)
    assert rows(trace) == [
        (7, 5, 1500, 20, 3000, 0, 1, NO_TAG, NO_TAG, 1),
        (8, 0, 64, 0, 0, 1, 0, 3, 4, 0),
    ]


def row(**fields: object) -> str:
    given_fields = dict(zip(HEAD.split(","), (0, 0, 64, 0, 0, "compact", 0, 0, 0), strict=True))
    return ",".join(str(value) for value in (given_fields | fields).values()) + "\n"


BAD = {
    "no file": (None, "none.csv: no such file or directory"),
    "no column": (HEAD.replace(",format", "") + "\n0,0,0,0,0,0,0,0\n", ":1: format: .* missing"),
    "time text": (row(time_ns="x"), ":2: time_ns: must be an integer .*, not 'x'"),
    "time far": (row(time_ns=2**62), f":2: time_ns: .*, not '{2**62}'"),
    "backwards": (
        row(time_ns=5) + row(time_ns=4),
        ":3: time_ns: must be 5 or more, as time does not run backwards, not '4'",
    ),
    "port": (row() + row(port=1), r":3: port: must be a port of .* \(0, 5\), not '1'"),
    "port far": (row(port=64), ":2: port: must be an integer from 0 to 63, not '64'"),
    "bytes": (row(bytes=16384), ":2: bytes: must be .* to 16383, not '16384'"),
    "delay": (row(delay_ns=2**32), f":2: delay_ns: .*, not '{2**32}'"),
    "queue": (row(queue_bytes=-1), ":2: queue_bytes: .*, not '-1'"),
    "format": (row(format="short"), ":2: format: must be compact or wide, not 'short'"),
    "format number": (row(format=0), ":2: format: must be compact or wide, not '0'"),
    "format empty": (row(format=""), ":2: format: must be compact or wide, not ''"),
    "word elsewhere": (row(port="wide"), ":2: port: must be an integer .*, not 'wide'"),
    "signal": (row(signal=8), ":2: signal: must be at most 7 in a compact tag .*, not '8'"),
    "signal wide": (row(signal=16, format="wide"), ":2: signal: must be .* 0 to 15, not '16'"),
    "value": (row(value=32), ":2: value: must be at most 31 in a compact tag .*, not '32'"),
    "value wide": (row(value=2**20, format="wide"), f":2: value: .*, not '{2**20}'"),
    "locator": (row(locator=128), ":2: locator: must be at most 127 in a compact .*, not '128'"),
    "locator wide": (row(locator=2**16, format="wide"), ":2: locator: .*, not '65536'"),
    "half a tag": (row() + row(value=""), ":3: value: value and locator must both .*, not ''"),
    "other half": (row(locator=""), ":2: value: value and locator must both be there.*, not '0'"),
    "fields": ("0,0\n", ":2: row: has 2 fields where the header has 9"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named_by_line_field_and_value(tmp_path: Path, name: str) -> None:
    text, said = BAD[name]
    if text is None:
        file = tmp_path / "none.csv"
    else:
        file = write(tmp_path, text if text.startswith("time") else f"{HEAD}\n{text}")
    with pytest.raises(InputError, match=said) as caught:
        read_trace(file, CONFIG, SETUP)
    assert str(caught.value).startswith(f"{file}:")
    assert len(str(caught.value).splitlines()) == 1


def test_layouts_differ_in_the_locator_and_in_discard(tmp_path: Path) -> None:
    file = write(tmp_path, f"{HEAD}\n" + row(locator=64))
    assert len(read_trace(file, CONFIG, SETUP)) == 1
    with pytest.raises(InputError, match="2: locator: must be at most 63 .* layout uec, not '64'"):
        read_trace(file, UEC, SETUP)
    file = write(tmp_path, f"{HEAD}\n" + row(format="wide", locator=2**15))
    with pytest.raises(InputError, match="2: locator: must be .* 0 to 32767, not '32768'"):
        read_trace(file, UEC, SETUP)
    file = write(tmp_path, f"{HEAD},discard\n" + row().replace("\n", ",1\n"))
    assert read_trace(file, UEC, SETUP).discarded().tolist() == [1]
    with pytest.raises(InputError, match=r"2: discard: must be 0, .* \(--layout uec\), not '1'"):
        read_trace(file, CONFIG, SETUP)
    file = write(tmp_path, f"{HEAD},discard\n" + row().replace("\n", ",2\n"))
    with pytest.raises(InputError, match="2: discard: must be an integer from 0 to 1, not '2'"):
        read_trace(file, UEC, SETUP)


TRACE = Trace.of(
    [1, 5, 5],
    [0, 5, 5],
    [64, 9, 8],
    [7, 0, 1],
    [3, 1, 0],
    [0, 1, 0],
    [0, 1, 7],
    [3, 9, 4],
    [1, 8, 2],
)
ANSWERS = Answers(
    np.array([2, 9, NO_TAG]),
    np.array([60, 8, NO_TAG]),
    np.array([True, False, False]),
    *[np.array([False, False, True])] * 3,
)


def test_written_csv(tmp_path: Path) -> None:
    bare = replace(TRACE, value=np.array([3, NO_TAG, 4]), locator=np.array([1, NO_TAG, 2]))
    write_trace(tmp_path / "o.csv", bare)
    assert (tmp_path / "o.csv").read_text() == (
        f"{HEAD}\n1,0,64,7,3,compact,0,3,1\n5,5,9,0,1,wide,1,,\n5,5,8,1,0,compact,7,4,2\n"
    )
    write_trace(tmp_path / "o.csv", TRACE, ANSWERS)
    assert (tmp_path / "o.csv").read_text() == (
        f"{HEAD},replaced\n1,0,64,7,3,compact,0,2,60,1\n"
        "5,5,9,0,1,wide,1,9,8,0\n5,5,8,1,0,compact,7,,,0\n"
    )
    more = Trace.of(*TRACE.columns().values(), discard=[0, 1, 0])
    write_trace(tmp_path / "o.csv", more, ANSWERS)
    assert (tmp_path / "o.csv").read_text().splitlines()[:3] == [
        f"{HEAD},discard,replaced",
        "1,0,64,7,3,compact,0,2,60,0,1",
        "5,5,9,0,1,wide,1,9,8,1,0",
    ]


@pytest.mark.parametrize("name", ["o.csv", "o.parquet"])
@pytest.mark.parametrize("answers", [None, ANSWERS])
def test_what_leaves_one_hop_can_go_into_the_next(tmp_path: Path, name: str, answers: Any) -> None:
    if is_parquet(name):
        pytest.importorskip("pyarrow")
    for trace in (TRACE, Trace.of(*TRACE.columns().values(), discard=[0, 1, 1])):
        write_trace(tmp_path / name, trace, answers, parquet=is_parquet(name))
        config = UEC if trace.discard is not None else CONFIG
        again = read_trace(tmp_path / name, config, SETUP)
        expected = trace.columns()
        if answers:
            expected |= {"value": answers.value, "locator": answers.locator}
        assert rows(again) == rows(Trace.of(**expected))
        assert list(again.columns()) == list(trace.columns())


def test_parquet_has_words_and_nulls(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    file = tmp_path / "o.parquet"
    write_trace(file, TRACE, ANSWERS, parquet=True)
    table = parquet.read_table(file)
    assert table["format"].to_pylist() == ["compact", "wide", "compact"]
    assert table["value"].to_pylist() == [2, 9, None]
    assert table["replaced"].to_pylist() == [1, 0, 0]
    place = table.column_names.index("format")
    encoded = table["format"].dictionary_encode()
    parquet.write_table(table.set_column(place, "format", encoded), file)
    assert read_trace(file, CONFIG, SETUP).format.tolist() == [0, 1, 0]
    for values, said in (
        (["wide", "short", "wide"], ":2: format: must be compact or wide, not 'short'"),
        (["wide", "wide", None], ":3: format: must be compact or wide, not 'null'"),
        ([0, 1, 0], ":1: format: must be a column of strings, not 'int64'"),
    ):
        parquet.write_table(table.set_column(place, "format", arrow.array(values)), file)
        with pytest.raises(InputError, match=said):
            read_trace(file, CONFIG, SETUP)
    parquet.write_table(table.set_column(0, "time_ns", arrow.array([3, 2, 3])), file)
    with pytest.raises(InputError, match=":2: time_ns: must be 3 or more, .*, not '2'"):
        read_trace(file, CONFIG, SETUP)


KINDS = (Column("n", 0, 9), Column.of_words("w", ("a", "bb", "ab")), Column("m", 0, 9, blank=-1))


@pytest.mark.parametrize("odd", ["", '1,"bb",2\n', "1, ab,\n"])
def test_words_in_many_pieces(tmp_path: Path, odd: str) -> None:
    """The fast reader, and the slow one for a piece with quotes or blanks in it."""
    words = ["a", "bb", "ab", "ab"]
    count = 250_000
    text = "w,n,m\n" + "".join(f"{words[n % 4]},{n % 10},{n % 7 or ''}\n" for n in range(count))
    odd = ",".join(odd.strip().split(",")[place] for place in (1, 0, 2)) + "\n" if odd else ""
    found = read_columns(write(tmp_path, text + odd), KINDS)
    places = [0, 1, 2, 2]
    assert found["w"][:count].tolist() == [places[n % 4] for n in range(count)]
    assert found["m"][:count].tolist() == [n % 7 or -1 for n in range(count)]
    assert len(found["w"]) == count + bool(odd)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,c,1\n", ":2: w: must be a or bb or ab, not 'c'"),
        ("1,a,1\n1,,1\n", ":3: w: must be a or bb or ab, not ''"),
        ("1,aa,1\n", ":2: w: must be a or bb or ab, not 'aa'"),
        ("1,1,1\n", ":2: w: must be a or bb or ab, not '1'"),
        ("a,a,1\n", ":2: n: must be an integer from 0 to 9, not 'a'"),
        ("1,a,a\n", ":2: m: must be empty or an integer from 0 to 9, not 'a'"),
    ],
)
def test_bad_words(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_columns(write(tmp_path, "n,w,m\n" + text), KINDS)


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["a", "bb", "ab"])), min_size=1))
def test_words_read_back(tmp_path_factory: Any, data: list[tuple[int, str]]) -> None:
    file = tmp_path_factory.getbasetemp() / "words.csv"
    file.write_text("n,w,x\n" + "".join(f"{n},{w},0\n" for n, w in data))
    found = read_columns(file, KINDS[:2])
    assert found["n"].tolist() == [n for n, _ in data]
    assert [KINDS[1].words[place] for place in found["w"]] == [w for _, w in data]


def test_a_slice_is_a_trace() -> None:
    assert rows(TRACE[1:3]) == rows(TRACE)[1:]
    assert isinstance(CONFIG, CsigConfig)
