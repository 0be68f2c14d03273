"""`netweave cosim ofan`: what it prints, and its exit code at a difference and for bad input."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import netweave
from models.ofan.config import preset
from models.ofan.trace import write_trace
from rtl.ofan.switch import Switch
from rtl.verilog import block_verilog
from tb.ofan.test_replay import random_trace


@pytest.fixture
def trace(tmp_path: Path) -> str:
    write_trace(tmp_path / "t.csv", random_trace(preset("edge-k8"), 200, seed=1))
    return str(tmp_path / "t.csv")


def cosim(trace: str, *more: str) -> int:
    return netweave.main(["cosim", "ofan", "--preset", "edge-k8", "--trace", trace, *more])


def test_agrees(trace: str, capfd: Any) -> None:
    assert cosim(trace, "--seed", "3") == 0
    err = capfd.readouterr().err
    said = [line for line in err.splitlines() if line.startswith("netweave: ")]
    batches = len({line.split(",")[0] for line in Path(trace).read_text().splitlines()[1:]})
    packets = len(Path(trace).read_text().splitlines()) - 1
    assert said[0].startswith(f"netweave: {batches} batches, {packets} packets, ")
    assert re.match(r"netweave: coverage: \d+ of \d+ bins", said[1])


def test_first_difference(trace: str, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hardware with pointers that start elsewhere than the model's."""

    def other(*_: object) -> str:
        return block_verilog(Switch, preset("edge-k8", init=1), "switch")

    monkeypatch.setattr("tb.cosim.block_verilog", other)
    assert cosim(trace) == 1
    said = [line for line in capfd.readouterr().err.splitlines() if line.startswith("netweave: ")]
    assert len(said) == 1
    assert re.match(r"netweave: cycle \d+: answer \d+: lane \d, .*: uplink is \d, not \d", said[0])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--stall", "1"], "stall must be from 0 to 0.95, not 1.0"),
        (["--idle", "-0.1"], "idle must be from 0 to 0.95, not -0.1"),
        (["--preset", "edge-k9"], "preset must be one of"),
        (["--trace", "none.csv"], "none.csv: no such file or directory"),
    ],
)
def test_bad_input(trace: str, capfd: Any, more: list[str], said: str) -> None:
    assert cosim(trace, *more) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"netweave: {said}")
