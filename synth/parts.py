"""A design priced part by part: its rows, their records, and the table they are shown in."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass

from rtl.verilog import BUILD
from synth.ge import FLOP_GE, Cost
from synth.records import Record, records_of, write_records
from synth.table import Table, shown
from synth.yosys import digest, keep, recall, sources

Progress = Callable[[str], None]
"""Hears what is mapped next."""

TOTAL = "total"


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the cost table: a part of a design."""

    part: str
    """Which part, `stage` or `stage: what of it`."""
    cost: Cost
    fitted: str | None = None
    """Errors of the fit, for a part that is too large to map."""


def price_preset(
    mechanism: str, name: str, config: object, rows: Callable[[], Iterable[Row]]
) -> list[Record]:
    """Price a configuration and return its records, also left in build/records/MECHANISM-NAME.json.

    What was mapped before is not mapped again, so a run that was stopped goes on where it was. A
    run like one before, with no source file changed since, does not even elaborate the blocks.
    """
    key = digest(mechanism, sources(), repr(config))
    kept = recall(key)
    if kept is None:
        found = list(rows())
        keep(key, {"rows": [asdict(row) for row in found]})
    else:
        found = [Row(**row | {"cost": Cost(**row["cost"])}) for row in kept["rows"]]
    records = [r for row in found for r in records_of(row.part, name, row.cost, row.fitted)]
    write_records(BUILD / "records" / f"{mechanism}-{name}.json", records)
    return records


def cost_table(title: str, records: Sequence[Record]) -> Table:
    """Return the costs of one configuration, a part a row; ≈ marks what holds a fitted number."""
    parts: dict[str, dict[str, Record]] = {}
    for record in records:
        parts.setdefault(record.block, {})[record.metric] = record
    has_sram = any(record.metric == "sram" for record in records)
    columns = {
        "logic, GE": "logic",
        "clock gates, GE": "gating",
        "flip-flops": "flops",
        "storage bits": "storage",
        "SRAM bits": "sram",
        **{f"total, GE ({convention})": f"total, {convention}" for convention in FLOP_GE},
        "depth, gates": "depth",
    }
    del columns["storage bits" if has_sram else "SRAM bits"]
    rows = []
    for part, numbers in parts.items():
        cells = [numbers.get(metric) for metric in columns.values()]
        rows.append(
            [part, *(f"{'≈' * bool(r.fitted)}{shown(r.value)}" if r else "0" for r in cells)]
        )
    first = records[0]
    return Table(
        title=f"{title}, {first.engine} {first.versions[first.engine]}",
        headers=["part", *columns],
        rows=rows,
        numbers=frozenset(columns),
    )


def fits(records: Sequence[Record]) -> list[str]:
    """Return a line for each fitted part: how good the fit is."""
    texts = {r.block: r.fitted for r in records if r.fitted and r.block != TOTAL}
    return [f"≈ {part}: fitted to {fitted}" for part, fitted in texts.items()]
