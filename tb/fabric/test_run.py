"""One case from the command line: its numbers, its files, and what it says of bad input."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as parquet
import pytest

import netweave
from models.fabric import run_memory
from models.fabric.run import Case, case_of, measures, parse_set, run_case, stage_names
from models.fabric.run_memory import available_bytes, flows_that_fit
from models.fabric.run_picture import bar, queue_lines

SMALL: dict[str, Any] = {"k": 4, "scheme": "rsq", "packets": 30, "engine": "reference"}


def run(*words: object) -> int:
    return netweave.main(["fabric", "run", *map(str, words)])


def options(**settings: Any) -> list[str]:
    given = SMALL | settings
    return [w for name, value in given.items() for w in (f"--{name.replace('_', '-')}", str(value))]


def test_settings_make_a_case_and_back() -> None:
    case = case_of({"k": 8, "load": 0.5, "failures": 0.1, "options.queue_unit": "packets"})
    assert (case.config.radix, case.config.rate, case.config.link_failure) == (8, 0.5, 0.1)
    assert case.config.options.queue_unit == "packets"
    assert case_of(case.settings()) == case
    assert case.with_seed(7).config.seed == 7
    assert Case() == case_of({})


def test_values_of_set_are_read_as_toml() -> None:
    assert parse_set("options.quanta_percent=[5, 10]") == {"options.quanta_percent": [5, 10]}
    assert parse_set("k = 8") == {"k": 8}
    assert parse_set("acks=false") == {"acks": False}
    assert parse_set("ties=shuffled") == {"ties": "shuffled"}


def test_measures_fit_together() -> None:
    done = run_case(case_of(SMALL))
    found = measures(done)
    assert found["packets"] == 480
    assert found["packet_hops"] == done.result.packets.sum()
    assert found["lost"] == 0
    assert found["completion_us"] == pytest.approx((done.result.completion or 0) / 1e5)
    assert found["flow_p50_us"] <= found["flow_p99_us"] <= found["flow_p100_us"]
    stages = stage_names(done.case)
    assert stages == ["H-E", "E-A", "A-C", "C-A", "A-E", "E-H"]
    assert found["largest_bytes"] == max(found[f"largest_bytes.{s}"] for s in stages[1:])
    means = [found[f"mean_packets.{s}"] for s in stages[1:]]
    assert found["mean_packets"] == pytest.approx(np.mean(means))
    assert all(found[f"busy_percent.{s}"] <= found[f"busiest_percent.{s}"] <= 100 for s in stages)
    assert 0 < found["utilization_percent"] <= 100


def test_an_idle_path_is_used_fully(tmp_path: Path) -> None:
    file = tmp_path / "one.cm"
    file.write_text("Nodes 16\nConnections 1\n0->15 start 0 size 409600\n")
    case = case_of({"k": 4, "traffic": str(file), "engine": "reference"})
    found = measures(run_case(case))
    assert found["utilization_percent"] == pytest.approx(100)
    assert found["increase_percent"] == pytest.approx(0, abs=1e-9)
    half = case_of({"k": 4, "traffic": str(file), "engine": "reference", "load": 0.5})
    assert measures(run_case(half))["utilization_percent"] == pytest.approx(50, abs=0.5)


def test_lost_packets_leave_no_completion_time() -> None:
    found = measures(run_case(case_of(SMALL | {"buffer_bytes": 9000, "scheme": "simple-rr"})))
    assert found["lost"] == sum(found[f"lost.{s}"] for s in ("E-A", "A-C", "C-A", "A-E", "E-H"))
    assert found["lost"]
    assert found["completion_us"] is None
    assert found["increase_percent"] is None


def test_without_any_arrival_nothing_is_a_share_of_the_time(capfd: Any) -> None:
    """84 bytes hold an ACK and no data: every packet is lost before the first switch's links."""
    settings = SMALL | {"packets": 3, "buffer_bytes": 84}
    found = measures(run_case(case_of(settings)))
    assert found["lost"] == found["packets"] == 48
    shares = [found[f"{name}_percent.{s}"] for name in ("busy", "busiest") for s in ("H-E", "E-A")]
    assert shares == [None] * 4
    assert found["last_data_us"] is None
    assert run(*options(packets=3, buffer_bytes=84)) == 0
    out = capfd.readouterr().out
    assert "48 packets lost; no data arrived" in out
    row = next(line for line in out.splitlines() if "H→E" in line)
    assert [cell.strip() for cell in row.split("│")[2:4]] == ["-", "-"]


