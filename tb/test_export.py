"""`netweave verilog`: what it writes is accepted by the linter and is the same on every run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from models.ofan.config import PRESETS as PRESETS_OF_OFAN
from netweave import main
from rtl.export import WAIVERS, latencies
from rtl.ofan.switch import Switch
from tb.tools import verilator, verilator_environment


def lint(folder: Path, *files: str) -> str:
    """Return what Verilator has against the files in `folder`, nothing if it accepts them."""
    program = str(verilator(False)[0] / "verilator")
    done = subprocess.run(
        [program, "--lint-only", "-Wall", *files],
        cwd=folder,
        env=verilator_environment(False, {}),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else ""


BANKED = ("edge-k12-queued", "edge-k12-matched", "edge-k12-banked")
"""A preset of each other kind of engine; larger ones take a minute."""
OFAN = ("edge-k4", "edge-k12", "agg-k12", "pofan4-k16", "edge-k64", *BANKED)
SYMPHONY = ("log-16k", "exact-16k", "log-64")
CSIG = ("port-compact", "port", "bank-4")
NAMES = {"ofan": OFAN, "symphony": SYMPHONY, "csig": CSIG}
PRESETS = [(mechanism, name) for mechanism, names in NAMES.items() for name in names]


@pytest.mark.parametrize(("mechanism", "preset"), PRESETS)
def test_the_linter_accepts_it(mechanism: str, preset: str, tmp_path: Path) -> None:
    assert main(["verilog", mechanism, "--preset", preset, "-o", str(tmp_path)]) == 0
    file = f"{mechanism}_{preset}.v"
    assert {path.name for path in tmp_path.iterdir()} == {"netweave.vlt", file}
    assert lint(tmp_path, "netweave.vlt", file) == ""
    module = file[:-2].replace("-", "_")
    assert re.search(rf"^module {module} ?\(", (tmp_path / file).read_text(), re.MULTILINE)


@pytest.mark.parametrize(
    ("preset", "storage"),
    [
        ("edge-k12-queued", "latches"),
        ("edge-k12-queued", "sram"),
        ("edge-k12-matched", "latches"),
        ("edge-k12-banked", "sram"),
    ],
)
def test_the_linter_accepts_other_storage(preset: str, storage: str, tmp_path: Path) -> None:
    command = ["verilog", "ofan", "--preset", preset, "--storage", storage, "-o", str(tmp_path)]
    assert main(command) == 0
    file = f"ofan_{preset}-{storage}.v"
    assert {path.name for path in tmp_path.iterdir()} == {"netweave.vlt", file}
    assert lint(tmp_path, "netweave.vlt", file) == ""
    text = (tmp_path / file).read_text()
    top = f"ofan_{preset}_{storage}".replace("-", "_")
    models = re.findall(r"^module (netweave_\w+)", text, re.MULTILINE)
    assert re.search(rf"^module {top} ?\(", text, re.MULTILINE)
    assert models == [f"netweave_{storage}"]
    assert f"// netweave_{storage}, at the end, simulates; " in text


def test_flip_flops_are_the_preset(tmp_path: Path) -> None:
    for more in ([], ["--storage", "flops"]):
        command = ["verilog", "ofan", "--preset", "edge-k12-queued", *more, "-o", str(tmp_path)]
        assert main(command) == 0
        (kept,) = tmp_path.glob("*.v")
        assert kept.name == "ofan_edge-k12-queued.v"
        assert "netweave_latches" not in kept.read_text()


@pytest.mark.parametrize(
    ("preset", "storage", "said"),
    [
        ("edge-k12-queued", "gold", "storage must be one of flops, latches, sram, not 'gold'"),
        ("edge-k12", "sram", "storage must be flops with engine sorted, not 'sram'"),
    ],
)
def test_bad_storage(
    preset: str, storage: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["verilog", "ofan", "--preset", preset, "--storage", storage, "-o", str(tmp_path)]
    assert main(command) == 2
    assert capsys.readouterr().err == f"netweave: {said}\n"
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("mechanism", "presets"),
    [
        ("ofan", ("edge-k4", "edge-k12")),
        ("symphony", ("log-16k", "exact-16k")),
        ("csig", ("port-compact", "port")),
    ],
)
def test_no_waiver_is_more_than_needed(
    mechanism: str, presets: tuple[str, ...], tmp_path: Path
) -> None:
    """Each rule is broken by one preset at least."""
    waived = set(re.findall(rf'-rule (\w+) -file "\*{mechanism}_', WAIVERS.read_text()))
    broken = set()
    for preset in presets:
        main(["verilog", mechanism, "--preset", preset, "-o", str(tmp_path)])
        broken |= set(re.findall(r"%Warning-(\w+):", lint(tmp_path, f"{mechanism}_{preset}.v")))
    assert broken == waived


def test_every_waiver_has_its_reason() -> None:
    groups = [group.splitlines() for group in WAIVERS.read_text().split("\n\n")[1:]]
    assert len(groups) == 5
    for first, *_ in groups:
        assert first.startswith("// ")


def test_the_same_bytes_twice(tmp_path: Path) -> None:
    texts = []
    for name in ("one", "two"):
        folder = tmp_path / name
        assert main(["verilog", "ofan", "--preset", "edge-k4", "-o", str(folder)]) == 0
        texts.append([path.read_bytes() for path in sorted(folder.iterdir())])
    assert texts[0] == texts[1]


def test_the_header_tells_the_ports(tmp_path: Path) -> None:
    assert main(["verilog", "ofan", "--preset", "edge-k4", "-o", str(tmp_path)]) == 0
    head = (tmp_path / "ofan_edge-k4.v").read_text().splitlines()[:4]
    assert head[0].startswith("// ofan_edge_k4, made by netweave: Ofan for 2 lanes and 2 uplinks")
    assert "lane l at [l*4 +: 4] and [l*2 +: 2]" in head[2]


HEADERS = {
    "edge-k4": (
        "Ofan for 2 lanes and 2 uplinks",
        " cycles from s_axis to m_axis; one batch a cycle.",
    ),
    "edge-k12-queued": (
        "Engine queued-banked, 4 banks: 8 cycles from s_axis to m_axis where nothing waits;",
        "a packet waits for its bank, and for its queue,",
        "at most as many cycles as there are packets in front of it,",
        "m_axis comes with lanes of one or more batches: m_axis_tkeep says which have an answer; ",
    ),
    "edge-k12-matched": (
        "Engine matched-banked, 4 banks: 8 cycles from s_axis to m_axis where nothing waits;",
        "a packet waits while its bank serves another key, and all behind it wait,",
        "at most as many cycles as there are packets in front of it,",
        "m_axis comes with lanes of one or more batches: ",
    ),
    "edge-k12-banked": (
        "Engine sorted-banked, 8 banks: 18 cycles from s_axis to m_axis where nothing waits;",
        "a batch waits a cycle for each further key that its fullest bank is asked for,",
        "in front of it or beside it in its batch,",
        "m_axis comes with all lanes of a batch: ",
    ),
}


@pytest.mark.parametrize("preset", HEADERS)
def test_the_header_tells_when_packets_leave(preset: str, tmp_path: Path) -> None:
    assert main(["verilog", "ofan", "--preset", preset, "-o", str(tmp_path)]) == 0
    head = (tmp_path / f"ofan_{preset}.v").read_text().partition("\nmodule ")[0]
    assert all(line.startswith("//") for line in head.splitlines() if line)
    for text in HEADERS[preset]:
        assert text in head
    assert ("one batch a cycle" in head) == (preset == "edge-k4")


@pytest.mark.parametrize("name", PRESETS_OF_OFAN)
def test_every_preset_has_its_latency(name: str) -> None:
    config = PRESETS_OF_OFAN[name]
    found = latencies(config)
    assert found["switch"] == Switch(config).latency
    assert ("sort" in found) == config.engine.kind.startswith("sorted")


def test_the_header_tells_where_the_fields_of_a_tag_s_packet_are(tmp_path: Path) -> None:
    for name in CSIG:
        assert main(["verilog", "csig", "--preset", name, "-o", str(tmp_path)]) == 0
    head = (tmp_path / "csig_port-compact.v").read_text().splitlines()[:12]
    assert head[0].startswith("// csig_port_compact, made by netweave: CSIG for 1 port, compact ")
    assert head[1] == "// 11 cycles from s_axis to m_axis; one packet a cycle."
    fields = "tag [31:0], bytes [45:32], delay [69:46], queue [95:70]."
    assert f"// s_axis_tdata, s_axis_tvalid, s_axis_tready: {fields}" in head
    assert not any("s_agent" in line for line in head)
    banked = (tmp_path / "csig_bank-4.v").read_text()
    assert "s_axis_tready: tag [63:0], port [65:64], bytes [79:66]," in banked
    assert "; kind 0 level, 1 code, 2 scale, 3 swap, 4 record, 5 capacity, 6 edge.\n" in banked
    assert "s_agent_tready: port [1:0], signal [3:2], compact_value [8:4]," in banked


def test_bad_input_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verilog", "ofan", "--preset", "edge-k5", "-o", str(tmp_path / "new")]) == 2
    assert capsys.readouterr().err.startswith("netweave: preset must be one of ")
    (tmp_path / "file").write_text("")
    assert main(["verilog", "ofan", "--preset", "edge-k4", "-o", str(tmp_path / "file")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
