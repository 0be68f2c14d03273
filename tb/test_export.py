"""`netweave verilog`: what it writes is accepted by the linter and is the same on every run."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from netweave import main
from rtl.export import WAIVERS
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


OFAN = ("edge-k4", "edge-k12", "agg-k12", "pofan4-k16", "edge-k64")
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
