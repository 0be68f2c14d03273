"""Sweeps on a real dask scheduler and worker, each a process of its own, of which one dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import netweave
from models.fabric import sweep_pool

ROOT = Path(__file__).parents[2]
TEXT = """\
seeds = 12
[base]
engine = "reference"
k = 8
packets = 12
"""
RUNS = 12
IMPATIENT = """\
import sys
import netweave
from models.fabric import sweep_pool
sweep_pool.ANSWER_SECONDS, sweep_pool.LOST_SECONDS = 30, 2
sys.exit(netweave.main(sys.argv[1:]))
"""
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT)}


class Cluster:
    """A scheduler and a worker."""

    def __init__(self, folder: Path) -> None:
        where = folder / "scheduler.json"
        common = ["--scheduler-file", str(where)]
        self.scheduler = self.start("scheduler", "--port", "0", "--no-dashboard", *common)
        while not where.exists() or not where.read_text().strip():
            time.sleep(0.05)
        self.address = json.loads(where.read_text())["address"]
        self.worker = self.start("worker", "--no-nanny", "--no-dashboard", "--nthreads=1", *common)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Cluster]:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(TEXT)
    made = Cluster(tmp_path)
    yield made
    for process in (made.worker, made.scheduler):
        process.kill()
        process.wait()


def kept() -> int:
    """Results in the journal."""
    journal = Path("o.csv.journal")
    return journal.read_bytes().count(b"\n") - 1 if journal.exists() else 0


@pytest.mark.parametrize(
    ("dies", "message"),
    [
        ("scheduler", "scheduler went away; the same command goes on from here"),
        (
            "worker",
            "scheduler must have a worker, not none for 2 s; the same command goes on from here",
        ),
    ],
)
def test_what_dies_in_mid_sweep_loses_nothing(
    cluster: Cluster, dies: str, message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["fabric", "sweep", "s.toml", "-o", "o.csv"]
    sweep = subprocess.Popen(
        [sys.executable, "-c", IMPATIENT, *words, "--scheduler", cluster.address],
        env=ENVIRONMENT,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while kept() < 2:
        assert sweep.poll() is None
        time.sleep(0.01)
    getattr(cluster, dies).kill()
    assert sweep.communicate()[1] == f"netweave: {message}\n"
    assert sweep.returncode == 2
    before = kept()
    assert 2 <= before < RUNS
    ran = []

    def counted(settings: dict[str, Any], flows: Any = None) -> dict[str, Any]:
        ran.append(settings["seed"])
        return run_job(settings, flows)

    run_job = sweep_pool.run_job
    monkeypatch.setattr(sweep_pool, "run_job", counted)
    assert netweave.main([*words, "--workers", "0"]) == 0
    assert len(ran) == len(set(ran)) == RUNS - before
    assert len(Path("o.csv").read_text().splitlines()) == 1 + RUNS
