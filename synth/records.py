"""Cost records: what every table in the docs, the README and the claims report is made from.

A record is one number, `{block, preset, engine, versions, metric, value, unit}`, and for a fitted
one `fitted`, the errors of the fit in words. A file holds the records of one run. Runs leave theirs
in build/records; those of a release are committed in synth/records (`python -m synth.release`).
"""

from __future__ import annotations

import importlib.metadata
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from models.common.errors import InputError
from models.common.files import read_bytes
from rtl.toolchain import yosys_engine, yosys_version
from rtl.verilog import write_whole
from synth.ge import FLOP_GE, Cost

COMMITTED = Path(__file__).parent / "records"
"""Records of the last release."""


@dataclass(frozen=True, kw_only=True)
class Record:
    """One number that was counted or fitted."""

    block: str
    """What was priced, such as `update: read paths`."""
    preset: str
    """Which configuration of it."""
    metric: str
    """`logic`, `gating`, `flops`, `storage`, `rom`, `sram` where there is some, `depth`, or
    `total, ` and a convention; the study of `log` arithmetic has its own."""
    value: float
    unit: str
    """`GE`, `bits`, `gates` or `%`."""
    engine: str
    """Which of the three Yosys engines."""
    versions: dict[str, str] = field(default_factory=dict)
    """Version of the engine and of Amaranth."""
    fitted: str | None = None
    """How good the fit is, if the value was not counted on the block itself."""


def versions() -> dict[str, str]:
    """Return the versions that a number depends on."""
    engine, version = yosys_version().split()
    return {engine: version, "amaranth": importlib.metadata.version("amaranth")}


def records_of(block: str, preset: str, cost: Cost, fitted: str | None = None) -> list[Record]:
    """Return the records of one priced block; what was counted exactly is never marked fitted."""
    numbers = [
        ("logic", cost.logic, "GE"),
        ("gating", cost.gating, "GE"),
        ("flops", cost.flops, "bits"),
        ("storage", cost.storage, "bits"),
        ("rom", cost.rom, "bits"),
        *([("sram", cost.sram, "bits")] if cost.sram else []),
        ("depth", cost.depth, "gates"),
        *((f"total, {convention}", cost.total(convention), "GE") for convention in FLOP_GE),
    ]
    exact = ("gating", "flops", "storage", "rom", "sram")
    return [
        replace(record, fitted=None if record.metric in exact else fitted)
        for record in counted(block, preset, numbers)
    ]


def counted(
    block: str, preset: str, numbers: Iterable[tuple[str, float, str]], digits: int = 1
) -> list[Record]:
    """Return records of numbers (metric, value, unit) that were counted with the chosen Yosys."""
    return [
        Record(
            block=block,
            preset=preset,
            metric=metric,
            value=round(value, digits),
            unit=unit,
            engine=yosys_engine(),
            versions=versions(),
        )
        for metric, value, unit in numbers
    ]


def write_records(path: Path, records: Iterable[Record]) -> None:
    """Write the records of one run as JSON, one a line; the file appears whole or not at all."""
    lines = []
    for record in records:
        data = asdict(record)
        if record.fitted is None:
            del data["fitted"]
        lines.append(json.dumps(data, ensure_ascii=False))
    write_whole(path, "[\n" + ",\n".join(lines) + "\n]\n")


def read_records(path: Path) -> list[Record]:
    """Return the records in a file; raises `InputError` naming it if it holds anything else."""
    try:
        return [Record(**entry) for entry in json.loads(read_bytes(path))]
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(path, None, None, None, f"no cost records: {error}") from None


def changes(
    old: Iterable[Record], new: Iterable[Record]
) -> list[tuple[str, float | None, float | None]]:
    """Return (what, old value, new value) of every number that is not the same in both; None where
    a side does not have it."""
    before = {(r.preset, r.block, r.metric): r.value for r in old}
    after = {(r.preset, r.block, r.metric): r.value for r in new}
    return [
        (" / ".join(key), before.get(key), after.get(key))
        for key in sorted(before.keys() | after.keys())
        if before.get(key) != after.get(key)
    ]
