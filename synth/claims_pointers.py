"""What exact rotation costs done well: the banked pointer engines (seed appendix I).

Prices, waiting and power are read from the records of the release, which `synth.pointers`,
`synth.pointer_study` and `synth.power` make.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.ofan.engine import Engine
from models.ofan.study import BACKLOG, CYCLES
from synth.claim import Claim
from synth.pointer_price import Price, committed_prices
from synth.pointer_study import NAME, SHOWN, engine_name, numbers_of
from synth.records import COMMITTED, read_records

SMALL = Engine(kind="queued-banked", banks=16, queues=16, depth=2)
"""The smallest engine that keeps up with every permutation at line rate."""

FAST = Engine(kind="queued-banked", banks=32, queues=32, depth=2)
"""The smallest that serves random keys on all lanes in less than three cycles a batch."""

PERMUTATION, RANDOM = "permutation", "random-100"
PIPES, PIPED = "pofan4-k64", Engine(kind="queued-banked", banks=8, queues=2, depth=2)


def pointer_claims() -> list[Claim]:
    """Return the engines' part of the report: of those that the release has priced."""
    prices = committed_prices()
    waits = numbers_of(read_records(COMMITTED / f"{NAME}.json"))
    found = []
    for engine, says in ((SMALL, "small"), (FAST, "fast")):
        name = engine_name(engine)
        if (SHOWN, name) in prices:
            found += _costs(f"{says}: {name}", prices[SHOWN, name])
        for what, traffic, number, unit in (
            ("worst backlog, permutations at line rate", PERMUTATION, BACKLOG, "batches"),
            ("random keys on all lanes", RANDOM, CYCLES, "cycles a batch"),
        ):
            value = waits[SHOWN, name, traffic][number]
            found.append(_claim(f"{says}: {what}", unit, None, value))
    exact, piped = (SHOWN, engine_name(SMALL)), (PIPES, engine_name(PIPED))
    if exact in prices and piped in prices:
        what = "exact Ofan over pOfan, 8 pipes of 4"
        ratio = prices[exact].gates / prices[piped].gates
        why = "It compares 16 packets with each other, and pOfan's pipes two."
        found.append(_claim(f"{what}, without storage", "x", None, ratio, why))
        ratio = prices[exact].all_in["sram"] / prices[piped].all_in["sram"]
        why = "pOfan keeps eight times the pointers."
        found.append(_claim(f"{what}, all in, static memory", "x", None, ratio, why))
    return [*found, *_power()]


def _claim(what: str, unit: str, paper: float | None, counted: float, why: str = "") -> Claim:
    return Claim(
        where="engine", what=what, unit=unit, paper=paper, counted=counted, how="mapped", why=why
    )


_STORAGES = {
    "sram": (
        "static memory",
        "No sorter, and 8 transistors a bit with half as much again around them, which is assumed.",
    ),
    "latches": ("latches", "3 GE a bit; half as much again is the trees that read them."),
    "flops": ("flip-flops", "The trees that read the bits, and a clock gate a word."),
}


def _costs(says: str, price: Price) -> Iterator[Claim]:
    yield _claim(
        f"{says}, without storage",
        "GE",
        45_000,
        price.gates,
        "The paper's sort, unsort and combine, which leave out how lanes reach pointers; here the"
        " ways to them and the input queue are counted too.",
    )
    for storage, (what, why) in _STORAGES.items():
        yield _claim(f"{says}, all in, {what}", "GE", 127_000, price.all_in[storage], why)
    yield _claim(f"{says}, deepest stage", "gates", None, price.depth)


_POWER = (
    "Measured activity in place of 10 %, with the paper's own energy a gate; wires, clock and"
    " glitches are not in it."
)


def _power() -> Iterator[Claim]:
    records = read_records(COMMITTED / "power.json")
    for record in records:
        if record.metric == "power" and not record.preset.startswith("edge-k12"):
            what = f"power, {record.preset}: {record.block}"
            yield _claim(what, record.unit, 6, record.value, _POWER)
