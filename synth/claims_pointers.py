"""What exact rotation costs done well: the banked pointer engines (seed appendix I).

Prices, waiting and power are read from the records of the release, which `synth.pointers`,
`synth.pointer_study` and `synth.power` make.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from models.ofan.study import BACKLOG, CYCLES, IN_FRONT
from synth.claim import Claim
from synth.parts import TOTAL
from synth.pointer_parts import BANKS, RATE, SERVICE, Exactness, exactness
from synth.pointer_price import Price, committed_prices
from synth.pointer_study import NAME, SHOWN
from synth.pointer_tables import DRIFT, PERMUTATION, SATURATED, SLACK, Study
from synth.pointer_targets import NEAR, SMALL, TARGETS
from synth.records import COMMITTED, read_records
from synth.table import shown

FAST = "queued-banked, 32 banks, 32 queues, depth 2"
"""A bank and a queue for each lane."""

ENGINES = {"small": SMALL, "nearest": NEAR, "fast": FAST}
"""By what the rows of the report call them."""

GATES, ALL_IN, _, DEPTH, BEHIND, CYCLES_A_BATCH = TARGETS
"""What is asked of an engine; its latency is told on its own page."""


def pointer_claims() -> list[Claim]:
    """Return the engines' part of the report: of those that the release has priced."""
    study = Study(read_records(COMMITTED / f"{NAME}.json"), committed_prices())
    found = []
    for says, name in ENGINES.items():
        if (SHOWN, name) in study.prices:
            found += _costs(f"{says}: {name}", study.prices[SHOWN, name])
        found += _waits(says, name, study)
    found += _whole()
    for pair in exactness(study):
        found += _over_pofan(pair)
    return [*found, *_power()]


def _claim(
    what: str, unit: str, paper: float | None, counted: float, why: str = "", how: str = "mapped"
) -> Claim:
    return Claim(
        where="engine", what=what, unit=unit, paper=paper, counted=counted, how=how, why=why
    )


def _target(
    what: str, unit: str, most: float, counted: float, why: str, how: str = "mapped"
) -> Claim:
    """A bound that this house set for its engines."""
    return Claim(
        where="target",
        what=what,
        unit=unit,
        paper=most,
        counted=counted,
        how=how,
        why=why,
        at_most=True,
        says=f"at most {shown(most)} {unit}",
    )


_BITS = {
    "sram": (
        "static memory (≈)",
        "3 GE a bit by formula, however many macros: 8 transistors, and half as much again around"
        " them, which is assumed.",
        "formula",
    ),
    "latches": (
        "latches (≈)",
        "3 GE a bit by formula; the trees that read them are mapped, and half as much again.",
        "formula",
    ),
    "flops": ("flip-flops", "The trees that read the bits, and a clock gate a word.", "mapped"),
}


def _costs(says: str, price: Price) -> Iterator[Claim]:
    why = (
        "Without failure logic and π, as the paper counts; with the ways to the banks, which it"
        " leaves out, and with the queue in the engine."
    )
    yield _target(f"{says}, without storage", "GE", GATES.most, price.gates(), why)
    heavy = price.gates("Nangate45")
    yield _claim(f"{says}, without storage, 5.67 GE a flip-flop", "GE", None, heavy)
    for storage, (what, text, how) in _BITS.items():
        value = price.all_in(storage)
        if value is not None and storage == "flops":
            yield _claim(f"{says}, all in, {what}", "GE", ALL_IN.most, value, text, how)
        elif value is not None:
            yield _target(f"{says}, all in, {what}", "GE", ALL_IN.most, value, text, how)
    why = "Without failure logic; with it a stage is several times as deep."
    yield _target(f"{says}, deepest stage", "gates", DEPTH.most, price.depth, why)


def _waits(says: str, name: str, study: Study) -> Iterator[Claim]:
    still, drift, random = (study.numbers(name, t) for t in (PERMUTATION, DRIFT, SATURATED))
    for what, numbers in (("permutations", still), ("phases drawn anew", drift)):
        why = "Each period brings its packets at other phases, and the worst of 300 × 50 counts."
        backlog = numbers[BACKLOG]
        what = f"{says}: worst backlog at line rate, {what}"
        yield _target(what, "batches", BEHIND.most, backlog, why, "simulated")
    why = "So much of the queue stands in front of the engine, and its price does not have it."
    front = max(still[IN_FRONT], drift[IN_FRONT])
    what = f"{says}: batches that wait in front of it at line rate"
    yield _claim(what, "batches", None, front, why if front else "", "simulated")
    why = "Half a per cent more or less where the keys are drawn anew."
    what = f"{says}: random keys on all lanes"
    most = CYCLES_A_BATCH.most
    found = _target(what, "cycles a batch", most, random[CYCLES], why, "simulated")
    yield replace(found, paper=most * (1 + SLACK), says=f"{found.says}, ± {SLACK * 100:g} %")


def _whole() -> Iterator[Claim]:
    """The small engine as its preset is built, with failure logic."""
    name = "edge-k64-queued"
    records = {
        record.metric: record.value
        for record in read_records(COMMITTED / f"ofan-{name}.json")
        if record.block == TOTAL
    }
    what = f"small, with failure logic and π: preset {name}"
    why = "Failure logic has tables a bank, and its way on from a pointer is long."
    yield _claim(f"{what}, all in, flip-flops", "GE", 127_000, records["total, paper"], why)
    heavy = records["total, Nangate45"]
    yield _claim(f"{what}, all in, flip-flops, 5.67 GE each", "GE", None, heavy)
    yield _claim(f"{what}, deepest stage", "gates", None, records["depth"])


def _over_pofan(pair: Exactness) -> Iterator[Claim]:
    says = {
        SERVICE: "price of exactness over pOfan, both wait as asked",
        BANKS: "exact over pOfan, banks and queues alike",
        RATE: "exact over pOfan, random keys as fast",
    }
    what = f"{says[pair.same]}: {pair.exact} over 8 × ({pair.piped})"
    why = "It compares packets of 32 lanes with each other, and pOfan's pipes those of four."
    yield _claim(f"{what}, without storage", "x", None, pair.gates, why)
    if pair.same == SERVICE:
        why = "pOfan keeps eight times the pointers; their bits are a formula."
        yield _claim(f"{what}, all in, static memory", "x", None, pair.all_in, why, "formula")


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
