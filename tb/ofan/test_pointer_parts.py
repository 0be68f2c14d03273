"""Prices part by part, exact rotation against pOfan, and the presets beside the study's prices."""

from __future__ import annotations

import csv
import io

import pytest

from synth.ge import FLOP_GE
from synth.parts import TOTAL
from synth.pointer_pages import committed_study
from synth.pointer_parts import (
    BANKS,
    RATE,
    SERVICE,
    WHOLE,
    exactness,
    exactness_table,
    parts_table,
    price_records,
    prices_csv,
    whole_table,
)
from synth.pointer_price import PRICES, committed_prices, engine_of, is_formula, point_name
from synth.pointer_study import PIPES, SHOWN, engine_name
from synth.pointers import POINTS
from synth.records import read_records


def test_groups_are_in_the_names_of_points_and_not_of_engines() -> None:
    for _, engine in POINTS:
        assert engine_of(point_name(engine)) == engine_name(engine)
    names = [(shape, point_name(engine)) for shape, engine in POINTS]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("convention", FLOP_GE)
def test_prices_are_the_totals_without_the_initial_pointers(convention: str) -> None:
    totals = {r.preset: r.value for r in read_records(PRICES) if wanted(r, TOTAL, convention)}
    initial = {
        r.preset: r.value
        for r in read_records(PRICES)
        if wanted(r, "initial pointers (ROM)", convention)
    }
    for (shape, point), price in committed_prices().items():
        for storage in price.by_storage if point != "sorted" else ():
            name = f"{shape}: {point}: {storage}"
            value = totals[name] - initial[name]
            assert price.all_in(storage, convention) == pytest.approx(value, abs=2)


def wanted(record: object, block: str, convention: str) -> bool:
    return (getattr(record, "block", ""), getattr(record, "metric", "")) == (
        block,
        f"total, {convention}",
    )


def test_the_parts_of_a_point_add_up_to_its_gates() -> None:
    study = committed_study()
    made = parts_table(study, "queued-banked")
    point = next(p for p in study.points() if p.startswith("queued-banked"))
    row = dict(zip(made.headers, made.rows[0], strict=True))
    price = study.prices[SHOWN, point]
    for n, convention in enumerate(FLOP_GE):
        found = [float(row[part].split("; ")[n].replace(",", "")) for part in price.logic]
        assert sum(found) == pytest.approx(price.gates(convention), abs=len(found))
    assert row["macros (sram)"] == "61,440; 61,440; 0"


def test_exactness_compares_what_is_alike() -> None:
    study = committed_study()
    first, *others = exactness(study)
    assert first.same == SERVICE
    assert study.waits_as_asked(first.exact) and study.waits_as_asked(first.piped, PIPES)
    alike = {(pair.exact, pair.piped): pair.gates for pair in others if pair.same == BANKS}
    sixteen = "queued-banked, 16 banks, 16 queues, depth 2"
    assert alike[sixteen, "queued-banked, 2 banks, 2 queues, depth 2"] == pytest.approx(
        1.82, abs=0.01
    )
    for pair in (pair for pair in others if pair.same == RATE):
        slow, fast = (
            study.found[PIPES, pair.piped, "random-100"],
            study.numbers(pair.exact, "random-100"),
        )
        assert fast["cycles a batch"] <= slow["cycles a batch"]
    assert len(exactness_table(study).rows) == 1 + len(others)


def test_presets_cost_more_than_what_the_study_counts() -> None:
    made = whole_table(committed_prices())
    rows = [dict(zip(made.headers, row, strict=True)) for row in made.rows]
    assert [row["preset"] for row in rows] == list(WHOLE)
    for row in rows:
        study, preset = (
            float(row[f"{what}: GE, 4"].strip("≈").replace(",", ""))
            for what in ("in the study", "the preset")
        )
        assert preset > study
        assert int(row["the preset: gates"]) >= 2 * int(row["in the study: gates"])


def test_the_csv_has_every_part_and_tells_formulas() -> None:
    records = price_records([SHOWN])
    rows = list(csv.DictReader(io.StringIO(prices_csv(records))))
    assert len(rows) == len({(r.preset, r.block) for r in records})
    assert {row["switch"] for row in rows} == {SHOWN}
    assert {row["how"] for row in rows} == {"mapped", "formula", "fitted"}
    for row in rows:
        assert (row["how"] == "formula") == is_formula(row["storage"], row["part"])
        light, heavy = (float(row[f"GE, {weight:g} a flip-flop"]) for weight in FLOP_GE.values())
        flops = int(row["flip-flops"]) + int(row["storage bits"])
        assert heavy - light == pytest.approx(1.67 * flops, abs=0.2)
    (sorted_row,) = {row["storage"] for row in rows if row["engine"] == "sorted"}
    assert sorted_row == "flops"
