"""The engines' rows of the claims report: what is a bound, and what is a formula."""

from __future__ import annotations

import pytest

from synth.claim import Claim
from synth.claims_pointers import ENGINES, pointer_claims


def rows(says: str) -> dict[str, Claim]:
    """Return the rows that begin so, by the rest of their names."""
    begins = (f"{says}: {ENGINES[says]}, ", f"{says}: ")
    return {
        claim.what.removeprefix(begins[0]).removeprefix(begins[1]): claim
        for claim in pointer_claims()
        if claim.what.startswith(says)
    }


@pytest.mark.parametrize("says", ENGINES)
def test_a_bound_is_not_passed_by_a_quarter(says: str) -> None:
    """Latches are above the paper's sum in every engine: within 25 % of it is no yes."""
    found = rows(says)
    latches = found["all in, latches (≈)"]
    assert latches.counted and latches.counted > 127_000
    assert latches.verdict.startswith("no, × 1.")
    assert found["all in, static memory (≈)"].how == latches.how == "formula"
    assert found["random keys on all lanes"].how == "simulated"


def test_what_each_engine_misses() -> None:
    missed = {
        says: [
            what for what, claim in rows(says).items() if claim.at_most and claim.verdict != "yes"
        ]
        for says in ENGINES
    }
    latches = "all in, latches (≈)"
    assert missed["small"] == [
        latches,
        "worst backlog at line rate, phases drawn anew",
        "random keys on all lanes",
    ]
    assert missed["nearest"] == ["without storage", latches]
    assert missed["fast"] == [
        "without storage",
        "all in, static memory (≈)",
        latches,
        "deepest stage",
    ]


def test_the_whole_preset_stands_beside_the_small_engine() -> None:
    found = {
        claim.what: claim.counted for claim in pointer_claims() if "failure logic" in claim.what
    }
    whole, heavy, depth = found.values()
    assert whole and heavy and depth
    assert whole > 400_000 and heavy > whole and depth > 90
