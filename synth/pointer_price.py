"""What pointer engines cost, for the study: by part, from the records that price them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from models.ofan.engine import STORAGES, Engine
from synth.parts import TOTAL
from synth.pointer_study import SHOWN, engine_name
from synth.records import COMMITTED, Record, read_records

PRICES = COMMITTED / "pointer-prices.json"
"""The records of the release; engines that were not mapped are missing."""

SORTED = COMMITTED / "ofan-edge-k64-masks0.json"
"""Records of the paper's pipeline for the running example, without failure logic."""

GROUPS = ", groups of "
"""Begins the end of a point's name that tells how many lanes are compared with each other, where
they are not as many as `Engine` has for a default."""

STORE = "pointers"
"""Begins the names of the parts that are storage, its read and write paths included."""

INITIAL = "initial pointers (ROM)"

ORDER = "π"
"""The part that turns positions into uplinks."""

Costs = Mapping[str, Mapping[str, float]]
"""Metrics of a cost record, by part."""


def is_formula(storage: str, part: str) -> bool:
    """Whether a part is not mapped: a static bit is `SRAM_GE` times `SRAM_PERIPHERY` however many
    macros there are, a latch `LATCH_GE`, whatever stands around it."""
    return (storage, part) in (("sram", f"{STORE}: macros"), ("latches", f"{STORE}: storage"))


def point_name(engine: Engine) -> str:
    """Return the name of an engine as far as it matters to its price, but for its storage."""
    groups = engine.kind == "matched-banked" and engine.group != Engine().group
    return f"{engine_name(engine)}{GROUPS}{engine.group}" if groups else engine_name(engine)


def engine_of(point: str) -> str:
    """Return the name that an engine has in the study, where groups do not matter."""
    return point.partition(GROUPS)[0]


def preset_name(switch: str, engine: Engine) -> str:
    """Return the preset of the records that price an engine of a switch of the study, such as
    `edge-k64: queued-banked, 16 banks, 16 queues, depth 2: latches`."""
    return f"{switch}: {point_name(engine)}: {engine.storage}"


@dataclass(frozen=True, kw_only=True)
class Price:
    """What an engine costs, without the table of initial pointers, which the paper does not count;
    GE by the weight of a flip-flop (`synth.ge.FLOP_GE`)."""

    by_storage: Mapping[str, Costs]
    """The costs of its parts and their `total`, by what holds the pointers; what was not mapped is
    missing."""
    fitted: bool = False
    """Whether a part was too large to map."""

    @property
    def logic(self) -> Costs:
        """The parts that are no storage."""
        first = next(iter(self.by_storage.values()))
        return {part: cost for part, cost in first.items() if not _is_apart(part)}

    def gates(self, convention: str = "paper") -> float:
        """Return GE without the bits of storage."""
        return sum(cost[f"total, {convention}"] for cost in self.logic.values())

    def all_in(self, storage: str, convention: str = "paper") -> float | None:
        """Return GE with storage, or None if it was not mapped."""
        parts = self.by_storage.get(storage)
        if parts is None:
            return None
        metric = f"total, {convention}"
        return sum(parts[part][metric] for part in parts if part not in (TOTAL, INITIAL))

    @property
    def depth(self) -> float:
        """Gates in a row in the deepest stage: of the whole, or where there is no total of the
        parts."""
        first = next(iter(self.by_storage.values()))
        whole = first.get(TOTAL)
        return whole["depth"] if whole else max(cost["depth"] for cost in first.values())


Prices = Mapping[tuple[str, str], Price]
"""By switch and point."""


def committed_prices() -> Prices:
    """Return the prices of the release."""
    found = read_records(PRICES) if PRICES.exists() else []
    return prices_of([*sorted_records(), *found])


def sorted_records() -> list[Record]:
    """Return the records of the paper's pipeline, named as those of other engines and priced as
    they are, with the order plain.

    The ways of 32 lanes to its file are no storage here: banks have them outside their memories.
    """
    found = []
    for record in read_records(SORTED):
        if record.block not in (ORDER, TOTAL):
            block = f"{STORE}: storage" if record.block == _FILE else record.block
            found.append(replace(record, preset=f"{SHOWN}: {Engine().kind}: flops", block=block))
    return found


_FILE = "pointer file: storage"


def prices_of(records: Iterable[Record]) -> Prices:
    """Return the prices that records tell."""
    parts: dict[tuple[str, str], dict[str, dict[str, dict[str, float]]]] = {}
    fitted = set()
    for record in records:
        switch, engine, storage = record.preset.split(": ")
        by_part = parts.setdefault((switch, engine), {}).setdefault(storage, {})
        by_part.setdefault(record.block, {})[record.metric] = record.value
        if record.fitted:
            fitted.add((switch, engine))
    return {
        point: Price(
            by_storage={s: by_storage[s] for s in STORAGES if s in by_storage},
            fitted=point in fitted,
        )
        for point, by_storage in parts.items()
    }


def _is_apart(part: str) -> bool:
    return part in (TOTAL, INITIAL) or part.startswith(STORE)