def test_failures_report_the_rate() -> None:
    found = measures(run_case(case_of(SMALL | {"failures": 0.2, "scheme": "ofan"})))
    assert 0 < found["rho_max"] < 1
    assert found["rate"] == found["rho_max"]


def test_the_screen_has_numbers_and_bars(capfd: Any) -> None:
    assert run(*options()) == 0
    out = capfd.readouterr().out
    assert "rsq, k = 4, 3 levels, 16 hosts; permutation: 16 flows, 480 packets" in out
    assert "above the bound" in out
    assert "A→C" in out
    assert "█" in out


def test_json_is_settings_and_measures(capfd: Any) -> None:
    assert run(*options(seed=3), "--json", "--set", "options.queue_unit=packets") == 0
    found = json.loads(capfd.readouterr().out)
    case = case_of(found["settings"])
    assert case.config.seed == 3
    assert case.config.options.queue_unit == "packets"
    assert found["measures"] == measures(run_case(case))


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_files_have_every_flow_and_packet(tmp_path: Path, suffix: str, capfd: Any) -> None:
    flows, trace = tmp_path / f"f.{suffix}", tmp_path / f"t.{suffix}"
    words = options(buffer_bytes=9000, scheme="simple-rr")
    assert run(*words, "--flows", flows, "--trace", trace, "--svg", tmp_path / "q.svg") == 0
    if suffix == "csv":
        with flows.open() as one, trace.open() as other:
            rows, steps = list(csv.DictReader(one)), list(csv.DictReader(other))
        gone = [row for row in rows if not row["finish_ns"]]
        lost = [step for step in steps if not step["start"]]
    else:
        rows, steps = (parquet.read_table(file).to_pylist() for file in (flows, trace))
        gone = [row for row in rows if row["finish_ns"] is None]
        lost = [step for step in steps if step["start"] is None]
    done = run_case(case_of(SMALL | {"buffer_bytes": 9000, "scheme": "simple-rr"}))
    assert len(rows) == 16
    assert len(gone) == (done.result.finish < 0).sum() > 0
    assert len(lost) == done.result.lost.sum() > 0
    assert len(steps) == done.result.packets.sum() + done.result.lost.sum()
    assert {int(step["stage"]) for step in steps} == set(range(6))
    assert (tmp_path / "q.svg").read_text().startswith("<?xml")


def test_bars_are_as_long_as_their_values() -> None:
    assert bar(1, 1, 4) == "████"
    assert bar(0.5, 1, 4) == "██"
    assert bar(1 / 32, 1, 4) == "▏"
    assert bar(0, 1, 4) == bar(0, 0, 4) == ""
    found = {f"{m}_packets.{s}": v for m in ("mean", "largest") for s, v in (("a", 1), ("b", 2))}
    lines = queue_lines(found, ["host", "a", "b"], 8)
    assert lines[1].count("█") * 2 == lines[2].count("█") == 8


BAD: list[tuple[list[str], str]] = [
    (["--k", "5"], "radix must be an even integer from 2 to 128, not 5"),
    (["--k", "x"], "must be an integer, not 'x'"),
    (["--scheme", "ofam"], "not 'ofam'; did you mean ofan?"),
    (["--scheme", "pofan7", "--k", "12"], "pipes of at most k/2 (6) lanes, not 'pofan7'"),
    (["--traffic", "moo"], "not 'moo'; did you mean moe?"),
    (["--size", "1 mile"], "size must be a size from 1 to 2**50 bytes, as 1MiB, not '1 mile'"),
    (["--load", "1.5"], "rate must be a number from 1e-06 to 1, not 1.5"),
    (["--set", "quanta"], "set must be NAME=VALUE, not 'quanta'"),
    (["--set", "option.queue_unit=bytes"], "did you mean options.queue_unit?"),
    (["--set", "options.queue_unit=bits"], "queue_unit must be one of bytes, packets, not 'bits'"),
    (["--traffic", "no.cm"], "no.cm: no such file or directory"),
    (["--engine", "slow"], "slow"),
    (["--k", "4", "--set", "radix=6"], "radix and k must not both be given: they are one setting"),
    (["--set", "k=4", "--set", "radix=6"], "radix and k must not both be given"),
    (["--levels", "3", "--set", "levels=2"], "levels: given twice"),
    (["--scheme", "OFAN"], "not 'OFAN'; did you mean ofan?"),
    (["--traffic", "RING"], "not 'RING'; did you mean ring?"),
    (["--set", "options.MEMORY=1"], "did you mean options.memory?"),
    (["--svg", "q.png"], "svg must end in .svg, not 'q.png'"),
    (["--trace", "a.xyz"], "trace must end in .csv or .parquet, not 'a.xyz'"),
    (["--flows", "a"], "flows must end in .csv or .parquet, not 'a'"),
    (["--flows", "s.csv", "--trace", "./s.csv"], "must be two files, not 's.csv' for both"),
    (["--order", "same"], "order must be of all-to-all, not 'same' for 'permutation'"),
    (["--steps", "2"], "steps must be of ring, not 2 for 'permutation'"),
    (["--skew", "2"], "skew must be of moe or moe-eplb, not 2.0 for 'permutation'"),
]


