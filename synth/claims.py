"""The cost claims of all papers, beside what was counted."""

from __future__ import annotations

from synth.claim import Claim
from synth.claims_csig import csig_claims
from synth.claims_ofan import ofan_claims
from synth.claims_symphony import symphony_claims
from synth.measured import Numbers

REPORTS = {"Ofan": ofan_claims, "Symphony": symphony_claims, "CSIG": csig_claims}
"""By mechanism: what makes its part of the report."""


def claims(numbers: Numbers) -> dict[str, list[Claim]]:
    """Return the report, by mechanism."""
    return {mechanism: report(numbers) for mechanism, report in REPORTS.items()}
