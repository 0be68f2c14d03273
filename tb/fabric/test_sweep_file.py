"""The file of a sweep: what it crosses, and what is said of everything wrong in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.fabric.sweep import run_sweep
from models.fabric.sweep_file import Sweep, read_sweep, sweep_of
from tb.fabric.test_sweep import TEXT, command


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(TEXT)
    return tmp_path


def test_a_file_crosses_lists_over_its_base(folder: Path) -> None:
    plan = read_sweep("s.toml")
    assert plan.seeds == (0, 1, 2)
    assert plan.labels == (
        {"scheme": "ofan", "ties": "port"},
        {"scheme": "ofan", "ties": "shuffled", "jitter_ns": 0},
        {"scheme": "rsq", "ties": "port"},
        {"scheme": "rsq", "ties": "shuffled", "jitter_ns": 0},
    )
    assert plan.cases[3].config.options.queue_unit == "packets"
    assert plan.cases[3].config.jitter == 0
    keys = [job.key for job in plan.jobs()]
    assert len(set(keys)) == 12
    assert keys == [job.key for job in read_sweep("s.toml").jobs()]


BAD: list[tuple[str, str, str]] = [
    ("k = 4", "kk = 4", "s.toml:4: kk: unknown setting; did you mean k?\n"),
    ("k = 4", "k = 4\nradix = 6", "s.toml:4: radix and k must not both be given: they are one"),
    ("[cross]", "[cross]\nradix = [4, 6]", "radix and k must not both be given"),
    ("[cross]", "[cross]\nk = [4, 6]\nradix = [4, 6]", "radix and k must not both be given"),
    ("[cross]", '[cross]\nties = ["port"]', "s.toml:9: ties: given twice"),
    ('"rsq"', "3", "s.toml:9: scheme must be a name, not 3"),
    (
        "packets = 5",
        "size = [1]",
        "s.toml:5: size must be a size from 1 to 2**50 bytes, as 1MiB, n",
    ),
    ("packets = 5", "size = {a = 1}", "s.toml:5: size must be a size from 1 to 2**50 bytes"),
    ("k = 4", "k = 5", "s.toml:4: radix must be an even integer from 2 to 128, not 5"),
    ("queue_unit", "queue_units", "s.toml:7: options.queue_units: unknown setting; did you mean"),
    ('"rsq"', '"rsk"', "did you mean rsq?"),
    ('ties = "shuffled"', "tie = 3", "s.toml:10: tie: unknown setting; did you mean ties?"),
    ("seeds = 3", "seeds = 0", "s.toml:1: seeds: must be a number from 1 to 1,000,000 or a list"),
    ("seeds = 3", "seeds = [1, 1]", "seeds must be one or more different ones"),
    ("seeds = 3", "sedes = 3", "s.toml:1: sedes: the file has seeds, base, cross and nothing else"),
    ("seeds = 3", "seeds = 500000", "s.toml:8: cross: must make at most 1,000,000 runs"),
    ("k = 4", "seed = 4", "s.toml:4: seed: seeds stand at the top of the file"),
    ('["ofan", "rsq"]', '"ofan"', "s.toml:9: scheme: must be a list of one or more values"),
    ("[cross]", "[cross", "s.toml:8: this is no TOML"),
    ("[base]\n", "[[base]]\n", "s.toml:2: base: must be a table"),
]


@pytest.mark.parametrize(("old", "new", "message"), BAD)
def test_a_bad_file_is_named_with_line_and_value(
    folder: Path, old: str, new: str, message: str, capfd: Any
) -> None:
    assert old in TEXT
    (folder / "s.toml").write_text(TEXT.replace(old, new))
    assert command("s.toml", "-o", "o.csv") == 2
    err = capfd.readouterr().err
    assert message in err
    assert err.count("\n") == 1
    assert [file.name for file in folder.iterdir()] == ["s.toml"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["no.toml", "-o", "o.csv"], "no.toml: no such file or directory"),
        (["s.toml", "-o", "s.toml"], "s.toml: cannot be replaced: it is an input"),
        (["s.toml", "-o", "."], "cannot be replaced: it is not a regular file"),
        (["s.toml", "-o", "o.parqet"], "out must end in .csv or .parquet, not 'o.parqet'"),
        (["s.toml", "-o", "o"], "out must end in .csv or .parquet, not 'o'"),
        (["s.toml", "-o", "no/o.csv"], "o.csv.journal: no such file or directory"),
        (["s.toml", "-o", "o.csv", "--workers", "-1"], "workers must be an integer from 0 to"),
        (
            ["s.toml", "-o", "o.csv", "--workers", "1", "--scheduler", "tcp://a:1"],
            "workers must not be given with a scheduler",
        ),
    ],
)
def test_bad_words(folder: Path, words: list[str], message: str, capfd: Any) -> None:
    assert command(*words) == 2
    assert message in capfd.readouterr().err


def test_a_matrix_is_part_of_what_a_run_is_known_by(folder: Path) -> None:
    keys = []
    for size in (100, 5000):
        text = f"Nodes 16\nConnections 1\n0->15 start 0 size {size}\n"
        (folder / "m.cm").write_text(text)
        plan = sweep_of({"k": 4, "traffic": "m.cm", "engine": "reference"}, {}, [0])
        keys += [job.key for job in plan.jobs()]
        run_sweep(plan, folder / "o.csv", workers=0)
    assert keys[0] != keys[1]


@pytest.mark.parametrize(
    ("cases", "seeds", "message"),
    [
        ((), (0,), "cases must be at least one, not 0"),
        (("c",), (), "seeds must be one or more different ones"),
        (("c",), (-1,), "seeds must be an integer from 0 to"),
    ],
)
def test_bad_sweeps(cases: Any, seeds: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Sweep(cases, tuple({} for _ in cases), seeds)