@pytest.mark.parametrize(("words", "message"), BAD)
def test_bad_options_end_in_one_line(words: list[str], message: str, capfd: Any) -> None:
    assert run(*words) == 2
    err = capfd.readouterr().err
    assert message in err
    assert err.count("\n") == 1


def test_a_matrix_that_names_an_absent_host(tmp_path: Path, capfd: Any) -> None:
    file = tmp_path / "m.cm"
    file.write_text("Nodes 16\nConnections 1\n0->16 start 0 size 9000\n")
    assert run("--k", 4, "--traffic", file) == 2
    line = "m.cm:3: destination: must be an integer from 0 to 15, not '16'"
    assert line in capfd.readouterr().err


@pytest.mark.parametrize(
    ("words", "hosts"),
    [
        (["--k", "64", "--traffic", "all-to-all", "--packets", "1"], "65,536 hosts"),
        (["--k", "128", "--engine", "reference"], "524,288 hosts"),
    ],
)
def test_what_does_not_fit_is_said_with_the_number(
    words: list[str], hosts: str, capfd: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("models.fabric.run_memory.available_bytes", lambda: 1 << 30)
    assert run(*words) == 2
    err = capfd.readouterr().err
    assert f"{hosts} with" in err
    assert "GiB of memory, there are 1.0 GiB; nothing was started" in err


def test_a_control_group_counts_what_it_has_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limit, used = tmp_path / "memory.max", tmp_path / "memory.current"
    monkeypatch.setattr(run_memory, "_GROUPS", ((str(limit), str(used)),))
    free = available_bytes()
    limit.write_text("max\n")
    used.write_text("3000000\n")
    assert available_bytes() > free // 2
    limit.write_text("5000000\n")
    assert available_bytes() == 2_000_000


@pytest.mark.parametrize("option", ["--trace", "--flows", "--svg"])
def test_a_file_that_finds_no_room_is_named(
    tmp_path: Path, option: str, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    monkeypatch.chdir(tmp_path)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("models.fabric.run_files.write_columns", full)
    monkeypatch.setattr("models.fabric.run_picture.save_queues", full)
    files = ["--trace", "t.csv", "--flows", "f.csv", "--svg", "s.svg"]
    name = files[files.index(option) + 1]
    assert run(*options(packets=2), option, name) == 2
    assert capfd.readouterr().err == f"netweave: {name}: no space left on device\n"
    assert not list(tmp_path.iterdir())


def test_the_hardware_decides_in_the_reference_engine_alone(capfd: Any) -> None:
    assert run("--k", 4, "--engine", "fast", "--switches", "rtl") == 2
    line = "netweave: engine must be reference with --switches rtl, not 'fast'\n"
    assert capfd.readouterr().err == line


def test_several_at_once_need_as_many_times_the_memory() -> None:
    assert available_bytes() > 0
    case = case_of(SMALL)
    assert len(flows_that_fit(case)) == 16
    with pytest.raises(ValueError, match="permutation, 3 at once, need about"):
        flows_that_fit(case, at_once=3, room=1 << 20)


def test_the_hardware_decides_as_the_model_does(capfd: Any) -> None:
    found = []
    for switches in ("model", "rtl"):
        words = options(scheme="ofan", packets=5)
        assert run(*words, "--switches", switches, "--json") == 0
        found.append(json.loads(capfd.readouterr().out))
    assert found[0] == found[1]
