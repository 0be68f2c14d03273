"""The six targets: what a point misses, and which one comes nearest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.ofan.study import BACKLOG, CYCLES, IN_FRONT, UNITS
from synth.ge import Cost
from synth.parts import TOTAL
from synth.pointer_pages import committed_study
from synth.pointer_price import INITIAL, STORE, preset_name, prices_of
from synth.pointer_study import SHOWN, engines
from synth.pointer_tables import DRIFT, PERMUTATION, SATURATED, Study
from synth.pointer_targets import (
    NAMED,
    NEAR,
    SMALL,
    STILL,
    TARGETS,
    least_miss,
    missed,
    nearest,
    targets_table,
    verdict,
    waits_inside,
)
from synth.records import Record, records_of

GATES, ALL_IN, LATENCY, DEPTH, WAITS, RANDOM = (target.what for target in TARGETS)


def made_up(**points: tuple[int, int, int, int, float]) -> Study:
    """A study of points `b16` or `b64` (banks), each of so many GE, gates in a row, backlog with
    drift, batches in front, cycles a batch."""
    waits, priced = [], []
    for name, (gates, depth, backlog, front, cycles) in points.items():
        point = f"queued-banked, {name[1:]} banks, 16 queues, depth 2"
        for traffic in (PERMUTATION, DRIFT, SATURATED):
            for what in UNITS:
                value = {IN_FRONT: front, CYCLES: cycles}.get(what, 1.0)
                value = backlog if (traffic, what) == (DRIFT, BACKLOG) else value
                waits.append(
                    Record(
                        block=point,
                        preset=SHOWN,
                        metric=f"{traffic}: {what}",
                        value=value,
                        unit="",
                        engine="models",
                    )
                )
        for storage, bits in (("flops", 200_000), ("latches", 90_000), ("sram", 60_000)):
            preset = preset_name(SHOWN, replace(engines(SHOWN)[point], storage=storage))
            parts = {"slots": Cost(logic=gates), f"{STORE}: x": Cost(logic=bits)}
            parts |= {INITIAL: Cost(logic=7), TOTAL: Cost(logic=gates + bits + 7, depth=depth)}
            for part, cost in parts.items():
                priced += records_of(part, preset, cost)
    return Study(waits, prices_of(priced))


def test_what_is_over_a_target_is_missed_by_so_much() -> None:
    study = made_up(b16=(45_000, 30, 5, 0, 4.5), b64=(30_000, 24, 4, 0, 3.014))
    found = missed(study, (SHOWN, SMALL))
    assert found == pytest.approx({GATES: 1.5, DEPTH: 1.25, WAITS: 1.25, RANDOM: 1.5})
    assert missed(study, (SHOWN, NEAR)) == {}, "half a per cent is no miss"
    assert WAITS not in missed(study, (SHOWN, SMALL), STILL)
    over = made_up(b16=(70_000, 24, 4, 0, 3.02))
    assert missed(over, (SHOWN, SMALL)) == pytest.approx(
        {GATES: 7 / 3, ALL_IN: 130 / 127, RANDOM: 3.02 / 3}
    )


def test_fewest_misses_come_first_then_the_least() -> None:
    few_but_large = made_up(b16=(40_000, 30, 4, 0, 3.3), b64=(60_000, 24, 4, 0, 3))
    assert nearest(few_but_large, few_but_large.points()) == NEAR
    assert least_miss(few_but_large) == SMALL
    as_many = made_up(b16=(40_000, 24, 4, 0, 3), b64=(60_000, 24, 4, 0, 3))
    assert nearest(as_many, as_many.points()) == SMALL
    still = made_up(b16=(30_000, 24, 5, 0, 4), b64=(60_000, 24, 4, 0, 3))
    assert nearest(still, still.points()) == NEAR
    assert nearest(still, still.points(), STILL) == SMALL
    assert nearest(still, []) is None


def test_a_queue_in_front_is_not_inside() -> None:
    study = made_up(b16=(30_000, 24, 4, 2, 3), b64=(60_000, 24, 4, 0, 3))
    assert waits_inside(study, (PERMUTATION, DRIFT)) == [NEAR]
    lines = verdict(study)
    assert f"Nearest to the six targets: **{SMALL}**. It misses none." in lines
    says = f"Nearest with the queue of permutations inside: **{NEAR}**. "
    assert f"{says}It misses 1 of 6: {GATES} 60,000 for 30,000 (× 2)." in lines


def test_the_table_tells_both_weights_and_what_is_missed() -> None:
    study = made_up(b16=(29_000, 25, 5, 2, 3.01))
    rows = {row[0]: row[1:] for row in targets_table(study).rows}
    weights = "a flip-flop at 4; 5.67 GE"
    assert rows[f"{GATES}, {weights}"][2] == "29,000; 29,000"
    assert rows[f"GE all in, static memory (≈), {weights}"][2] == "89,000; 89,000"
    assert rows[f"GE all in, flip-flops, {weights}"][1:] == ["best possible", "229,000; 229,000"]
    assert rows[LATENCY][2] == "3"
    assert rows[DEPTH][2] == "25 (× 1.04)"
    assert rows[WAITS][2] == "5 (× 1.25)"
    assert rows[RANDOM][2] == "3.01 (× 1.003)"
    assert rows["batches in front, permutation"][2] == "2"
    assert rows["targets missed, of 6"][2] == "2"


def test_the_release_names_the_nearest_point() -> None:
    study = committed_study()
    assert nearest(study, study.points()) == NEAR
    assert set(NAMED) <= {(shape, point) for shape, point in study.prices}
    assert list(missed(study, (SHOWN, NEAR))) == [GATES]
    assert missed(study, (SHOWN, SMALL)) == pytest.approx({WAITS: 1.25, RANDOM: 4.535 / 3})
