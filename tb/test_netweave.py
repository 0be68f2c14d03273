"""The command line: what it does, and what it says of every bad input."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import netweave
from models.fabric.connections import permutation
from models.fabric.fattree import FatTree
from models.ofan import vectorized
from models.ofan.config import PRESETS, preset
from models.ofan.switch import Ofan, Packet
from models.ofan.trace import read_trace, write_trace
from models.ofan.traffic import switch_trace
from models.ofan.vectorized import route

ROOT = Path(__file__).parents[1]
HEAD = "batch,lane,destination,size_class\n"
GOOD = HEAD + "0,0,5,0\n0,3,5,0\n4,1,31,1\n"


def command(*words: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run netweave in a process of its own."""
    line = [sys.executable, str(ROOT / "netweave.py"), *map(str, words)]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.run(line, capture_output=True, text=True, cwd=cwd, env=environment)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that messages can name files without a path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return netweave.main([str(word) for word in words])


def sim(**options: Any) -> list[str]:
    given = {"preset": "edge-k8", "trace": "t.csv", "out": "o.csv", "engine": "model"} | options
    words = (word for name, value in given.items() for word in (f"--{name}", str(value)))
    return ["sim", "ofan", *words]


def make_trace(**options: Any) -> list[str]:
    given = {"radix": 8, "switch": "edge:3", "out": "o.csv"} | options
    words = (word for name, value in given.items() for word in (f"--{name}", str(value)))
    return ["trace", "ofan", *words]


def test_sim_routes_like_the_golden_model(folder: Path, capfd: Any) -> None:
    (folder / "t.csv").write_text(GOOD)
    assert run(*sim()) == 0
    switch = Ofan(preset("edge-k8"))
    packets = [Packet(0, 5, 0), Packet(3, 5, 0), Packet(1, 31, 1)]
    lines = GOOD.splitlines()
    expected = [f"{lines[0]},uplink"]
    for line, packet in zip(lines[1:], packets, strict=True):
        expected.append(f"{line},{switch.serve(packet)}")
    assert (folder / "o.csv").read_text().splitlines() == expected
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith("netweave: 2 batches, 3 packets, 0 unroutable; model: ")
    assert sorted(os.listdir()) == ["o.csv", "t.csv"]


def test_options_override_the_preset(folder: Path) -> None:
    options = {
        "lanes": 6,
        "uplinks": 3,
        "destinations": 9,
        "size-classes": 3,
        "pipe-lanes": 2,
        "order": "2,0,1",
        "init": 77,
        "masks": 2,
        "network": "odd-even-merge",
    }
    text = HEAD + "".join(f"{n // 6},{n % 6},{n % 9},{n % 3}\n" for n in range(90))
    (folder / "t.csv").write_text(text)
    assert run(*sim(**options)) == 0
    changes: dict[str, Any] = {name.replace("-", "_"): value for name, value in options.items()}
    config = preset("edge-k8", **changes | {"order": (2, 0, 1)})
    expected = route(config, read_trace("t.csv", config))
    rows = (folder / "o.csv").read_text().splitlines()[1:]
    assert [int(row.split(",")[-1]) for row in rows] == expected.tolist()


def test_plain_order_and_zero_init(folder: Path) -> None:
    (folder / "t.csv").write_text(HEAD + "0,0,5,0\n0,1,5,0\n1,2,5,1\n")
    assert run(*sim(order="plain", init="zero")) == 0
    rows = (folder / "o.csv").read_text().splitlines()[1:]
    assert [row.split(",")[-1] for row in rows] == ["0", "1", "2"]


def test_failures_hold_from_their_batch_on(folder: Path) -> None:
    (folder / "t.csv").write_text(HEAD + "".join(f"{b},0,5,0\n" for b in range(6)))
    (folder / "f.csv").write_text(
        "batch,destination,uplink,up\n2,5,2,0\n3,,0,0\n3,,1,0\n3,,3,0\n5,5,1,1\n"
    )
    assert run(*sim(order="plain", init="zero", failures="f.csv")) == 0
    rows = (folder / "o.csv").read_text().splitlines()[1:]
    assert [row.split(",")[-1] for row in rows] == ["0", "1", "3", "", "", "1"]


