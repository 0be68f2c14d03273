"""Symphony's paper and its cost, beside what was counted (seed sections 3.5 and 4.7).

The paper gives one number. For scale stand beside the gates of one decision what the stateful ALUs
of programmable switches come to, which the paper's prototype decides with.
"""

from __future__ import annotations

from collections.abc import Iterator

from models.symphony.accuracy import largest_error
from models.symphony.config import SymphonyConfig
from models.symphony.memory import memory
from synth.claim import Claim
from synth.measured import SYMPHONY, SYMPHONY_EXACT, SYMPHONY_LOG, Numbers
from synth.parts import TOTAL
from synth.symphony import DECISION

HAND_COUNT = {"step": 16, "PSN": 24, "α": 8, "two counters": 32, "window tag": 8}
"""Bits a job that the paper's variables come to, counted by hand from the text alone."""

DOMINO = {
    "raw": 806,
    "pred_raw": 1_514,
    "if_else_raw": 2_099,
    "sub": 3_781,
    "nested_ifs": 9_165,
    "pair": 16_565,
}
"""GE of the stateful atoms of the Domino paper at 32 bits, logic alone: mapped once by the flow of
docs/costs.md from sources that are public and not part of this house."""


def symphony_claims(numbers: Numbers) -> list[Claim]:
    """Return Symphony's part of the report: the paper's number first, then what it leaves out."""
    return [*_memories(), *_gates(numbers), *_scale()]


def _row(what: str, unit: str, counted: float, how: str, why: str = "") -> Claim:
    return Claim(where="-", what=what, unit=unit, paper=None, counted=counted, how=how, why=why)


def _memories() -> Iterator[Claim]:
    config = SYMPHONY[SYMPHONY_LOG]
    jobs, found = config.jobs, memory(config)
    by_hand = sum(HAND_COUNT.values())
    yield Claim(
        where="3.5",
        what="state of 16k jobs",
        unit="KB",
        paper=1000,
        at_most=True,
        says="hundreds of KB",
        counted=jobs * found.job_bits(jobs) / 8000,
        how="arithmetic",
    )
    yield _row(
        "state of 16k jobs, counted by hand",
        "KB",
        jobs * by_hand / 8000,
        "arithmetic",
        "; ".join(f"{name} {bits}" for name, bits in HAND_COUNT.items()) + f": {by_hand} bits.",
    )
    yield _row(
        "state of a job",
        "bits",
        found.job_bits(jobs),
        "arithmetic",
        f"A word of {config.word_bits} bits, and the job's share of the windows' numbers. Both"
        " counters are one balance, psn_rec is its logarithm, and 64 jobs share a window tag that"
        " never comes again.",
    )
    exact = memory(SYMPHONY[SYMPHONY_EXACT])
    yield _row("state of a job, exact arithmetic", "bits", exact.job_bits(jobs), "arithmetic")
    yield _row(
        "counters of 16k jobs",
        "KB",
        found.counters / 8000,
        "arithmetic",
        "Five of 32 bits a job, for the control plane to read: no part of Algorithm 1.",
    )


def _gates(n: Numbers) -> Iterator[Claim]:
    for name, what, why in (
        (
            SYMPHONY_LOG,
            "decision by logarithms",
            "The logarithms of the PSN, of α and of the random number, three additions and a"
            f" comparison; the probability is at most {off(SYMPHONY[SYMPHONY_LOG]):.2g} % off.",
        ),
        (
            SYMPHONY_EXACT,
            "decision by multiplication",
            "Three products, a shift and a comparison; the probability is at most"
            f" {off(SYMPHONY[SYMPHONY_EXACT]):.2g} % off.",
        ),
    ):
        parts = DECISION[SYMPHONY[name].arithmetic]
        yield _row(what, "GE", *n.add(name, "logic", *parts), why)
        depth = max(n.add(name, "depth", part)[0] for part in parts)
        yield _row(f"{what}: longest path of a stage", "gates", depth, "mapped")
    for name, form in ((SYMPHONY_LOG, "logarithms"), (SYMPHONY_EXACT, "multiplication")):
        yield _row(f"all of it, by {form}: logic", "GE", *n.add(name, "logic", TOTAL))
        yield _row(f"all of it, by {form}: total", "GE", *n.add(name, "total, paper", TOTAL))
        depth, part = n.deepest(name)
        yield _row(f"all of it, by {form}: longest path", "gates", depth, "mapped", f"In {part}.")


def off(config: SymphonyConfig) -> float:
    """Return the largest error of the probability, in percent."""
    return 100 * largest_error(config)


def _scale() -> Iterator[Claim]:
    for name, gates in DOMINO.items():
        why = "For scale: stateful ALUs of 32 bits, logic alone, mapped once by the same flow."
        what = f"Domino atom {name}"
        yield _row(what, "GE", gates, "once", why if name == "raw" else "")
