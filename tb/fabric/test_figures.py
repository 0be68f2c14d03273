"""Figures: their points are valid cases, and their verdicts tell agreement from disagreement."""

from __future__ import annotations

import csv
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import netweave
from models.fabric.figures import MODULES, figure
from models.fabric.figures.base import NAMES, Data, Point, ordered, scheme_for
from models.fabric.figures.packet_size import best_bound_us, optimum
from models.fabric.figures.queues import models
from models.fabric.figures.record import keep, kept
from models.fabric.sweep import Row
from synth.fabric_pages import figure_details, figure_summary, figure_verdicts

STAGES = ("H-E", "E-A", "A-C", "C-A", "A-E", "E-H")


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("quick", [False, True])
def test_points_are_cases_with_places_of_their_own(name: str, quick: bool) -> None:
    wanted = figure(name)
    points = wanted.points(quick)
    plan = wanted.sweep(quick, 2)
    assert len(plan.cases) == len(points)
    places = [(point.panel, point.series, point.x) for point in points]
    assert len(set(places)) == len(places)
    assert {panel.of for panel in wanted.panels} == {point.panel for point in points}


def grown(point: Point) -> dict[str, Any]:
    """Made-up measures of a run that goes as the paper says, for figures 1, 4, 5, 7, 10 and 11."""
    curve = str(point.series)
    if curve == "1 MB":
        curve = str(point.x)
    settings = point.settings
    m = int(settings.get("packets", 256))
    hosts = int(settings["k"]) ** 3 // 4
    load = float(settings.get("rate", 1))
    linear, root = ("simple-rr", "jsq", "conga"), ("rps", "rsq", "reps", "ar", "all AR")
    if curve in linear:
        queue, increase = 0.6 * m, 60.0
    elif curve in root:
        queue, increase = 3 * math.sqrt(m), 16 * (13 / 16) * math.sqrt(256 / m)
        if "packets" not in settings and "host_packets" not in settings:
            increase = 5 + 6 * math.log(hosts / 16) / math.log(64) + 2 if hosts != 432 else 13
    elif curve in ("choice", "drill", "dlb", "sglb"):
        queue, increase = 2 * math.sqrt(m), 10.0
    elif curve.startswith("4Ofan in"):
        queue, increase = 20, 7.8 if "edges" in curve else 8.5
    elif curve in ("4ofan", "all 4Ofan"):
        queue, increase = 5, 2.0
    else:
        queue, increase = 4, 1.6
    if curve == "reps" and m > 4096:
        increase = 30.0
    if settings.get("levels") == 2:
        increase = 1.5 if curve in ("4ofan", "ofan") else 16.0
        queue = 5 if curve in ("4ofan", "ofan") else 60
    if curve in root and load < 0.95:
        queue = queue / 3
    used = min(100 * load, 94 if curve in root else 99)
    time = 10.7 / load + 6.3 if curve not in root else max(10.7 / load + 6.3, 18.7)
    if settings.get("levels") == 2:
        time = 17 * (1 + increase / 100)
    return {
        "increase_percent": increase,
        "largest_packets": queue,
        "largest_bytes": queue * 4178,
        "utilization_percent": used,
        "completion_us": time,
        "rho_max": 1.0,
    }


PAIRS = {
    "ar": "4ofan",
    "reps": "ofan",
    "all AR": "all 4Ofan",
    "simple-rr": "drb",
    "jsq": "ethereal",
    "4Ofan in edges": "4Ofan in pods",
}
SWAP: dict[Any, Any] = PAIRS | {new: old for old, new in PAIRS.items()}


@pytest.mark.parametrize("name", ["1", "4", "5", "10", "11"])
def test_verdicts_hold_for_runs_as_the_paper_says_and_not_for_swapped_ones(name: str) -> None:
    wanted = figure(name)
    points = wanted.points(False)
    rows = [Row(n, 0, grown(point), "") for n, point in enumerate(points)]
    verdicts = wanted.judge(Data(points, rows))
    assert [v for v in verdicts if v.holds is False] == []
    swapped = [
        replace(p, series=SWAP.get(p.series, p.series), x=SWAP.get(p.x, p.x)) for p in points
    ]
    rows = [Row(n, 0, grown(point), "") for n, point in enumerate(swapped)]
    verdicts = wanted.judge(Data(points, rows))
    assert sum(v.holds is False for v in verdicts) >= len(verdicts) / 2


