"""The command `netweave study pointers`: runs, what is kept of them, tables, plots."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.ofan.config import edge
from models.ofan.schedule import Offered, schedule
from models.ofan.study import BACKLOG, CYCLES, MEAN, UNITS, numbers, split_banks
from models.ofan.study_traffic import FULL, LOADS, TRAFFIC, Size
from netweave import main
from synth import pointer_study as study
from synth.ge import Cost
from synth.parts import TOTAL
from synth.pointer_plots import load_plot, pareto_plot
from synth.pointer_price import INITIAL, STORE, preset_name, prices_of
from synth.pointer_tables import (
    CHOSEN,
    FULLY_SHOWN,
    Study,
    engines_table,
    for_docs,
    traffic_table,
)
from synth.pointer_targets import verdict
from synth.records import COMMITTED, Record, read_records, records_of
from synth.symphony_study import save_svg
from synth.tables import ROOT

KINDS = ("permutation", "drift", "random-100", "one-bank")
SMALL = {study.SHOWN: edge(8), "pofan2-k8": edge(8, pipe_lanes=2)}


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two small switches, little traffic of few kinds, an empty build folder; return the folder."""
    monkeypatch.setattr(study, "SHAPES", SMALL)
    monkeypatch.setattr("synth.pointer_tables.SHAPES", SMALL)
    monkeypatch.setattr(study, "TRAFFIC", {name: TRAFFIC[name] for name in KINDS})
    monkeypatch.setattr(study, "QUICK", Size(cases=3, periods=1, drifts=1, cycles=40))
    for module in ("synth.pointer_study", "synth.yosys"):
        monkeypatch.setattr(f"{module}.BUILD", tmp_path / "build")
    return tmp_path / "build"


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that grows with each run, by the engine's kind."""
    runs: list[str] = []

    def spy(config: Any, *rest: Any) -> Any:
        runs.append(config.engine.kind)
        return schedule(config, *rest)

    monkeypatch.setattr(study, "schedule", spy)
    return runs


@pytest.mark.parametrize("shape", study.SHAPES)
def test_every_engine_fits_its_switch_and_has_its_own_name(shape: str) -> None:
    found = study.engines(shape)
    assert {engine.kind for engine in found.values()} == {
        "sorted",
        "sorted-banked",
        "matched-banked",
        "queued-banked",
    }
    banks = {engine.banks for engine in found.values() if engine.banked}
    assert len(banks) in (3, 4)
    assert len(found) == 1 + len(banks) * (12 if shape == study.SHOWN else 4)
    for engine in found.values():
        assert replace(study.SHAPES[shape], engine=engine).engine is engine
    assert shape != study.SHOWN or set(CHOSEN) <= set(found)


def test_what_was_done_is_not_done_again(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch)
    steps = []
    records = study.study(quick=True, jobs=2, progress=lambda *step: steps.append(step))
    count = len(runs)
    assert steps == [(done, count) for done in range(count + 1)]
    assert study.study(quick=True, jobs=1) == records
    assert len(runs) == count, "all was kept"


