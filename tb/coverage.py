"""Functional coverage as data: named bins, counted by a bench, asserted, kept as JSON.

    python -m tb.coverage        # a table of everything counted under build/coverage

A bin is something a test must have seen at least once. Bins are made from a configuration, so one
that a configuration cannot reach does not exist there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

BUILD = Path(__file__).resolve().parent.parent / "build" / "coverage"


@dataclass(frozen=True)
class Bin:
    """One thing to be seen: its name, what it means, and the cocotb test that must see it."""

    name: str
    meaning: str
    test: str


class Coverage:
    """Counts of the bins of one run; `run` names the run and its file."""

    def __init__(self, run: str, bins: Iterable[Bin]) -> None:
        self.run = run
        self.bins = {bin.name: bin for bin in bins}
        self.counts = dict.fromkeys(self.bins, 0)

    def hit(self, name: str) -> None:
        """Count a bin; one that does not exist in this configuration is left out."""
        if name in self.counts:
            self.counts[name] += 1

    def missing(self, test: str | None = None) -> list[str]:
        """Return the bins never hit, of all tests or of `test`."""
        return [
            name
            for name, bin in self.bins.items()
            if not self.counts[name] and test in (None, bin.test)
        ]

    def check(self, test: str) -> None:
        """Raise `AssertionError` naming every bin that `test` had to hit and did not."""
        missing = self.missing(test)
        assert not missing, f"{self.run}: not covered by {test}: {', '.join(missing)}"

    def save(self, folder: Path = BUILD) -> Path:
        """Write the counts as JSON into `folder`; return the file."""
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / f"{self.run}.json"
        beside = file.with_suffix(".part")
        beside.write_text(json.dumps({"run": self.run, "bins": self.counts}, indent=1) + "\n")
        return beside.replace(file)

    def summary(self, tests: Iterable[str]) -> str:
        """Return `HIT of ALL bins` of some tests, and which were not hit; those that differ by a
        number alone are named once."""
        bins = [bin.name for bin in self.bins.values() if bin.test in tests]
        missing = [name for name in bins if not self.counts[name]]
        kinds = dict.fromkeys(map(kind, missing))
        tail = f"; not hit: {', '.join(kinds)}" if kinds else ""
        return f"{len(bins) - len(missing)} of {len(bins)} bins{tail}"


def kind(name: str) -> str:
    """Return the name of a bin with N for a number that is a word of it."""
    return re.sub(r"(?<= )\d+(?= |$)", "N", name)


def told(page: str, heading: str) -> set[tuple[str, ...]]:
    """Return (test, bin, meaning) of the table below a heading of a page."""
    section = page.partition(f"\n### {heading}\n")[2].partition("\n#")[0]
    return set(re.findall(r"^\| (\w+) \| ([^|]+) \| ([^|]+) \|$", section, re.MULTILINE))


def load(folder: Path = BUILD) -> dict[str, dict[str, int]]:
    """Return {run: {bin: count}} of all files in `folder`."""
    found = [json.loads(file.read_text()) for file in sorted(folder.glob("*.json"))]
    return {entry["run"]: entry["bins"] for entry in found}


def table(runs: dict[str, dict[str, int]]) -> Table:
    """Return a table of bins; those that differ by a number alone share a row."""
    rows: dict[str, dict[str, list[int]]] = {}
    for run, bins in runs.items():
        for name, count in bins.items():
            rows.setdefault(kind(name), {}).setdefault(run, []).append(count)
    made = Table("bin", title="Functional coverage")
    for title in ("bins hit", "of", "runs", "hits", "least in a run"):
        made.add_column(title, justify="right")
    for name, by_run in rows.items():
        counts = [count for some in by_run.values() for count in some]
        hit = sum(map(bool, counts))
        cells = (hit, len(counts), len(by_run), sum(counts), min(counts))
        made.add_row(name, *(f"{cell:,}" for cell in cells), style=None if all(counts) else "red")
    return made


if __name__ == "__main__":
    Console().print(table(load()))
