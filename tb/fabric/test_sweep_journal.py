"""The journal of a sweep: what a kill leaves of it, and who may write to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.common.errors import InputError
from models.fabric.sweep_journal import Journal


def test_half_a_line_at_the_end_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / "j"
    with Journal(path) as journal:
        journal.add("a", {"measures": {}, "source": ""})
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"key": "b", "meas')
    with Journal(path) as journal:
        assert list(journal.results) == ["a"]
        journal.add("c", {"measures": {}, "source": ""})
    with Journal(path) as journal:
        assert list(journal.results) == ["a", "c"]


def test_a_broken_journal_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "j"
    for text, line in (
        ("hello\n", 1),
        ('{"netweave": "journal of a sweep", "version": 1}\n{}\n', 2),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=f"j:{line}: this is no line of a sweep's journal"):
            Journal(path).__enter__()
        assert path.read_text() == text


def test_two_sweeps_do_not_share_a_journal(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "j") as journal,
        pytest.raises(InputError, match="another sweep is writing to it"),
    ):
        Journal(journal.path).__enter__()
