"""The cost of Ofan's pipeline: its parts add up to the whole, and the records are of this RTL."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from models.ofan.config import OfanConfig, preset
from netweave import main
from rtl.ofan.sort import Sort
from rtl.ofan.switch import Switch
from rtl.toolchain import yosys_engine
from synth.ge import Cost, price
from synth.ofan import price_preset, price_switch
from synth.parts import TOTAL, cost_table, fits
from synth.records import COMMITTED, read_records, versions

SMALL = {
    # name: (config, how much more gates, and flip-flops, the parts may have than the whole)
    "edge-k8": (preset("edge-k8"), 0.03, 0.08),
    "three uplinks, no masks": (
        OfanConfig(lanes=4, uplinks=3, destinations=5, masks=0),
        0.15,
        0.15,
    ),
    "two pipes": (preset("edge-k4", pipe_lanes=1), 0.15, 0.15),
    "table": (preset("edge-k4", lookup="table", host_bits=2), 0.15, 0.15),
    "aligned": (preset("edge-k4", lookup="aligned", host_bits=2), 0.15, 0.15),
}


@pytest.mark.parametrize("name", SMALL)
def test_the_parts_add_up_to_the_whole(name: str) -> None:
    """Mapped in one piece, a switch loses what no stage behind uses; the smaller it is, the larger
    is that share. It never loses storage."""
    config, more_gates, more_flops = SMALL[name]
    rows = list(price_switch(config))
    total = rows.pop()
    assert total.part == TOTAL
    assert total.cost == sum((row.cost for row in rows), Cost())
    whole = price(Switch(config), storage=total.cost.storage)
    assert 0.99 < total.cost.logic / whole.logic < 1 + more_gates
    assert 1 <= total.cost.flops / whole.flops < 1 + more_flops
    assert 1 <= total.cost.gating / whole.gating < 1.02  # enables of flip-flops that it loses
    assert max(row.cost.depth for row in rows) <= 1.1 * whole.depth
    stored = [row.cost.storage for row in rows if row.part == "pointer file: storage"]
    assert stored == [config.pointer_bits]


def test_a_lane_s_part_counts_once_a_lane() -> None:
    configs = (preset("edge-k4", lanes=lanes) for lanes in (2, 4))
    two, four = ({row.part: row.cost for row in price_switch(config)} for config in configs)
    for part in ("π", "update: advance, modulo w", "failure masks: π backwards"):
        assert four[part].logic == 2 * two[part].logic


def test_more_comparators_cost_more() -> None:
    costs = [price(Sort(preset("edge-k16", network=name))).logic for name in ("bitonic", "best")]
    assert costs[0] > costs[1]


def test_the_committed_records_are_of_this_rtl() -> None:
    """A change of the RTL must come with new records."""
    kept = read_records(COMMITTED / "ofan-edge-k4.json")
    if (kept[0].engine, kept[0].versions) != (yosys_engine(), versions()):
        pytest.skip(f"the records were made with {kept[0].versions}")
    assert price_preset("edge-k4", preset("edge-k4")) == kept, "run: python -m synth.release"


def test_edge_k12_takes_less_than_a_minute_of_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("synth.yosys", "synth.parts"):
        monkeypatch.setattr(f"{module}.BUILD", tmp_path)  # nothing is kept here
    before = os.times()
    price_preset("edge-k12", preset("edge-k12"))
    after = os.times()
    used = sum(after[:4]) - sum(before[:4])
    assert used < 60
    again = time.process_time()
    price_preset("edge-k12", preset("edge-k12"))
    assert time.process_time() - again < 1


def test_the_table_marks_what_is_fitted() -> None:
    records = read_records(COMMITTED / "ofan-edge-k64.json")
    table = cost_table("Ofan edge-k64", records)
    rows = {row[0]: row for row in table.rows}
    assert rows["pointer file: read paths"][1].startswith("≈")
    assert not rows["sort"][1].startswith("≈")
    assert rows[TOTAL][1].startswith("≈")
    assert {line.split(": fitted to")[0] for line in fits(records)} == {
        "≈ pointer file: read paths",
        "≈ pointer file: write paths",
        "≈ failure masks: index table: read paths",
        "≈ failure masks: index table: write paths",
    }


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "ofan", "--preset", "edge-k4", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert {r["block"] for r in records} >= {"sort", "combine", "π", "decombine", "unsort", TOTAL}
    assert main(["synth", "ofan", "--preset", "edge-k4"]) == 0
    assert "decombine" in capsys.readouterr().out
    assert main(["synth", "ofan", "--preset", "edge-k5"]) == 2
    assert capsys.readouterr().err.startswith("netweave: preset must be one of ")
