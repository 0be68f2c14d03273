"""Bins that are counted, asserted, kept and shown."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console

from tb.coverage import Bin, Coverage, load, table

BINS = [Bin("group of 1", "one", "a"), Bin("group of 2", "two", "a"), Bin("reset", "reset", "b")]


def test_a_missing_bin_is_named() -> None:
    coverage = Coverage("run", BINS)
    coverage.hit("group of 1")
    coverage.hit("no such bin")
    with pytest.raises(AssertionError, match="^run: not covered by a: group of 2$"):
        coverage.check("a")
    coverage.hit("group of 2")
    coverage.check("a")
    with pytest.raises(AssertionError, match="^run: not covered by b: reset$"):
        coverage.check("b")


def test_summary_names_kinds_once() -> None:
    coverage = Coverage("run", BINS)
    assert coverage.summary("ab") == "0 of 3 bins; not hit: group of N, reset"
    coverage.hit("reset")
    assert coverage.summary("b") == "1 of 1 bins"


def test_counts_are_kept_and_shown(tmp_path: Path) -> None:
    coverage = Coverage("run", BINS)
    for name in ("group of 2", "group of 2", "reset"):
        coverage.hit(name)
    assert coverage.save(tmp_path).name == "run.json"
    runs = load(tmp_path)
    assert runs == {"run": {"group of 1": 0, "group of 2": 2, "reset": 1}}
    console = Console(width=100, record=True, file=StringIO())
    console.print(table(runs))
    words = [line.replace("│", " ").split() for line in console.export_text().splitlines()]
    assert ["group", "of", "N", "1", "2", "1", "2", "0"] in words
    assert ["reset", "1", "1", "1", "1", "1"] in words
