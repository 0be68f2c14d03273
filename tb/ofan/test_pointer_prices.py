"""Which points of the study are priced, and what a part of a run leaves of the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.ofan.config import OfanConfig
from models.ofan.engine import STORAGES, Engine
from synth import pointers
from synth.ge import Cost
from synth.parts import TOTAL, Row
from synth.pointer_price import PRICES, preset_name
from synth.pointer_study import engine_name, engines
from synth.pointers import POINTS, price_points
from synth.records import read_records

SMALL = Engine(kind="queued-banked", banks=4, queues=2)
OTHER = Engine(kind="matched-banked", banks=4, depth=4)


@pytest.mark.parametrize(("shape", "engine"), POINTS, ids=str)
def test_points_are_points_of_the_study(shape: str, engine: Engine) -> None:
    assert engine_name(engine) in engines(shape)


def test_the_release_has_prices_of_its_points_alone() -> None:
    """Those that a mapper did not come to an end with are missing, whole."""
    found = {record.preset for record in read_records(PRICES)}
    points = [
        {preset_name(shape, replace(engine, storage=s)) for s in STORAGES}
        for shape, engine in POINTS
    ]
    assert found <= set().union(*points)
    assert all(found & point in (set(), point) for point in points)


def test_a_run_of_some_points_keeps_the_others(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file, logic = tmp_path / "prices.json", 1

    def priced(config: OfanConfig, progress: Any) -> Iterator[Row]:
        assert config.masks == 0
        progress("a part")
        yield Row(part=TOTAL, cost=Cost(logic=logic))

    monkeypatch.setattr(pointers, "PRICES", file)
    monkeypatch.setattr(pointers, "price_banked", priced)
    monkeypatch.setattr(pointers, "POINTS", (("edge-k8", SMALL), ("edge-k8", OTHER)))
    said: list[str] = []

    def run(wanted: str) -> dict[str, float]:
        records = price_points(said.append, wanted)
        assert read_records(file) == records
        return {record.preset: record.value for record in records if record.metric == "logic"}

    both = [preset_name("edge-k8", replace(e, storage=s)) for e in (SMALL, OTHER) for s in STORAGES]
    assert run("") == dict.fromkeys(both, 1)
    assert said[0] == f"{both[0]}: a part"
    logic = 2
    assert run("matched") == dict.fromkeys(both[:3], 1) | dict.fromkeys(both[3:], 2)
    monkeypatch.setattr(pointers, "POINTS", (("edge-k8", OTHER),))
    assert run("none") == dict.fromkeys(both[3:], 2)