def test_a_study_that_was_stopped_goes_on(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch)

    def stop(done: int, count: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.study(quick=True, jobs=2, progress=stop)
    assert not (small / "records").exists()
    broken_off = len(runs)
    records = study.study(quick=True, jobs=2)
    count = len(runs)
    assert 10 <= broken_off < count / 2, "what had not begun did not begin"
    runs.clear()
    for kept in (small / "synth").iterdir():
        kept.unlink()
    assert study.study(quick=True, jobs=1) == records, "the order of runs makes no difference"
    assert count == len(runs), "no run was made twice"


@pytest.mark.parametrize("text", ["[1]", "{", '{"matched-banked, 2 banks, depth 4": [1]}'])
def test_what_is_no_run_in_a_kept_file_is_made_again(small: Path, text: str) -> None:
    records = study.study(quick=True)
    for kept in (small / "synth").iterdir():
        kept.write_text(text)
    assert study.study(quick=True) == records


def test_a_kept_run_that_lacks_a_number_is_made_again(small: Path) -> None:
    records = study.study(quick=True)
    for kept in (small / "synth").iterdir():
        runs = json.loads(kept.read_text())
        for run in runs.values():
            run[MEAN] = "much"
        kept.write_text(json.dumps(runs))
    assert study.study(quick=True) == records


def test_a_model_that_changes_makes_runs_anew(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = counted(monkeypatch)
    study.study(quick=True)
    count = len(runs)
    monkeypatch.setattr(study, "_sources", lambda: "another text")
    study.study(quick=True)
    assert len(runs) == 2 * count


def test_the_command(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "deep" / "er"
    assert main(["study", "pointers", "--quick", "--jobs", "2", "--out", str(folder)]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "matched-banked" in printed and "nothing follows from its numbers" in printed
    assert "Nearest" not in printed
    names = [
        f"pointers{end}"
        for end in (".csv", ".json", ".md", "-load.svg", "-pareto.svg", "-prices.csv")
    ]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    everything = read_records(folder / "pointers.json")
    records = [record for record in everything if record.preset in SMALL]
    prices = [record for record in everything if record.preset not in SMALL]
    assert {record.preset.partition(": ")[0] for record in prices} == {study.SHOWN}
    with open(folder / "pointers-prices.csv", newline="") as file:
        parts = list(csv.DictReader(file))
    assert len(parts) == len({(record.preset, record.block) for record in prices})
    with open(folder / "pointers.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) * len(UNITS) == len(records)
    assert list(rows[0])[:10] == ["switch", "engine", "traffic", *UNITS]
    assert "| queued-banked | 2 | 2 | 2 |" in (folder / "pointers.md").read_text()
    assert main(["study", "pointers", "--quick", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)) == len(everything)


@pytest.mark.parametrize("jobs", ["0", "257"])
def test_bad_jobs(small: Path, jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["study", "pointers", "--quick", "--jobs", jobs]) == 2
    expected = f"netweave: jobs must be an integer from 1 to 256, not {jobs}\n"
    assert capsys.readouterr().err == expected


def made_up(**cycles: float) -> list[Record]:
    """Records of the running example in which only the cycles a batch of random keys differ, and
    of which the names are those of `CHOSEN` by number, as in `e1`."""
    return [
        Record(
            block=CHOSEN[int(name[1:])],
            preset=study.SHOWN,
            metric=f"{traffic}: {what}",
            value=value if (traffic, what) == ("random-100", CYCLES) else 1,
            unit="",
            engine="models",
        )
        for name, value in cycles.items()
        for traffic in TRAFFIC
        for what in UNITS
    ]


def test_what_waits_as_asked_and_what_lags() -> None:
    found = Study(made_up(e0=3.02, e1=2.5), {})
    table = engines_table(found)
    rows = [dict(zip(table.headers, row, strict=True)) for row in table.rows]
    assert [row["banks"] for row in rows] == ["16", "32"]
    assert [row["waits as asked"] for row in rows] == ["-", "yes"]
    assert "GE" not in table.headers, "no price is known"
    kinds = {row[0]: row for row in traffic_table(found, CHOSEN[1]).rows}
    assert kinds["permutation"][1] == "1"
    assert kinds["random-100"][1:] == ["∞"] * 6 + ["2.50"]
    assert verdict(found)[0].startswith("2 of 2 engines with banks are never more than 4 batches")
    assert "1 of these" in verdict(found)[0]
    assert len(verdict(found)) == 1, "no price is known"


def test_prices_stand_beside_what_they_buy(tmp_path: Path) -> None:
    records = made_up(e0=4.0, e1=2.0, e2=5.0)
    costs = {0: Cost(logic=18_000, flops=500, depth=20), 1: Cost(logic=28_000, flops=500, depth=22)}
    costs[2] = Cost(logic=23_000, flops=500, depth=21)
    priced = []
    for number, cost in costs.items():
        engine = study.engines(study.SHOWN)[CHOSEN[number]]
        for storage, bits in (("flops", 20_480), ("latches", 0)):
            name = preset_name(study.SHOWN, replace(engine, storage=storage))
            parts = {
                "slots": cost,
                f"{STORE}: storage": Cost(storage=bits),
                INITIAL: Cost(logic=1_000),
                TOTAL: replace(cost, storage=bits, logic=cost.logic + 1_000),
            }
            for part, found in parts.items():
                priced += records_of(part, name, found)
    found = Study(records, prices_of(priced))
    cells = [row[-9:] for row in engines_table(found).rows]
    light, heavy = ["30,000", "111,920", "30,000", "-"], ["30,835", "146,957", "30,835", "-"]
    assert cells[1] == [cell for pair in zip(light, heavy, strict=True) for cell in pair] + ["22"]
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        save_svg(pareto_plot(found), file)
    text = files[0].read_text()
    assert files[1].read_text() == text, "the same records make the same bytes"
    assert "16 banks, 32 queues" in text and "32 banks, 32 queues" in text
    assert "16 banks, 16 queues" not in text, "it costs more than another one that does better"
    with pytest.raises(ValueError, match="prices must be known"):
        pareto_plot(Study(records, {}))


def test_the_load_plot_has_a_line_an_engine() -> None:
    lines = load_plot(Study(made_up(e0=3.5, e1=2.0), {})).axes[0].lines
    assert [line.get_label() for line in lines if len(line.get_xdata())] == list(CHOSEN[:2])
    assert list(lines[0].get_xdata()) == list(LOADS)
    assert lines[0].get_ydata()[-1] == 3.5


def test_the_plot_of_the_docs_is_of_the_records(tmp_path: Path) -> None:
    matplotlib: Any = pytest.importorskip("matplotlib")
    kept = (ROOT / "docs" / "img" / "pointers-load.svg").read_text()
    if f"Matplotlib v{matplotlib.__version__}" not in kept:
        pytest.skip("the plot was drawn by another Matplotlib")
    drawn = tmp_path / "plot.svg"
    save_svg(load_plot(Study(read_records(COMMITTED / "pointers.json"), {})), drawn)
    assert drawn.read_text() == kept, "run: python -m synth.release"


def test_the_study_of_the_release_is_of_these_models() -> None:
    """Some runs of the release, made again."""
    records = read_records(COMMITTED / f"{study.NAME}.json")
    assert for_docs(records) == records, "nothing is kept that no page shows"
    kept = study.numbers_of(records)
    for name in (CHOSEN[1], CHOSEN[5], f"{CHOSEN[2]}{study.SPLIT}"):
        engine = study.engines(study.SHOWN)[name.removesuffix(study.SPLIT)]
        config = replace(edge(64), engine=engine)
        banks = split_banks(config) if name.endswith(study.SPLIT) else None
        for traffic in ("permutation", "ring", "random-100"):
            found = numbers(
                schedule(config, Offered.of(TRAFFIC[traffic].cases(config, FULL)), banks)
            )
            mine = kept[study.SHOWN, name, traffic]
            assert mine == {what: found[what] for what in mine}
    aimed = kept[study.SHOWN, FULLY_SHOWN, "permutation"]
    assert set(aimed) == set(UNITS)
    assert aimed[BACKLOG] <= 4 and aimed[MEAN] < 1
