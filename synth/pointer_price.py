"""What pointer engines cost, for the study: the totals of the records that price them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from models.ofan.engine import STORAGES, Engine
from synth.parts import TOTAL
from synth.pointer_study import engine_name
from synth.records import COMMITTED, Record, read_records

PRICES = COMMITTED / "pointer-prices.json"
"""The records of the release; engines that were not mapped are missing."""


def preset_name(switch: str, engine: Engine) -> str:
    """Return the preset of the records that price an engine of a switch of the study, such as
    `edge-k64: queued-banked, 16 banks, 16 queues, depth 2: latches`."""
    return f"{switch}: {engine_name(engine)}: {engine.storage}"


@dataclass(frozen=True, kw_only=True)
class Price:
    """What an engine costs, GE with a flip-flop at 4 GE."""

    gates: float
    """Without the bits of storage."""
    depth: float
    """Gates in a row in the deepest stage."""
    all_in: Mapping[str, float]
    """With storage, by what holds the pointers; what was not mapped is missing."""


STORE = "pointers"
"""Begins the names of the parts that are storage."""

INITIAL = "initial pointers (ROM)"

Prices = Mapping[tuple[str, str], Price]
"""By switch and engine."""


def committed_prices() -> Prices:
    """Return the prices of the release."""
    return prices_of(read_records(PRICES)) if PRICES.exists() else {}


def prices_of(records: Iterable[Record]) -> Prices:
    """Return the prices that records tell; the table of initial pointers, which the paper does not
    count, is in none of them."""
    parts: dict[tuple[str, str], dict[str, dict[str, dict[str, float]]]] = {}
    for record in records:
        switch, engine, storage = record.preset.split(": ")
        by_part = parts.setdefault((switch, engine), {}).setdefault(storage, {})
        by_part.setdefault(record.block, {})[record.metric] = record.value
    found = {}
    for point, by_storage in parts.items():
        first = next(by_storage[storage] for storage in STORAGES if storage in by_storage)
        found[point] = Price(
            gates=sum(cost["total, paper"] for part, cost in first.items() if not _is_apart(part)),
            depth=first[TOTAL]["depth"],
            all_in={
                storage: by_part[TOTAL]["total, paper"] - by_part[INITIAL]["total, paper"]
                for storage, by_part in by_storage.items()
            },
        )
    return found


def _is_apart(part: str) -> bool:
    return part in (TOTAL, INITIAL) or part.startswith(STORE)
