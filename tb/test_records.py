"""Cost records: one file a run, read back as written, compared with the release."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from models.common.errors import InputError
from synth.ge import Cost
from synth.records import Record, changes, read_records, records_of, write_records

COST = Cost(logic=100.25, gating=4.5, flops=8, storage=16, rom=32, depth=7)


def test_records_of_a_cost() -> None:
    found = {r.metric: (r.value, r.unit) for r in records_of("sort", "edge-k8", COST)}
    assert found == {
        "logic": (100.2, "GE"),
        "gating": (4.5, "GE"),
        "flops": (8, "bits"),
        "storage": (16, "bits"),
        "rom": (32, "bits"),
        "depth": (7, "gates"),
        "total, paper": (200.8, "GE"),
        "total, Nangate45": (240.8, "GE"),
    }


def test_what_is_counted_exactly_is_never_marked_fitted() -> None:
    found = {r.metric for r in records_of("file", "edge-k64", COST, "badly") if r.fitted}
    assert found == {"logic", "depth", "total, paper", "total, Nangate45"}


def test_a_file_gives_back_what_was_written(tmp_path: Path) -> None:
    records = records_of("sort", "edge-k8", COST) + records_of("π", "edge-k8", COST, "well")
    path = tmp_path / "deep" / "r.json"
    write_records(path, records)
    assert read_records(path) == records
    assert [entry.name for entry in path.parent.iterdir()] == ["r.json"]
    first = json.loads(path.read_text())[0]
    assert set(first) == {"block", "preset", "engine", "versions", "metric", "value", "unit"}
    assert first["engine"] in first["versions"]


@pytest.mark.parametrize("text", ["", "{", "[1]", '[{"block": "sort"}]', '[{"colour": 1}]', "3"])
def test_a_file_that_is_none(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"r\.json: no cost records: ") as error:
        read_records(path)
    assert "\n" not in str(error.value)


def test_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.json: no such file"):
        read_records(tmp_path / "none.json")


def test_changes_against_the_release() -> None:
    def record(block: str, value: float) -> Record:
        return Record(
            block=block, preset="p", metric="logic", value=value, unit="GE", engine="yosys"
        )

    old = [record("same", 1), record("grown", 1), record("gone", 1)]
    new = [record("same", 1), record("grown", 2), record("new", 3)]
    assert changes(old, new) == [
        ("p / gone / logic", 1, None),
        ("p / grown / logic", 1, 2),
        ("p / new / logic", None, 3),
    ]
