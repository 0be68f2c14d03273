"""A claim beside what was counted, and how a report of claims is shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from synth.table import Table, shown

WITHIN = 0.25
"""A claim holds if what was counted is at most so much more or less."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One line of the report."""

    where: str
    """Section of the paper, or `target` for what this house set out to reach; `-` for what has no
    claim."""
    what: str
    unit: str
    paper: float | None
    """The paper's number, None where it has none."""
    counted: float | None
    """What was counted here, None where gates cannot answer."""
    how: str
    """`arithmetic`, `mapped`, `fitted`, `formula` (mapped but for bits of memory, at so many GE
    each), `simulated`, or `once`: by hand, with sources that are not here."""
    why: str = ""
    """Why the number does not hold, or what it means where the paper has none."""
    at_most: bool = False
    """The paper's number is a bound, not a count."""
    says: str = ""
    """The claim in the paper's words, where it gives no number."""

    @property
    def verdict(self) -> str:
        """`yes`, `no, × RATIO`, `not counted`, or `-` where the paper has no number."""
        if self.paper is None:
            return "-"
        if self.counted is None:
            return "not counted"
        ratio = self.counted / self.paper
        holds = ratio <= 1 if self.at_most else abs(ratio - 1) <= WITHIN
        return "yes" if holds else f"no, × {ratio:.3g}"

    @property
    def note(self) -> str:
        """`why`, where there is something to say."""
        return "" if self.verdict == "yes" else self.why


def claims_table(mechanism: str, found: Sequence[Claim]) -> Table:
    """Return a mechanism's report as a table without its notes, narrow enough for a terminal."""
    return Table(
        title=f"{mechanism}'s cost: the paper and what was counted"
        f" (≈ fitted; holds within {WITHIN:.0%})",
        headers=["paper", "what", "claimed", "counted", "holds?"],
        rows=[
            [
                claim.where,
                claim.what,
                "-" if claim.paper is None else claim.says or f"{shown(claim.paper)} {claim.unit}",
                "-"
                if claim.counted is None
                else f"{'≈' * (claim.how == 'fitted')}{shown(claim.counted)} {claim.unit}",
                claim.verdict,
            ]
            for claim in found
        ],
        numbers=frozenset(("claimed", "counted")),
    )


def notes(found: Sequence[Claim]) -> list[str]:
    """Return why a number does not hold, and what others mean, a line a row that has something."""
    return [f"{claim.what}: {claim.note}" for claim in found if claim.note]


def claims_page(found: Sequence[Claim]) -> str:
    """Return a report as Markdown: the table, and the notes as a list."""
    lines = [f"- {line}\n" for line in notes(found)]
    return f"{claims_table('', found).markdown()}\n{''.join(lines)}"
