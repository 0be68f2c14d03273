"""What pointer engines cost, for the study: the totals of the records that price them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from models.ofan.engine import STORAGES, Engine
from synth.ge import FLOP_GE
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


Prices = Mapping[tuple[str, str], Price]
"""By switch and engine."""


def committed_prices() -> Prices:
    """Return the prices of the release."""
    return prices_of(read_records(PRICES)) if PRICES.exists() else {}


def prices_of(records: Iterable[Record]) -> Prices:
    """Return the prices that records tell."""
    totals: dict[tuple[str, str], dict[str, dict[str, float]]] = {}
    for record in records:
        if record.block == TOTAL:
            switch, engine, storage = record.preset.split(": ")
            totals.setdefault((switch, engine), {}).setdefault(storage, {})[record.metric] = (
                record.value
            )
    found = {}
    for point, by_storage in totals.items():
        first = next(by_storage[storage] for storage in STORAGES if storage in by_storage)
        found[point] = Price(
            gates=first["logic"] + first["gating"] + FLOP_GE["paper"] * first["flops"],
            depth=max(total["depth"] for total in by_storage.values()),
            all_in={storage: total["total, paper"] for storage, total in by_storage.items()},
        )
    return found
