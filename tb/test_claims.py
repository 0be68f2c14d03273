"""The claims report: its verdicts follow from the numbers, and the pages from the records."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from netweave import main
from synth.claim import Claim, claims_page, claims_table, notes
from synth.claims import claims
from synth.claims_ofan import ofan_claims
from synth.claims_symphony import symphony_claims
from synth.measured import (
    BARE,
    CELLS,
    CONFIGS,
    CSIG,
    HOP_BLOCK,
    NETWORKS,
    OFAN,
    POFAN,
    SYMPHONY,
    Numbers,
    committed,
    measure,
)
from synth.parts import TOTAL
from synth.tables import PAGES, ROOT, filled


def claim(paper: float | None, counted: float | None) -> Claim:
    return Claim(
        where="I", what="x", unit="GE", paper=paper, counted=counted, how="mapped", why="Since."
    )


@pytest.mark.parametrize(
    ("paper", "counted", "verdict"),
    [
        (100, 100, "yes"),
        (100, 125, "yes"),
        (100, 75, "yes"),
        (100, 126, "no, × 1.26"),
        (100, 74, "no, × 0.74"),
        (100, 4000, "no, × 40"),
        (100, None, "not counted"),
        (None, 100, "-"),
    ],
)
def test_verdicts(paper: float | None, counted: float | None, verdict: str) -> None:
    found = claim(paper, counted)
    assert found.verdict == verdict
    assert notes([found]) == ([] if verdict == "yes" else ["x: Since."])


def test_the_table_has_a_row_a_claim() -> None:
    table = claims_table("Ofan", [claim(100, 44_825.4), replace(claim(None, 7), how="fitted")])
    assert table.title.startswith("Ofan's cost: ")
    assert table.rows == [
        ["I", "x", "100 GE", "44,825 GE", "no, × 448"],
        ["I", "x", "-", "≈7 GE", "-"],
    ]
    assert claims_page([claim(1, 2)]).splitlines()[-3:] == [
        "| I | x | 1 GE | 2 GE | no, × 2 |",
        "",
        "- x: Since.",
    ]


def test_a_bound_holds_below_it() -> None:
    """Section 3.5: "hundreds of KB" for 16k jobs."""
    bound = replace(claim(1000, 133), at_most=True, says="hundreds of KB")
    assert (bound.verdict, replace(bound, counted=1001).verdict) == ("yes", "no, × 1")
    assert claims_table("Symphony", [bound]).rows[0][2] == "hundreds of KB"
    found = {c.what: c for c in symphony_claims(Numbers(committed()))}
    assert found["state of 16k jobs"].verdict == "yes"
    assert found["state of 16k jobs, counted by hand"].counted == pytest.approx(180.224)


def test_numbers_add_up_and_say_whether_one_was_fitted() -> None:
    numbers = Numbers(committed())
    storage, how = numbers.add(OFAN, "storage", "pointer file: storage")
    assert (storage, how) == (CONFIGS[OFAN].pointer_bits, "mapped")
    paths = ("pointer file: read paths", "pointer file: write paths")
    one, other = (numbers.add(OFAN, "logic", path)[0] for path in paths)
    assert numbers.add(OFAN, "logic", *paths) == (pytest.approx(one + other), "fitted")
    with pytest.raises(ValueError, match="^no record of logic of nothing, edge-k64$"):
        numbers.add(OFAN, "logic", "nothing")


def test_the_paper_s_own_arithmetic_holds() -> None:
    """What follows from the parameters alone must come out as the paper says."""
    found = {c.what: c for c in ofan_claims(Numbers(committed()))}
    for what, value in {
        "ranks of the sorting network": 15,
        "compare-and-swap cells a rank": 16,
        "nodes of the combining tree": 80,
        "register file": 20_480,
        "pointers of an edge switch, k = 64": 2_560,
        "pointers of an aggregation switch": 79,
        "permutation P": 20,
        "pointers of pOfan, 8 pipes of 4": 32_768,
    }.items():
        assert found[what].counted == value
        assert found[what].verdict == "yes"


def test_every_number_that_does_not_hold_has_a_reason() -> None:
    for report in claims(Numbers(committed())).values():
        for found in report:
            assert found.note or found.verdict in ("yes", "-"), found.what


def test_the_totals_are_the_sums_of_their_parts() -> None:
    records = [r for r in committed() if r.block != HOP_BLOCK]
    for name in (OFAN, BARE, POFAN, *SYMPHONY, *CSIG):
        mine = [r for r in records if r.preset == name]
        metrics = ["logic", "gating", "flops", "storage", "rom", "total, paper"]
        for metric in metrics + ["sram"] * (name in SYMPHONY or name in CSIG):
            parts = sum(r.value for r in mine if r.metric == metric and r.block != TOTAL)
            (total,) = (r.value for r in mine if r.metric == metric and r.block == TOTAL)
            assert total == pytest.approx(parts, abs=0.1 * len(mine))


@pytest.mark.parametrize("page", PAGES)
def test_pages_are_in_step_with_the_records(page: str) -> None:
    text = (ROOT / page).read_text()
    assert filled(text, PAGES[page]) == text, "run: python -m synth.tables"


def test_a_page_without_its_mark_is_refused() -> None:
    with pytest.raises(ValueError, match="^<!-- weights --> must be marked once, not 0 times$"):
        filled("nothing", (PAGES["docs/costs.md"][0],))


def test_the_quick_report_maps_little_and_says_so() -> None:
    seen: list[str] = []
    numbers, origin = measure(True, seen.append)
    assert len(seen) == len(CELLS) + 3
    assert origin.startswith("Mapped now: the compare-and-swap cells, Combine, Symphony's ")
    assert numbers.add(NETWORKS[0], "logic", "sort, another network")[1] == "mapped"


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["claims", "--quick", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    reports = claims(Numbers(committed()))
    assert len(report["claims"]) == sum(len(found) for found in reports.values())
    assert {row["mechanism"] for row in report["claims"]} == set(reports)
    assert main(["claims", "--quick"]) == 0
    printed = capsys.readouterr().out
    for what in ("sorting network", "decision by logarithms", "first try"):
        assert what in printed
    assert main(["claims", "--quick", "--markdown"]) == 0
    assert "\n## CSIG\n" in capsys.readouterr().out
    assert main(["claims", "--quick", "--json", "--markdown"]) == 2
    assert "not both" in capsys.readouterr().err
