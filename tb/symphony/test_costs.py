"""The cost of Symphony: parts add up, targets are met, the study's table, plot and records."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from amaranth.back import rtlil

from models.symphony.config import SymphonyConfig, preset
from models.symphony.memory import memory
from netweave import main
from rtl.symphony.marker import Marker
from rtl.toolchain import yosys_engine
from synth import symphony_study as study
from synth.ge import Cost, price
from synth.parts import TOTAL, cost_table
from synth.records import COMMITTED, Record, read_records, versions
from synth.symphony import DECISION, price_marker, price_preset
from synth.tables import ROOT

MOST_GATES_IN_A_STAGE = 24
"""Of the issue that asked for Symphony."""


def committed(name: str) -> dict[tuple[str, str], float]:
    records = read_records(COMMITTED / f"symphony-{name}.json")
    return {(r.block, r.metric): r.value for r in records}


def of_this_engine(records: list[Record]) -> None:
    if (records[0].engine, records[0].versions) != (yosys_engine(), versions()):
        pytest.skip(f"the records were made with {records[0].versions}")


def test_the_parts_add_up_to_the_whole() -> None:
    """Mapped in one piece, the marker loses what no block behind uses; memories are left out."""
    config = preset("log-64")
    rows = list(price_marker(config))
    total = rows.pop()
    assert total.part == TOTAL
    assert total.cost == sum((row.cost for row in rows), Cost())
    whole = price(Marker(config), memories=False)
    assert 0.97 < total.cost.logic / whole.logic < 1.08
    assert 1 <= total.cost.flops / whole.flops < 1.08
    assert total.cost.depth <= whole.depth + 2
    assert {row.part for row in rows} >= {*DECISION["log"], *Marker(config).blocks}


@pytest.mark.parametrize("arithmetic", ["log", "exact"])
@pytest.mark.parametrize("jobs", [1, 65])
@pytest.mark.parametrize("apart", [None, 50_000])
def test_memory_is_what_the_hardware_has(arithmetic: str, jobs: int, apart: int | None) -> None:
    """Bits by arithmetic against the memories in the block's RTLIL."""
    config = SymphonyConfig(jobs=jobs, arithmetic=arithmetic, psn_window_ns=apart)
    text = rtlil.convert(Marker(config), name="top", emit_src=False)
    sizes = {
        name: int(width) * int(size)
        for width, size, name in re.findall(r"memory width (\d+) size (\d+) \\(\w+)", text)
    }
    found = memory(config)
    touch = sum(bits for name, bits in sizes.items() if name.endswith("rows"))
    assert len(sizes) == 3 + (apart is not None)
    assert (sizes["jobs"], touch, sizes["counters"]) == (found.state, found.touch, found.counters)


def test_memory_of_16k_jobs() -> None:
    """Section 3.5: "hundreds of KB"; 88 bits a job, counted by hand, would be 180 KB."""
    config = preset("log-16k")
    found = memory(config)
    assert found.job_bits(config.jobs) == config.word_bits + 1.75 <= 88
    assert 100_000 < (found.state + found.touch) / 8 < 16384 * 88 / 8 == 180_224
    assert memory(preset("log-16k", counter_bits=0)).counters == 0


@pytest.mark.parametrize(("name", "most"), [("log-16k", 1000), ("exact-16k", 7000)])
def test_the_decision_is_as_small_as_it_was_to_be(name: str, most: float) -> None:
    """The issue's bounds, for the records of the release."""
    numbers = committed(name)
    parts = DECISION[preset(name).arithmetic]
    assert sum(numbers[part, "logic"] for part in parts) <= most
    assert all(numbers[part, "depth"] <= MOST_GATES_IN_A_STAGE for part in parts)
    assert numbers[TOTAL, "depth"] <= MOST_GATES_IN_A_STAGE


def test_the_committed_records_are_of_this_rtl() -> None:
    """A change of the RTL must come with new records."""
    kept = read_records(COMMITTED / "symphony-log-64.json")
    of_this_engine(kept)
    assert price_preset("log-64", preset("log-64")) == kept, "run: python -m synth.release"


