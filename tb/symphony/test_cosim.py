"""`netweave cosim symphony`: what it prints, and its exit code at a difference and bad input."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import netweave
from models.symphony import slots as control
from models.symphony.config import SymphonyConfig, preset
from models.symphony.trace import read_trace, write_trace
from models.symphony.vectorized import answer
from rtl.symphony.marker import Marker
from rtl.verilog import block_verilog
from tb.symphony.traffic import random_trace

CONFIG = preset("log-64")


@pytest.fixture
def trace(tmp_path: Path) -> str:
    made = random_trace(CONFIG, 3000, np.random.default_rng(1))
    write_trace(tmp_path / "t.csv", made)
    return str(tmp_path / "t.csv")


@pytest.fixture
def slots(tmp_path: Path, trace: str) -> str:
    made = read_trace(trace, CONFIG)
    middle, job = made.time_ns[1500], made.job[1500]
    file = tmp_path / "slots.csv"
    file.write_text(f"time_ns,job,given\n{middle},{job},0\n{middle + 50},{job},1\n")
    return str(file)


def cosim(trace: str, *more: str) -> int:
    return netweave.main(["cosim", "symphony", "--preset", "log-64", "--trace", trace, *more])


def said(capfd: Any) -> list[str]:
    err = capfd.readouterr().err
    return [line for line in err.splitlines() if line.startswith("netweave: ")]


def test_agrees(trace: str, slots: str, capfd: Any) -> None:
    """The same marks as the bulk model's, so each order was where the file has it."""
    assert cosim(trace, "--slots", slots, "--seed", "3") == 0
    packets = read_trace(trace, CONFIG)
    orders = control.orders(CONFIG, packets, slots)
    marks = int(answer(CONFIG, packets, orders).mark.sum())
    first, second = said(capfd)
    assert first.startswith(f"netweave: 3,000 packets, {marks:,} marked, {len(orders)} orders, ")
    assert re.match(r"netweave: coverage: \d+ of \d+ bins", second)


def test_first_difference(trace: str, capfd: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model with other random numbers than the hardware's."""

    def made(*_: object) -> str:
        return block_verilog(Marker, CONFIG, "marker")

    def other(name: str) -> SymphonyConfig:
        return preset(name, seed=1)

    monkeypatch.setattr("tb.cosim.block_verilog", made)
    monkeypatch.setattr("models.symphony.config.preset", other)
    assert cosim(trace) == 1
    (line,) = said(capfd)
    assert re.match(r"netweave: cycle \d+: answer \d+: .*(symphony|red) is \d, not \d", line)


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        (["--stall", "1"], "stall must be from 0 to 0.95, not 1.0"),
        (["--idle", "-0.1"], "idle must be from 0 to 0.95, not -0.1"),
        (["--preset", "log-65"], "preset must be one of"),
        (["--trace", "none.csv"], "none.csv: no such file or directory"),
        (["--slots", "none.csv"], "none.csv: no such file or directory"),
    ],
)
def test_bad_input(trace: str, capfd: Any, more: list[str], expected: str) -> None:
    assert cosim(trace, *more) == 2
    out, err = capfd.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith(f"netweave: {expected}")