def test_parquet_by_suffix(folder: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    (folder / "t.csv").write_text(GOOD)
    assert run(*sim(out="o.parquet")) == 0
    assert run(*sim()) == 0
    rows = [line.split(",") for line in (folder / "o.csv").read_text().splitlines()]
    table = parquet.read_table("o.parquet")
    assert table.column_names == rows[0]
    assert table["uplink"].to_pylist() == [int(row[-1]) for row in rows[1:]]
    assert run(*sim(trace="o.parquet", out="again.csv")) == 0
    assert (folder / "again.csv").read_bytes() == (folder / "o.csv").read_bytes()


def test_trace_of_a_permutation(folder: Path) -> None:
    assert run(*make_trace(permutation=128, seed=3, packets=20, delay=5)) == 0
    trace = switch_trace(FatTree(8), permutation(128, 3), "edge", 3, packets=20, delay=5)
    write_trace(folder / "expected.csv", trace)
    assert (folder / "o.csv").read_bytes() == (folder / "expected.csv").read_bytes()


def test_trace_of_a_matrix_at_an_aggregation_switch(folder: Path) -> None:
    matrix = permutation(16, 1)
    lines = [f"{f.source}->{f.destination} start 0 size 50000" for f in matrix.flows]
    (folder / "m.cm").write_text("\n".join(["Nodes 16", "Connections 16", *lines]))
    options = {"connections": "m.cm", "radix": 4, "switch": "agg:2", "init": "zero"}
    assert run(*make_trace(order="plain", **options)) == 0
    trace = switch_trace(
        FatTree(4), permutation(16, 1, 50000), "agg", 2, order="plain", init="zero"
    )
    write_trace(folder / "expected.csv", trace)
    assert (folder / "o.csv").read_bytes() == (folder / "expected.csv").read_bytes()


@pytest.mark.parametrize("words", [["--help"], ["sim", "ofan", "--help"], ["presets"]])
def test_help_and_presets(words: list[str]) -> None:
    result = CliRunner().invoke(netweave.app, words, env={"COLUMNS": "200"})
    assert result.exit_code == 0
    if words == ["presets"]:
        assert all(name in result.output for name in PRESETS)


@pytest.mark.parametrize("words", [[], ["sim"], ["trace"]])
def test_no_command_shows_the_help(words: list[str], capfd: Any) -> None:
    assert run(*words) == 2
    out, err = capfd.readouterr()
    assert "Usage: netweave" in out + err
    assert "netweave: " not in err


BAD_TRACES = {
    "missing column": ("batch,lane,size_class\n0,0,0\n", "t.csv:1: destination: this column is"),
    "text": (HEAD + "0,x,0,0\n", "t.csv:2: lane: must be an integer from 0 to 3, not 'x'"),
    "lane": (HEAD + "0,4,0,0\n", "t.csv:2: lane: must be an integer from 0 to 3, not '4'"),
    "destination": (HEAD + "0,0,32,0\n", "t.csv:2: destination: must be .* 31, not '32'"),
    "two packets": (HEAD + "0,1,0,0\n0,1,0,0\n", "t.csv:3: lane: must be one that .*, not '1'"),
    "order": (HEAD + "3,1,0,0\n2,1,0,0\n", "t.csv:3: batch: must be 3 or more, .*, not '2'"),
    "empty": ("", "t.csv:1: empty: there is no header"),
    "header alone": (HEAD, "t.csv:2: empty: there is no row below the header"),
}
BAD_FAILURES = {
    "uplink": ("batch,destination,uplink,up\n0,0,4,0\n", "f.csv:2: uplink: must be .*, not '4'"),
    "empty": ("", "f.csv:1: empty"),
}
BAD_OPTIONS: dict[str, tuple[list[str], str]] = {
    "preset": (sim(preset="edge-k7"), "preset must be one of edge-k64, .*, not 'edge-k7'"),
    "engine": (sim(engine="c"), ".*--engine.*'c'.*'rtl', 'model'.*"),
    "lanes text": (sim(lanes="x"), ".*'--lanes': must be an integer, not 'x'"),
    "lanes": (sim(lanes=0), "lanes must be an integer from 1 to 64, not 0"),
    "pipes": (sim(preset="pofan4-k64", lanes=6), "pipe_lanes must divide lanes .6., not 4"),
    "order text": (sim(order="a"), "order must be plain or numbers with commas, not 'a'"),
    "order": (sim(order="0,0"), "order must be plain or a permutation of 0 to 3, not '0,0'"),
    "init": (sim(init="-1"), "init must be zero or a seed, not '-1'"),
    "network": (sim(network="odd"), "network must be one of bitonic, .*, not 'odd'"),
    "masks": (sim(failures="f.csv", masks=1), "masks must be at least 2, .* not 1"),
    "no trace": (sim(trace="no.csv"), "no.csv: no such file or directory"),
    "folder": (sim(trace="."), r"\.: is a directory"),
    "nowhere": (sim(out="no/o.csv"), "no/o.csv: no such file or directory"),
    "onto a folder": (sim(out="."), r"\.: cannot be replaced: it is not a regular file"),
    "missing option": (["sim", "ofan"], "Missing option.*"),
    "unknown option": ([*sim(), "--colour", "red"], "No such option: --colour.*"),
    "unknown command": (["simulate"], "No such command 'simulate'.*"),
    "radix": (
        make_trace(radix=15, permutation=4),
        "radix must be an even integer from 2 to 128, not 15",
    ),
    "switch": (make_trace(switch="core:1", permutation=4), "switch must be edge:.*, not 'core:1'"),
    "switch number": (make_trace(switch="edge:32", permutation=4), "switch must be .*, not 32"),
    "permutation": (make_trace(permutation=129), "permutation must be .* 2 to 128, not 129"),
    "packets": (make_trace(permutation=4, packets=0), "packets must be .*, not 0"),
    "packets text": (make_trace(permutation=4, packets="many"), ".*'--packets': .*, not 'many'"),
    "no traffic": (make_trace(), "connections or permutation must be given, one of the two"),
    "both": (
        make_trace(permutation=4, connections="m.cm"),
        "connections or permutation must be given, one of the two",
    ),
    "too many nodes": (
        make_trace(connections="m.cm"),
        "m.cm:1: Nodes: must be at most the 128 hosts of the tree, not '130'",
    ),
    "nothing passes": (make_trace(permutation=2), "switch must be one that .*, not edge:3"),
}


def refused(words: list[str], said: str, capfd: Any) -> None:
    """Exit code 2, one line that says it, and the output of an earlier run as it was."""
    Path("o.csv").write_text("old")
    before = sorted(os.listdir())
    assert run(*words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    pattern = rf"netweave: {said}"
    assert re.match(pattern, err), err
    assert sorted(os.listdir()) == before
    assert Path("o.csv").read_text() == "old"


@pytest.mark.parametrize("engine", ["model", "rtl"])
@pytest.mark.parametrize("name", BAD_TRACES)
def test_bad_traces(folder: Path, capfd: Any, name: str, engine: str) -> None:
    text, said = BAD_TRACES[name]
    (folder / "t.csv").write_text(text)
    refused(sim(engine=engine), said, capfd)


@pytest.mark.parametrize("name", BAD_FAILURES)
def test_bad_failures(folder: Path, capfd: Any, name: str) -> None:
    text, said = BAD_FAILURES[name]
    (folder / "t.csv").write_text(GOOD)
    (folder / "f.csv").write_text(text)
    refused(sim(failures="f.csv"), said, capfd)


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_bad_options(folder: Path, capfd: Any, name: str) -> None:
    words, said = BAD_OPTIONS[name]
    (folder / "t.csv").write_text(GOOD)
    (folder / "f.csv").write_text("batch,destination,uplink,up\n0,0,0,0\n")
    (folder / "m.cm").write_text("Nodes 130\nConnections 1\n0->129 start 0 size 1\n")
    refused(words, said, capfd)


def test_what_fails_while_it_runs_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: Any
) -> None:
    (folder / "t.csv").write_text(GOOD)
    for error, code in ((KeyboardInterrupt(), 130), (OSError(28, "No space left", "o.csv"), 2)):

        def fail(*_: Any, error: BaseException = error) -> None:
            raise error

        monkeypatch.setattr(vectorized, "route", fail)
        assert run(*sim()) == code
        assert os.listdir() == ["t.csv"]
    assert capfd.readouterr().err == "netweave: o.csv: no space left\n"


def test_a_defect_is_not_hidden(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise ZeroDivisionError

    (folder / "t.csv").write_text(GOOD)
    monkeypatch.setattr(vectorized, "route", fail)
    with pytest.raises(ZeroDivisionError):
        run(*sim())


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The issue's command for a trace, then a run of it, then a bad one."""
    words = make_trace(radix=16, permutation=1024, packets=256, out=tmp_path / "t.csv")
    assert command(*words).returncode == 0
    words = sim(preset="edge-k16", trace=tmp_path / "t.csv", out=tmp_path / "o.csv")
    done = command(*words)
    assert (done.returncode, done.stdout) == (0, "")
    assert (tmp_path / "o.csv").read_text().startswith("batch,lane,destination,size_class,uplink\n")
    done = command(*sim(preset="edge-k64", trace="none.csv"), cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "netweave: none.csv: no such file or directory\n"


@pytest.mark.parametrize("name", ["t.csv", "f.csv"])
def test_an_input_is_never_overwritten(folder: Path, capfd: Any, name: str) -> None:
    (folder / "o.csv").write_text("old")
    (folder / "t.csv").write_text(GOOD)
    (folder / "f.csv").write_text("batch,destination,uplink,up\n0,5,1,0\n")
    refused(sim(failures="f.csv", out=name), rf"{name}: cannot be replaced: it is an input", capfd)
    assert (folder / "t.csv").read_text() == GOOD


@pytest.mark.parametrize(
    "options", [{"lanes": "٤"}, {"lanes": " 4"}, {"init": "٣"}, {"order": "0,٣"}]
)
def test_options_are_plain_digits(folder: Path, capfd: Any, options: dict[str, str]) -> None:
    (folder / "t.csv").write_text(GOOD)
    refused(sim(**options), r".*(must be|lanes).*", capfd)


def test_sizes_beyond_64_bits_together(folder: Path, capfd: Any) -> None:
    size = 2**63 - 1
    flows = "".join(f"{n}->{(n + 1) % 16} id {n + 1} start 0 size {size}\n" for n in range(16))
    (folder / "k.cm").write_text("\ufeffNodes 16\nConnections 16\n" + flows, encoding="utf-8")
    words = make_trace(radix=4, switch="edge:0", connections="k.cm")
    refused(words, r"packets must be at most 268435456 in all flows, not \d{17}", capfd)