def test_the_table_has_memories_as_bits() -> None:
    records = read_records(COMMITTED / "symphony-log-16k.json")
    table = cost_table("Symphony log-16k", records)
    rows = {row[0]: dict(zip(table.headers, row, strict=True)) for row in table.rows}
    assert "storage bits" not in table.headers
    assert rows["progress: memory"]["SRAM bits"] == f"{16384 * preset('log-16k').word_bits:,}"
    assert rows["progress: memory"]["total, GE (paper)"] == "0"
    assert rows["coin"]["SRAM bits"] == "0"


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "symphony", "--preset", "log-64", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert {r["block"] for r in records} >= {"window", "coin", "progress: memory", TOTAL}
    assert main(["synth", "symphony", "--preset", "log-64"]) == 0
    assert "Symphony log-64" in capsys.readouterr().out
    assert main(["synth", "symphony", "--preset", "log-5"]) == 2
    assert capsys.readouterr().err.startswith("netweave: preset must be one of ")


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the grid small, and its gates free."""
    monkeypatch.setattr(study, "MANTISSA_BITS", (6,))
    monkeypatch.setattr(study, "FRACTION_BITS", (4, 7))
    costs = {"log": Cost(logic=800, depth=20), "exact": Cost(logic=4800, depth=22)}
    monkeypatch.setattr(study, "decision", lambda config: {"coin": costs[config.arithmetic]})


def test_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small(monkeypatch)
    folder = tmp_path / "deep" / "er"
    assert main(["study", "symphony-log", "--out", str(folder)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "6/7 (default)" in printed
    assert "265 times as much" in printed and "6.0 times as many" in printed
    records = read_records(folder / "symphony-accuracy.json")
    numbers = study.numbers_of(records)
    assert set(numbers) == {"6/4", "6/7", "exact"}
    assert numbers["6/7"] == {
        "largest error": 3.401,
        "mean error": 0.5785,
        "tables": 384,
        "logic": 800,
        "depth": 20,
    }
    plot = (folder / "symphony-accuracy.svg").read_bytes()
    assert plot.startswith(b"<?xml") and b"largest error of the probability" in plot
    again = tmp_path / "again.svg"
    study.save_svg(study.plot(records), again)
    assert again.read_bytes() == plot, "the same records make the same bytes"
    assert main(["study", "symphony-log", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(records)


def test_the_plot_without_matplotlib(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small(monkeypatch)
    for name in ("matplotlib", "matplotlib.figure"):
        monkeypatch.setitem(sys.modules, name, None)
    assert main(["study", "symphony-log", "--out", str(tmp_path / "folder")]) == 2
    assert capsys.readouterr().err == (
        "netweave: out needs Matplotlib for the plot, which is not installed: "
        "pip install netweave[study]\n"
    )
    assert not (tmp_path / "folder").exists()
    assert main(["study", "symphony-log"]) == 0, "the table needs none"


def test_the_study_s_folder_is_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small(monkeypatch)
    file = tmp_path / "file"
    file.write_text("kept")
    assert main(["study", "symphony-log", "--out", str(file)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert file.read_text() == "kept"


def test_the_study_of_the_release_is_of_this_model() -> None:
    """Errors do not depend on a tool: they are worked out again for the default."""
    records = read_records(COMMITTED / f"{study.NAME}.json")
    numbers = study.numbers_of(records)
    assert len(numbers) == len(study.MANTISSA_BITS) * len(study.FRACTION_BITS) + 1
    config = SymphonyConfig()
    found = study.accuracy(config)
    mine = numbers[study.default_name()]
    assert mine["largest error"] == pytest.approx(100 * found.largest, rel=1e-3)
    assert mine["mean error"] == pytest.approx(100 * found.mean, rel=1e-3)
    assert mine["tables"] == study.table_bits(config)
    parts = committed("log-16k")
    assert mine["logic"] == sum(parts[part, "logic"] for part in DECISION["log"])


def test_the_plot_of_the_docs_is_of_the_records(tmp_path: Path) -> None:
    matplotlib: Any = pytest.importorskip("matplotlib")
    kept = (ROOT / "docs" / "img" / f"{study.NAME}.svg").read_text()
    if f"Matplotlib v{matplotlib.__version__}" not in kept:
        pytest.skip("the plot was drawn by another Matplotlib")
    drawn = tmp_path / "plot.svg"
    study.save_svg(study.plot(read_records(COMMITTED / f"{study.NAME}.json")), drawn)
    assert drawn.read_text() == kept, "run: python -m synth.release"