@pytest.mark.parametrize("name", MODULES)
def test_every_figure_judges_whatever_comes_out(name: str) -> None:
    wanted = figure(name)
    points = wanted.points(True)
    rows = []
    for number, point in enumerate(points):
        found = grown(point)
        for stage in STAGES:
            found |= {f"mean_packets.{stage}": 1.0, f"overload_percent.{stage}": 3.0}
        rows += [Row(number, seed, found, "") for seed in (0, 1)]
    verdicts = wanted.judge(Data(points, rows))
    assert verdicts
    assert {v.kind for v in verdicts} <= {"shape", "order", "factor"}
    assert all(v.says and v.found for v in verdicts)


def test_slopes_means_and_orders() -> None:
    points = [Point(series=s, x=x, settings={}) for s in ("a", "b") for x in (1, 4, 16)]
    rows = [
        Row(n, seed, {"y": (float(p.x) ** 0.5 if p.series == "a" else 3.0) + seed * 0.0}, "")
        for n, p in enumerate(points)
        for seed in (0, 1)
    ]
    data = Data(points, rows)
    assert data.slope("a", "y") == pytest.approx(0.5)
    assert data.slope("b", "y") == pytest.approx(0)
    assert data.at("a", 4, "y") == (2.0, 0.0)
    assert ordered(data, ("a", "b"), 16, "y")
    assert not ordered(data, ("a", "b"), 4, "y")
    with pytest.raises(KeyError):
        data.at("a", 5, "y")


def test_curves_know_their_scheme() -> None:
    assert [scheme_for("4ofan", k) for k in (4, 8, 12, 16)] == ["ofan", "ofan", "pofan4", "pofan4"]
    assert scheme_for("drb", 12) == "drb"


def test_the_optimum_of_theorem_6() -> None:
    assert optimum("b")[0] == pytest.approx(math.sqrt(82 * 2**22 / 10))
    assert 0 < optimum("b")[1] < optimum("a")[1] < 10
    assert best_bound_us(1 << 22) > 41.9 + 6  # the bare bytes and the propagation both ways


def test_queue_models_of_both_figures() -> None:
    drb, ofan = (models(scheme, 16) for scheme in ("drb", "ofan"))
    assert drb["A-C"] == drb["C-A"]
    assert drb["E-A"] == drb["A-E"] == drb["E-H"]
    assert ofan["A-C"][0] < drb["A-C"][0]


def test_a_figure_is_made_whole(tmp_path: Path, capfd: Any) -> None:
    words = ["fabric", "figure", "10", "--quick", "--seeds", "2", "--workers", "0"]
    assert netweave.main([*words, "-o", str(tmp_path)]) == 0
    assert "the paper says" in capfd.readouterr().out
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == [
        "figure10-runs.parquet",
        "figure10-runs.parquet.journal",
        "figure10.csv",
        "figure10.json",
        "figure10.svg",
    ]
    with (tmp_path / "figure10.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["x"] for row in rows] == ["reps", "ar", "4ofan", "ofan"] * 2
    assert all(row["runs"] == "2" for row in rows)
    found = json.loads((tmp_path / "figure10.json").read_text())
    assert found["quick"]
    assert len(found["verdicts"]) == 3
    svg = (tmp_path / "figure10.svg").read_bytes()
    assert netweave.main([*words, "-o", str(tmp_path)]) == 0
    assert (tmp_path / "figure10.svg").read_bytes() == svg
    with pytest.raises(ValueError, match=r"figure10.json must be a whole figure"):
        keep(tmp_path, tmp_path / "r" / "figures.json")


def test_records_are_kept_by_figure(tmp_path: Path) -> None:
    committed = tmp_path / "r" / "figures.json"
    for name in ("16", "4"):
        text = json.dumps({"figure": name, "quick": False, "verdicts": []})
        (tmp_path / f"figure{name}.json").write_text(text)
    assert keep(tmp_path, committed) == ["16", "4"]
    assert list(json.loads(committed.read_text())) == ["4", "16"]


def test_the_page_has_every_figure_and_scheme() -> None:
    assert set(kept()) == set(MODULES)
    assert not any(found["quick"] for found in kept().values())
    summary, verdicts, details = figure_summary(), figure_verdicts(), figure_details()
    for name in MODULES:
        if name != "details":
            assert f"| {name} |" in summary
            assert f"### Figure {name}\n" in verdicts
    for curve in ("simple-rr", "jsq", "rsq", "ar", "ofan"):
        assert NAMES[curve] in details.splitlines()[0]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["2"], "figure must be one of 1, 3, 4, 5"),
        (["detail"], "not 'detail'; did you mean details?"),
        (["10", "--seeds", "0"], "seeds must be an integer from 1 to 10000, not 0"),
        (["10", "--workers", "-1"], "workers must be an integer from 0 to 4096, not -1"),
    ],
)
def test_bad_words(words: list[str], message: str, capfd: Any) -> None:
    assert netweave.main(["fabric", "figure", *words]) == 2
    assert message in capfd.readouterr().err
