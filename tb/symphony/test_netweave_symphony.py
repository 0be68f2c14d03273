"""Symphony's commands: what they do, and what they say of every bad input."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import netweave
from models.symphony import vectorized
from models.symphony.config import PRESETS, SymphonyConfig, preset
from models.symphony.marker import Packet, Symphony
from models.symphony.ring import Ring, ring_trace
from models.symphony.slots import orders
from models.symphony.trace import read_trace, write_trace
from models.symphony.vectorized import answer
from tb.symphony.traffic import random_trace

HEAD = "time_ns,job,step,psn,last,queue_bytes\n"
GOOD = HEAD + "10,3,0,40,0,0\n20,3,1,4000,0,60000\n30,5,1,9,1,200000\n200000,3,1,7,0,0\n"
SLOTS = "time_ns,job,given\n0,3,1\n15,3,0\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that messages can name files without a path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return netweave.main([str(word) for word in words])


def words_of(start: tuple[str, ...], given: dict[str, Any]) -> list[str]:
    return [*start, *(word for name, value in given.items() for word in (f"--{name}", str(value)))]


def sim(**options: Any) -> list[str]:
    given = {"trace": "t.csv", "out": "o.csv", "engine": "model", "preset": "log-64"} | options
    return words_of(("sim", "symphony"), {k.replace("_", "-"): v for k, v in given.items()})


def trace(**options: Any) -> list[str]:
    given = {"out": "o.csv"} | options
    return words_of(("trace", "symphony"), {k.replace("_", "-"): v for k, v in given.items()})


def test_sim_marks_as_algorithm_1_says(folder: Path, capfd: Any) -> None:
    (folder / "t.csv").write_text(GOOD)
    assert run(*sim(arithmetic="real", k=0.5)) == 0
    switch = Symphony(preset("log-64", k=0.5))
    expected = [HEAD.strip() + ",probability,mark_symphony,mark_red,mark"]
    for job in (3, 5):
        switch.give(job)
    for line in GOOD.splitlines()[1:]:
        time, job, step, psn, last, queue = map(int, line.split(","))
        v = switch.serve(Packet(time, job, step, psn, bool(last), queue))
        shown = repr(v.probability).removesuffix(".0")
        expected.append(f"{line},{shown},{v.symphony:d},{v.red:d},{v.mark:d}")
    assert (folder / "o.csv").read_text().splitlines() == expected
    assert [line.split(",")[6] for line in expected[1:]] == ["0", "1", "0", "0"]
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"netweave: 4 packets, 3 outpacing, marked by Symphony 1, by RED \d, in all \d; 0 of "
        r"unknown jobs; model: [\d,]+ packets/s\n",
        err,
    )
    assert sorted(os.listdir()) == ["o.csv", "t.csv"]


def test_every_option_reaches_the_model(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {
        "k": 0.25,
        "tau": 0.75,
        "window_ns": 3000,
        "psn_window_ns": 2000,
        "n_warmup": 2,
        "n_sample": 3,
        "alpha_max": 5,
        "jobs": 9,
        "step_wrap": "plain",
        "step_packets": 3,
        "kmin": 1000,
        "kmax": 70_000,
        "pmax": 0.9,
        "arithmetic": "exact",
        "mantissa_bits": 5,
        "fraction_bits": 4,
        "seed": 77,
    }
    config = preset("log-1k", **options)
    assert all(getattr(preset("log-1k"), name) != value for name, value in options.items())
    seen = []

    def spy(config: SymphonyConfig, *rest: Any, **more: Any) -> Any:
        seen.append(config)
        return answer(config, *rest, **more)

    monkeypatch.setattr(vectorized, "answer", spy)
    (folder / "t.csv").write_text(GOOD)
    assert run(*sim(preset="log-1k", **options)) == 0
    assert seen[-1] == config
    assert run(*sim(preset="log-1k", k=0.25)) == 0
    assert seen[-1] == preset("log-1k", k=0.25)
    assert seen[-1].alpha_max == 4


@pytest.mark.parametrize("arithmetic", ["log", "exact"])
def test_both_engines_write_the_same_bytes(folder: Path, arithmetic: str) -> None:
    config = preset("log-64", arithmetic=arithmetic)
    packets = random_trace(config, 20_000, np.random.default_rng(2))
    write_trace(folder / "t.csv", packets)
    (folder / "s.csv").write_text("time_ns,job,given\n5000,1,1\n9000,2,0\n9000,3,1\n90000,2,1\n")
    for engine in ("rtl", "model"):
        words = sim(engine=engine, arithmetic=arithmetic, slots="s.csv", out=f"{engine}.csv")
        assert run(*words) == 0
    assert (folder / "rtl.csv").read_bytes() == (folder / "model.csv").read_bytes()
    found = read_trace("t.csv", config)
    expected = answer(config, found, orders(config, found, "s.csv"))
    assert 0 < (~expected.known).sum() < 1000
    assert (folder / "rtl.csv").read_text().count(",1\n") == expected.mark.sum() > 0


def test_parquet_by_suffix(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (folder / "t.csv").write_text(GOOD)
    assert run(*sim(out="o.parquet")) == 0
    assert run(*sim()) == 0
    rows = [line.split(",") for line in (folder / "o.csv").read_text().splitlines()]
    table = parquet.read_table("o.parquet")
    assert table.column_names == rows[0]
    assert table["probability"].to_pylist() == [float(row[6]) for row in rows[1:]]
    assert run(*sim(trace="o.parquet", out="again.csv")) == 0
    assert (folder / "again.csv").read_bytes() == (folder / "o.csv").read_bytes()


def test_trace_of_rings(folder: Path, capfd: Any) -> None:
    options = {
        "nodes": 4,
        "jobs": 3,
        "packets": 20,
        "slow": 2,
        "slow_factor": 2.5,
        "load": 1.5,
        "jitter_ns": 100,
        "gbps": 25.0,
        "packet_bytes": 500,
        "seed": 3,
    }
    assert run(*trace(**options)) == 0
    write_trace(folder / "expected.csv", ring_trace(Ring(**options)))
    assert (folder / "o.csv").read_bytes() == (folder / "expected.csv").read_bytes()
    said = capfd.readouterr().err
    assert said.startswith("netweave: 1,440 packets of 12 flows in 6 steps, ")
    assert run(*sim(trace="o.csv", out="m.csv")) == 0


@pytest.mark.parametrize(
    "words", [["sim", "symphony", "--help"], ["trace", "symphony", "--help"], ["presets"]]
)
def test_help_and_presets(words: list[str]) -> None:
    result = CliRunner().invoke(netweave.app, words, env={"COLUMNS": "200"})
    assert result.exit_code == 0
    if words == ["presets"]:
        assert all(name in result.output for name in PRESETS)
    else:
        assert "--jobs" in result.output


BAD_TRACES = {
    "empty": ("", "t.csv:1: empty: there is no header"),
    "backwards": (
        HEAD + "9,0,0,0,0,0\n8,0,0,0,0,0\n",
        "t.csv:3: time_ns: must be 9 or more, as time does not run backwards, not '8'",
    ),
    "psn": (
        HEAD + "0,0,0,16777216,0,0\n",
        "t.csv:2: psn: must be an integer from 0 to 16777215, not '16777216'",
    ),
    "job": (
        HEAD + "0,64,0,0,0,0\n",
        r"t.csv:2: job: must be an integer from 0 to 63 \(--jobs 64\), not '64'",
    ),
}

BAD_OPTIONS: dict[str, tuple[list[str], str]] = {
    "preset": (sim(preset="log-2"), "preset must be one of log-16k, .*, not 'log-2'"),
    "k": (sim(k=2), "k must be a number from 0.0001 to 1, not 2.0"),
    "k zero": (sim(k=0), "k must be a number from 0.0001 to 1, not 0.0"),
    "k text": (sim(k="x"), "Invalid value for '--k': must be a number, not 'x'"),
    "k nan": (sim(k="nan"), "Invalid value for '--k': must be a number, not 'nan'"),
    "k digits": (sim(k="٣"), "Invalid value for '--k': must be a number, not '٣'"),
    "tau": (sim(tau=-0.5), "tau must be a number from 0 to 1, not -0.5"),
    "pmax": (sim(pmax=1.01), "pmax must be a number from 0.001 to 1, not 1.01"),
    "kmin": (sim(kmin=5, kmax=4), r"kmin must be at most kmax \(4\), not 5"),
    "window": (sim(window_ns=1), "window_ns must be an integer from 16 to .*, not 1"),
    "window text": (sim(window_ns="1e5"), ".*'--window-ns': must be an integer, not '1e5'"),
    "jobs": (sim(jobs=0), "jobs must be an integer from 1 to 65536, not 0"),
    "alpha": (sim(alpha_max=0), "alpha_max must be an integer from 1 to 65535, not 0"),
    "mantissa": (sim(mantissa_bits=1), "mantissa_bits must be .* from 2 to 10, not 1"),
    "fraction": (sim(fraction_bits=11), "fraction_bits must be .* from 2 to 10, not 11"),
    "arithmetic": (sim(arithmetic="float"), "arithmetic must be one of log, exact, not 'float'"),
    "real on rtl": (
        sim(arithmetic="real", engine="rtl"),
        "arithmetic must be log or exact with engine rtl, not real",
    ),
    "wrap": (sim(step_wrap="both"), "step_wrap must be one of serial, plain, not 'both'"),
    "seed": (sim(seed=-1), f"seed must be an integer from 0 to {2**63 - 1}, not -1"),
    "no trace": (sim(trace="no.csv"), "no.csv: no such file or directory"),
    "no slots": (sim(slots="no.csv"), "no.csv: no such file or directory"),
    "slot": (sim(slots="bad.csv"), "bad.csv:3: given: must be an integer from 0 to 1, not '2'"),
    "nowhere": (sim(out="no/o.csv"), "no/o.csv: no such file or directory"),
    "over the trace": (sim(out="t.csv"), "t.csv: cannot be replaced: it is an input"),
    "over the slots": (sim(slots="s.csv", out="s.csv"), "s.csv: cannot be replaced: it is an"),
    "missing option": (["sim", "symphony"], "Missing option.*"),
    "nodes": (trace(nodes=1), "nodes must be an integer from 2 to 4096, not 1"),
    "slow": (trace(slow=8), "slow must be an integer from 0 to 7, not 8"),
    "factor": (trace(slow_factor=0), "slow_factor must be a number from 1 to 1000, not 0.0"),
    "gbps": (trace(gbps="fast"), "Invalid value for '--gbps': must be a number, not 'fast'"),
    "too long": (trace(jobs=150), "packets must be at most 16777216 in all flows and steps, not"),
}


def refused(words: list[str], said: str, capfd: Any) -> None:
    """Exit code 2, one line that says it, and the output of an earlier run as it was."""
    Path("o.csv").write_text("old")
    before = sorted(os.listdir())
    assert run(*words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert re.match(f"netweave: {said}", err), err
    assert sorted(os.listdir()) == before
    assert Path("o.csv").read_text() == "old"


@pytest.mark.parametrize("engine", ["model", "rtl"])
@pytest.mark.parametrize("name", BAD_TRACES)
def test_bad_traces(folder: Path, capfd: Any, name: str, engine: str) -> None:
    text, said = BAD_TRACES[name]
    (folder / "t.csv").write_text(text)
    refused(sim(engine=engine), said, capfd)


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_bad_options(folder: Path, capfd: Any, name: str) -> None:
    words, said = BAD_OPTIONS[name]
    (folder / "t.csv").write_text(GOOD)
    (folder / "s.csv").write_text(SLOTS)
    (folder / "bad.csv").write_text(SLOTS.replace("15,3,0", "15,3,2"))
    refused(words, said, capfd)
    assert (folder / "t.csv").read_text() == GOOD
    assert (folder / "s.csv").read_text() == SLOTS


def test_what_fails_while_it_runs_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    (folder / "t.csv").write_text(GOOD)
    for error, code in ((KeyboardInterrupt(), 130), (OSError(28, "No space left", "o.csv"), 2)):

        def fail(*_: Any, error: BaseException = error, **__: Any) -> None:
            raise error

        monkeypatch.setattr(vectorized, "prepare", lambda _: None)
        monkeypatch.setattr(vectorized, "answer", fail)
        assert run(*sim()) == code
        assert os.listdir() == ["t.csv"]
    assert capfd.readouterr().err == "netweave: o.csv: no space left\n"
