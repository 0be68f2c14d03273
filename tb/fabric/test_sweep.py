"""Sweeps: the file, that an interrupted one loses nothing, and everything that can fail in it."""

from __future__ import annotations

import csv
import json
import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pyarrow.parquet as parquet
import pytest

import netweave
from models.fabric import sweep_pool
from models.fabric.sweep import Row, mean_and_sem, run_sweep, summary
from models.fabric.sweep_file import read_sweep, sweep_of
from models.fabric.sweep_pool import run_job

ROOT = Path(__file__).parents[2]
TEXT = """\
seeds = 3
[base]
engine = "reference"
k = 4
packets = 5
[base.options]
queue_unit = "packets"
[cross]
scheme = ["ofan", "rsq"]
where = [{ ties = "port" }, { ties = "shuffled", jitter_ns = 0 }]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(TEXT)
    return tmp_path


def command(*words: object) -> int:
    return netweave.main(["fabric", "sweep", *map(str, words)])


def results(file: str) -> list[dict[str, str]]:
    """Rows of a sweep but for the digest of the sources, which may be edited meanwhile."""
    with Path(file).open() as lines:
        return [{n: v for n, v in row.items() if n != "source"} for row in csv.DictReader(lines)]


def test_rows_summary_and_settings(folder: Path, capfd: Any) -> None:
    assert command("s.toml", "-o", "o.parquet", "--workers", 0) == 0
    rows = parquet.read_table("o.parquet").to_pylist()
    assert [(row["case"], row["seed"]) for row in rows] == [
        (case, seed) for case in range(4) for seed in range(3)
    ]
    assert [row["ties"] for row in rows[::3]] == ["port", "shuffled"] * 2
    assert rows[0]["jitter_ns"] is None
    alone = run_job(json.loads(rows[7]["settings"]))["measures"]
    assert {name: rows[7][name] for name in alone} == alone
    out = capfd.readouterr().out
    assert "mean ± SEM of 3 seeds" in out
    assert sorted(file.name for file in folder.iterdir()) == ["o.parquet", "s.toml"]
    assert command("s.toml", "-o", "o.csv", "--workers", 0) == 0
    assert (folder / "o.csv").read_text().count("\n") == 13


def test_results_are_the_same_on_workers(folder: Path) -> None:
    assert command("s.toml", "-o", "here.csv", "--workers", 0) == 0
    assert command("s.toml", "-o", "there.csv", "--workers", 2) == 0
    assert results("here.csv") == results("there.csv")


def test_mean_and_sem() -> None:
    assert mean_and_sem([3.0]) == (3.0, None)
    mean, sem = mean_and_sem([1.0, 2.0, 3.0])
    assert mean == 2
    assert sem == pytest.approx(1 / 3**0.5)
    plan = sweep_of({"k": 4}, {}, [0, 1])
    rows = [Row(0, seed, {"lost": seed, "completion_us": None}, "") for seed in (0, 1)]
    ((label, found),) = summary(plan, rows, ("lost", "completion_us"))
    assert label == {}
    assert found == {"lost": (0.5, pytest.approx(0.5)), "completion_us": None}


def test_equal_cases_are_run_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base = {"k": 4, "packets": 2, "engine": "reference"}
    plan = sweep_of(base, {"scheme": ["ofan", "ofan"]}, [0, 1])
    ran = counted(monkeypatch)
    rows = run_sweep(plan, folder / "o.csv", workers=0)
    assert len(rows) == 4
    assert len(ran) == 2
    assert rows[0].measures == rows[2].measures


def counted(monkeypatch: pytest.MonkeyPatch, stop: int | None = None) -> list[Any]:
    """Count the runs in this process; interrupt the one after `stop`."""
    ran: list[Any] = []
    run = sweep_pool.run_job

    def counting(settings: dict[str, Any], flows: Any = None) -> dict[str, Any]:
        if len(ran) == stop:
            raise KeyboardInterrupt
        ran.append((settings["scheme"], settings["ties"], settings["seed"]))
        return run(settings, flows)

    monkeypatch.setattr(sweep_pool, "run_job", counting)
    return ran


def test_an_interrupted_sweep_loses_nothing_and_runs_nothing_twice(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = read_sweep("s.toml")
    with monkeypatch.context() as patch:
        whole = counted(patch)
        run_sweep(plan, folder / "whole.csv", workers=0)
    done: list[Any] = []
    for stop in (5, 4, None):
        with monkeypatch.context() as patch:
            ran = counted(patch, stop)
            if stop is None:
                run_sweep(plan, folder / "parts.csv", workers=0)
            else:
                with pytest.raises(KeyboardInterrupt):
                    run_sweep(plan, folder / "parts.csv", workers=0)
            done += ran
    assert done == whole
    assert [seed for _, _, seed in whole] == [0] * 4 + [1] * 4 + [2] * 4
    assert results("parts.csv") == results("whole.csv")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_killed_sweep_goes_on(folder: Path, number: signal.Signals) -> None:
    """A real process with workers, killed in the middle, and started again."""
    (folder / "s.toml").write_text(TEXT.replace("packets = 5", "packets = 60"))
    line = [sys.executable, str(ROOT / "netweave.py"), "fabric", "sweep", "s.toml", "-o", "o.csv"]
    journal = folder / "o.csv.journal"
    process = subprocess.Popen(
        [*line, "--workers", "1"],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        start_new_session=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until = time.monotonic() + 90
    while time.monotonic() < until and (
        not journal.exists() or journal.read_bytes().count(b"\n") < 3
    ):
        time.sleep(0.02)
    if number == signal.SIGINT:
        os.killpg(process.pid, number)  # as a terminal does
    else:
        process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == (130 if number == signal.SIGINT else -9)
    assert "Traceback" not in err
    kept = journal.read_bytes()
    assert 3 <= kept.count(b"\n") < 13
    assert not (folder / "o.csv").exists()
    assert command("s.toml", "-o", "o.csv", "--workers", 0) == 0
    assert not journal.exists()
    assert command("s.toml", "-o", "whole.csv", "--workers", 0) == 0
    assert results("o.csv") == results("whole.csv")


def test_a_kept_journal_saves_runs_of_the_same_sources(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = {"k": 4, "packets": 2, "engine": "reference"}
    ran = counted(monkeypatch)
    for seeds, runs in (([0, 1], 2), ([0, 1], 2), ([0, 1, 2], 3)):
        rows = run_sweep(sweep_of(base, {}, seeds), folder / "o.csv", workers=0, keep=True)
        assert len(rows) == len(seeds)
        assert len(ran) == runs
    for module in ("sweep", "sweep_pool"):
        monkeypatch.setattr(f"models.fabric.{module}.source_digest", lambda: "other")
    rows = run_sweep(sweep_of(base, {}, [0]), folder / "o.csv", workers=0, keep=True)
    assert len(ran) == 4
    assert rows[0].source == "other"


def test_a_disk_that_fills_keeps_what_it_has(folder: Path) -> None:
    """The limit on file sizes stands for a full disk: a write is cut short and then refused."""
    line = [sys.executable, str(ROOT / "netweave.py"), "fabric", "sweep", "s.toml", "-o", "o.csv"]
    done = subprocess.run(
        [*line, "--workers", "0"],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": str(folder / "numba")},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000)),
    )
    assert done.returncode == 2
    kept = (folder / "o.csv.journal").read_bytes().count(b"\n") - 1
    assert 0 < kept < 12
    assert done.stderr == (
        f"netweave: o.csv.journal: file too large; the {kept} results before it are kept, and the "
        "same command goes on from there\n"
    )
    assert command("s.toml", "-o", "o.csv", "--workers", 0) == 0
    assert command("s.toml", "-o", "whole.csv", "--workers", 0) == 0
    assert results("o.csv") == results("whole.csv")


def test_a_disk_that_fills_at_the_end_keeps_the_journal(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("models.fabric.sweep.write_rows", full)
        assert command("s.toml", "-o", "o.csv", "--workers", 0) == 2
    assert "o.csv: no space left on device; all 12 results are kept" in capfd.readouterr().err
    ran = counted(monkeypatch)
    assert command("s.toml", "-o", "o.csv", "--workers", 0) == 0
    assert ran == []


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("tcp://127.0.0.1:9", "scheduler must answer within 1 s, not 'tcp://127.0.0.1:9'"),
        ("nonsense", "scheduler must be an address such as tcp://host:8786, not 'nonsense'"),
    ],
)
def test_a_scheduler_that_does_not_answer(
    folder: Path, address: str, message: str, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setattr(sweep_pool, "ANSWER_SECONDS", 1)
    assert command("s.toml", "-o", "o.csv", "--scheduler", address) == 2
    assert capfd.readouterr().err == f"netweave: {message}\n"
    assert [file.name for file in folder.iterdir()] == ["s.toml"]


def test_a_scheduler_elsewhere_gives_the_same(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    from distributed import LocalCluster

    monkeypatch.setattr(sweep_pool, "ANSWER_SECONDS", 2)
    made: Any = LocalCluster
    with made(n_workers=0, dashboard_address=None) as cluster:
        address = cluster.scheduler_address
        assert command("s.toml", "-o", "o.csv", "--scheduler", address) == 2
        line = f"netweave: scheduler must have a worker, not '{address}'\n"
        assert capfd.readouterr().err == line
        cluster.scale(1)
        cluster.wait_for_workers(1, timeout=60)
        sweep_pool.source_digest.cache_clear()  # the workers have just read the sources as well
        assert command("s.toml", "-o", "there.csv", "--scheduler", address) == 0
        here = os.getpid()

        def digest() -> str:
            return "here" if os.getpid() == here else "there"

        monkeypatch.setattr(sweep_pool, "source_digest", digest)
        assert command("s.toml", "-o", "o.csv", "--scheduler", address) == 2
        assert "must have the sources of this netweave (here), not there" in capfd.readouterr().err
    monkeypatch.undo()
    os.chdir(folder)
    assert command("s.toml", "-o", "here.csv", "--workers", 0) == 0
    assert results("here.csv") == results("there.csv")


def test_a_case_that_does_not_fit_starts_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.setattr("models.fabric.sweep.available_bytes", lambda: 1 << 20)
    ran = counted(monkeypatch)
    assert command("s.toml", "-o", "o.csv", "--workers", 0) == 2
    err = capfd.readouterr().err
    assert "case 0: radix: 16 hosts with permutation need about" in err
    assert "there are 1 MiB; nothing was started" in err
    assert ran == []


def test_an_error_in_a_run_names_case_and_seed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    def fail(settings: dict[str, Any], flows: Any = None) -> dict[str, Any]:
        raise ValueError("link_failure must leave every pair of edge switches a path, not 0.9")

    monkeypatch.setattr(sweep_pool, "run_job", fail)
    assert command("s.toml", "-o", "o.csv", "--workers", 0) == 2
    assert "case 0, seed 0: link_failure must leave" in capfd.readouterr().err
