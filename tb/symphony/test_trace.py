"""Trace and slot files: what is read, what is refused and how it is said, what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.errors import InputError
from models.common.parquet import is_parquet
from models.symphony.answers import Answers
from models.symphony.config import SymphonyConfig
from models.symphony.slots import Orders, orders
from models.symphony.trace import NO_WORD, Trace, read_trace, write_trace

CONFIG = SymphonyConfig(jobs=20)
HEAD = "time_ns,job,step,psn,last,queue_bytes"


def write(folder: Path, text: str, name: str = "t.csv") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def rows(trace: Trace) -> list[tuple[int, ...]]:
    return list(zip(*(values.tolist() for values in trace.columns().values()), strict=True))


def test_reads(tmp_path: Path) -> None:
    text = f"{HEAD}\n7,3,65535,16777215,1,16777215\n7,0,0,0,0,0\n"
    trace = read_trace(write(tmp_path, text), CONFIG)
    assert rows(trace) == [(7, 3, 65535, 2**24 - 1, 1, 2**24 - 1), (7, 0, 0, 0, 0, 0)]
    assert trace.ecn is None
    assert trace.random is None
    assert trace.codepoints().tolist() == [2, 2]


def test_reads_optional_columns_in_any_order(tmp_path: Path) -> None:
    text = f"random,note,ecn,{HEAD}\n,a,0,1,3,2,1,0,9\n123,b,3,2,4,5,6,1,7\n"
    trace = read_trace(write(tmp_path, text), CONFIG)
    assert rows(trace) == [(1, 3, 2, 1, 0, 9, 0, NO_WORD), (2, 4, 5, 6, 1, 7, 3, 123)]
    assert trace.codepoints().tolist() == [0, 3]


LAST_WORD = 2**CONFIG.random_bits - 1
BAD = {
    "no file": (None, "none.csv: no such file or directory"),
    "column missing": ("time_ns,job,step,psn,last\n0,0,0,0,0\n", "1: queue_bytes: .* missing"),
    "column twice": (f"{HEAD},ecn,ecn\n0,0,0,0,0,0,0,0\n", "1: ecn: this column stands twice"),
    "backwards": (
        f"{HEAD}\n5,0,0,0,0,0\n9,0,0,0,0,0\n8,0,0,0,0,0\n",
        "4: time_ns: must be 9 or more, as time does not run backwards, not '8'",
    ),
    "time": (f"{HEAD}\n{2**63},0,0,0,0,0\n", f"2: time_ns: .* to {2**63 - 1}, not '{2**63}'"),
    "job": (
        f"{HEAD}\n0,0,0,0,0,0\n0,20,0,0,0,0\n",
        r"3: job: must be an integer from 0 to 19 \(--jobs 20\), not '20'",
    ),
    "step": (f"{HEAD}\n0,0,65536,0,0,0\n", "2: step: .* from 0 to 65535, not '65536'"),
    "psn": (f"{HEAD}\n0,0,0,16777216,0,0\n", "2: psn: .* to 16777215, not '16777216'"),
    "last": (f"{HEAD}\n0,0,0,0,2,0\n", "2: last: must be an integer from 0 to 1, not '2'"),
    "queue": (f"{HEAD}\n0,0,0,0,0,16777216\n", "2: queue_bytes: .* to 16777215, not '16777216'"),
    "ecn": (f"{HEAD},ecn\n0,0,0,0,0,0,4\n", "2: ecn: must be an integer from 0 to 3, not '4'"),
    "no ecn": (f"{HEAD},ecn\n0,0,0,0,0,0,\n", "2: ecn: must be an integer from 0 to 3, not ''"),
    "random": (
        f"{HEAD},random\n0,0,0,0,0,0,{LAST_WORD + 1}\n",
        f"2: random: must be empty or .* to {LAST_WORD}, not '{LAST_WORD + 1}'",
    ),
    "minus": (f"{HEAD},random\n0,0,0,0,0,0,-1\n", "2: random: must be empty or .*, not '-1'"),
    "text": (f"{HEAD}\n0,0,one,0,0,0\n", "2: step: must be an integer .*, not 'one'"),
    "fields": (f"{HEAD}\n0,0,0,0,0\n", "2: row: has 5 fields where the header has 6"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named_by_line_field_and_value(tmp_path: Path, name: str) -> None:
    text, said = BAD[name]
    file = tmp_path / "none.csv" if text is None else write(tmp_path, text)
    with pytest.raises(InputError, match=said) as caught:
        read_trace(file, CONFIG)
    assert str(caught.value).startswith(f"{file}:")
    assert len(str(caught.value).splitlines()) == 1


def test_narrow_time_and_words(tmp_path: Path) -> None:
    """The widths of the configuration are the limits; 63 bits where it would take 64."""
    narrow = SymphonyConfig(time_bits=16, window_ns=100)
    file = write(tmp_path, f"{HEAD}\n65536,0,0,0,0,0\n")
    with pytest.raises(InputError, match="2: time_ns: .* to 65535, not '65536'"):
        read_trace(file, narrow)
    file = write(tmp_path, f"{HEAD},random\n{2**63 - 1},0,0,0,0,0,{LAST_WORD}\n")
    assert rows(read_trace(file, CONFIG)) == [(2**63 - 1, 0, 0, 0, 0, 0, LAST_WORD)]
    wide = SymphonyConfig(k=0.0001, mantissa_bits=10)
    assert wide.random_bits <= 64
    file = write(tmp_path, f"{HEAD},random\n0,0,0,0,0,0,{2**63}\n")
    with pytest.raises(InputError, match="2: random: must be empty or"):
        read_trace(file, wide)


TRACE = Trace.of([1, 5, 5], [0, 19, 3], [2, 0, 65535], [9, 8, 7], [0, 1, 0], [0, 10, 2000])
ANSWERS = Answers(
    known=np.array([True, True, False]),
    outpacing=np.array([True, False, False]),
    probability=np.array([0.1, 1.0, 0.0]),
    symphony=np.array([True, False, False]),
    red=np.array([True, True, False]),
    mark=np.array([False, True, False]),
    ecn=np.array([0, 3, 2], np.uint8),
)


def test_written_csv(tmp_path: Path) -> None:
    write_trace(tmp_path / "o.csv", TRACE, ANSWERS)
    assert (tmp_path / "o.csv").read_text() == (
        f"{HEAD},probability,mark_symphony,mark_red,mark\n"
        "1,0,2,9,0,0,0.1,1,1,0\n5,19,0,8,1,10,1,0,1,1\n5,3,65535,7,0,2000,0,0,0,0\n"
    )
    more = Trace.of(*TRACE.columns().values(), ecn=[0, 1, 2], random=[NO_WORD, 7, 0])
    write_trace(tmp_path / "o.csv", more, ANSWERS)
    assert (tmp_path / "o.csv").read_text().splitlines()[:3] == [
        f"{HEAD},ecn,random,probability,mark_symphony,mark_red,mark",
        "1,0,2,9,0,0,0,,0.1,1,1,0",
        "5,19,0,8,1,10,1,7,1,0,1,1",
    ]


@pytest.mark.parametrize("name", ["o.csv", "o.parquet"])
@pytest.mark.parametrize("answers", [None, ANSWERS])
def test_what_is_written_is_read_again(tmp_path: Path, name: str, answers: Any) -> None:
    if is_parquet(name):
        pytest.importorskip("pyarrow")
    more = Trace.of(*TRACE.columns().values(), ecn=[0, 1, 2], random=[NO_WORD, 7, 0])
    for trace in (TRACE, more):
        write_trace(tmp_path / name, trace, answers, parquet=is_parquet(name))
        again = read_trace(tmp_path / name, CONFIG)
        assert rows(again) == rows(trace)
        assert list(again.columns()) == list(trace.columns())


def test_parquet_has_reals_and_nulls(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    more = Trace.of(*TRACE.columns().values(), random=[NO_WORD, 7, 0])
    write_trace(tmp_path / "o.parquet", more, ANSWERS, parquet=True)
    table = parquet.read_table(tmp_path / "o.parquet")
    assert table["random"].to_pylist() == [None, 7, 0]
    assert table["probability"].to_pylist() == [0.1, 1.0, 0.0]
    assert table["mark"].to_pylist() == [0, 1, 0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_probabilities_read_back_as_they_were(tmp_path_factory: Any, values: list[float]) -> None:
    file = tmp_path_factory.getbasetemp() / "reals.csv"
    count = len(values)
    no = np.zeros(count, bool)
    answers = Answers(no, no, np.array(values), no, no, no, np.zeros(count, np.uint8))
    write_trace(file, Trace.of(*[np.zeros(count)] * 6), answers)
    lines = file.read_text().splitlines()[1:]
    assert [float(line.split(",")[6]) for line in lines] == values


def test_a_slice_is_a_trace() -> None:
    more = Trace.of(*TRACE.columns().values(), ecn=[0, 1, 2])
    assert rows(more[1:3]) == rows(more)[1:]
    assert len(more[1:1]) == 0


def order_rows(found: Orders) -> list[tuple[int, ...]]:
    return list(zip(found.before.tolist(), found.job.tolist(), found.given.tolist(), strict=True))


def test_without_a_file_every_job_has_a_slot() -> None:
    trace = Trace.of([1, 2, 3], [4, 9, 4], *[[0] * 3] * 4)
    assert order_rows(orders(CONFIG, trace)) == [(0, 4, 1), (0, 9, 1)]


def test_orders_go_in_before_the_first_packet_that_is_not_earlier(tmp_path: Path) -> None:
    """Job 4 has a slot from the start until 20; job 9 gets one; 5 is named but sends nothing."""
    trace = Trace.of([10, 20, 20, 30, 40], [4, 9, 4, 2, 4], *[[0] * 5] * 4)
    text = "time_ns,job,given\n0,9,1\n20,4,0\n21,4,1\n21,9,0\n40,5,1\n99,9,1\n"
    found = orders(CONFIG, trace, write(tmp_path, text, "s.csv"))
    assert order_rows(found) == [
        (0, 2, 1),
        (0, 4, 1),
        (0, 9, 1),
        (1, 4, 0),
        (3, 4, 1),
        (3, 9, 0),
        (4, 5, 1),
        (5, 9, 1),
    ]
    assert order_rows(found.among(slice(0, 3))) == order_rows(found)[:4]
    assert order_rows(found.among(slice(3, 5))) == [(0, 4, 1), (0, 9, 0), (1, 5, 1)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("time_ns,job\n0,0\n", "s.csv:1: given: this column is missing in the header"),
        ("time_ns,job,given\n", "s.csv:2: empty: there is no row below the header"),
        ("time_ns,job,given\n0,20,1\n", r"s.csv:2: job: .* 0 to 19 \(--jobs 20\), not '20'"),
        ("time_ns,job,given\n0,0,2\n", "s.csv:2: given: must be an integer from 0 to 1, not '2'"),
        ("time_ns,job,given\n5,0,1\n4,0,0\n", "s.csv:3: time_ns: must be 5 or more, .* not '4'"),
    ],
)
def test_bad_slot_files(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        orders(CONFIG, TRACE, write(tmp_path, text, "s.csv"))
