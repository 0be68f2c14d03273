"""The long replays: every kind of traffic, RTL against vectorized model, whatever the storage."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from models.ofan.config import OfanConfig, edge, preset
from models.ofan.engine import Engine
from models.ofan.vectorized import VectorizedOfan
from tb.ofan import bench_replay
from tb.ofan.bench_replay import Run, compare, run_of
from tb.ofan.replay_traffic import CYCLES, KINDS, cycles, traffic


def banked(storage: str) -> OfanConfig:
    """An edge switch of four-port switches; eight rows of pointers a bank."""
    return edge(4, masks=0, engine=Engine(kind="queued-banked", banks=2, storage=storage))


@pytest.mark.parametrize("kind", KINDS)
def test_traffic_has_no_end_and_is_of_its_switch(kind: str) -> None:
    config = banked("latches")
    for keys in islice(traffic(config, kind, 1), 30):
        assert keys.shape[0] <= CYCLES
        assert keys.shape[1] == config.lanes
        assert keys.max() < config.keys
        assert keys.min() >= -1
    for number in (1, 5_000):
        served = np.concatenate(list(cycles(config, kind, 1, number))) >= 0
        assert served.any(axis=1).sum() == number
        assert served[-1].any()


def test_adversaries_come_in_turns() -> None:
    config = preset("edge-k12-queued")
    first = [keys[:2].tolist() for keys in islice(traffic(config, "adversarial", 1), 4)]
    assert first[0] == first[3]
    assert len({str(keys) for keys in first}) == 3
    assert first[2] == [[0] * 6] * 2


def test_the_seed_draws_random_keys() -> None:
    drawn = [next(traffic(banked("latches"), "random", seed)).tolist() for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


@pytest.mark.parametrize("storage", ["latches", "sram"])
def test_storage_gives_the_same_answers(storage: str) -> None:
    """The cells for latches and static memory have models, which simulate."""
    for kind in KINDS:
        result = compare(Run(banked(storage), kind), 2_000, 1, lambda _: None)
        assert (result.batches, result.differences) == (2_000, 0)
        assert result.packets >= 2_000
        assert result.cycles > 2_000


def test_a_difference_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    class Wrong(VectorizedOfan):
        def serve_batches(self, key: np.ndarray, keep: np.ndarray | None = None) -> np.ndarray:
            answers = super().serve_batches(key, keep)
            answers[7] ^= 1
            return answers

    monkeypatch.setattr(bench_replay, "VectorizedOfan", Wrong)
    full = Run(banked("latches"))
    assert compare(full, 20, 1, lambda _: None).differences == full.config.lanes


def test_names_of_runs() -> None:
    assert run_of("edge-k8") == Run(preset("edge-k8"))
    assert run_of("edge-k8:masks=0:storm") == Run(preset("edge-k8", masks=0), "storm")
    with pytest.raises(ValueError, match="NAME:masks=0, not 'edge-k8:storms'"):
        run_of("edge-k8:storms")


def test_the_record_keeps_other_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    record = tmp_path / "ofan.json"
    monkeypatch.setattr(bench_replay, "RECORD", record)
    config = banked("latches")
    monkeypatch.setattr(bench_replay, "run_of", lambda name: Run(config, name.partition(":")[2]))

    def run(*options: str) -> dict[tuple[str, str], Any]:
        monkeypatch.setattr(sys, "argv", ["bench_replay", "P", "--batches", *options])
        assert bench_replay.main() == 0
        rows = json.loads(record.read_text())
        return {(row["preset"], row["metric"]): row["value"] for row in rows}

    run("10", "--traffic", "ring")
    run("20", "--traffic", "storm")
    found = run("30", "--traffic", "ring")
    assert {key: value for key, value in found.items() if key[1] == "compared"} == {
        ("P:storm", "compared"): 20,
        ("P:ring", "compared"): 30,
    }
