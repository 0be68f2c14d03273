"""Proofs of Symphony's combinational pieces, for all inputs, against what they are said to be."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Array, Const, Mux, Signal, Value

import rtl.common.log2
import rtl.symphony.progress
from models.common.log2 import log2_table
from models.symphony.config import SymphonyConfig
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.small import SMALL

pytestmark = pytest.mark.formal


def attached(bench: Bench, unit: Any, name: str) -> dict[str, Value]:
    """Let anything be at a unit's inputs; return its ports."""
    bench.m.submodules[name] = unit
    ports = {port: getattr(unit, port) for port in unit.signature.members}
    for port, value in ports.items():
        if unit.signature.members[port].flow.name == "In":
            bench.m.d.comb += value.eq(bench.free(value.shape(), f"{name}_{port}"))
        else:
            bench.see(f"{name}_{port}", value)
    return ports


def state_units(module: ModuleType = rtl.symphony.progress) -> Bench:
    """Steps, Level and Balance."""
    bench = Bench()
    for wrap in ("serial", "plain"):
        c = SymphonyConfig(**{**SMALL, "step_bits": 4, "step_wrap": wrap})
        p = attached(bench, module.Steps(c), wrap)
        step, step_min = p["step"], p["step_min"]
        distance = Const(0, 5)
        for d in range(1, 16):
            # Forward from step_min, where steps wrap; 16 is 0 again.
            distance = Mux((step_min + d)[:4] == step, d, distance)
        less = (distance >= 8) if wrap == "serial" else (step < step_min)
        bench.check(f"{wrap}_equal", p["equal"] == (step == step_min))
        bench.check(f"{wrap}_behind", p["behind"] == less)
        bench.check(f"{wrap}_ahead", p["ahead"] == (~less & (step != step_min)))
        following = Mux(step == 15, 0 if wrap == "serial" else 15, step + 1)
        bench.check(f"{wrap}_following", p["following"] == following)

    c = SymphonyConfig(**{**SMALL, "alpha_max": 15})
    p = attached(bench, module.Level(c), "level")
    alpha, ceiling = p["alpha"], p["alpha_max"]
    bench.assume((alpha >= 1) & (ceiling >= 1))
    delta = Mux(p["above"], 1, -1)
    moved = alpha + delta
    moved = Mux(moved < 1, 1, Mux(moved > ceiling, ceiling, moved))
    falls = p["enough"] & ~p["above"]
    # A ceiling lowered below α: it comes down to it, at once when it should rise.
    lowered = falls & (alpha > ceiling)
    bench.check("level", lowered | (p["moved"] == Mux(p["enough"], moved, alpha)))
    bench.check("level_lowered", ~lowered | (p["moved"] == alpha - 1))

    for tau in (0, 0.25, 0.3, 1):
        c = SymphonyConfig(**{**SMALL, "tau": tau})
        name = f"balance{tau}".replace(".", "_")
        p = attached(bench, module.Balance(c), name)
        bench.assume(p["tau"] <= c.tau_scale)
        moved = p["balance"] + Mux(p["outpacing"], c.tau_scale - p["tau"], -p["tau"])
        limit = 1 << c.balance_bits - 1
        moved = Mux(moved > limit - 1, limit - 1, Mux(moved < -limit, -limit, moved))
        bench.check(name, p["counted"] == moved)
    return bench


def test_steps_level_balance() -> None:
    prove(state_units(), "state-units", depth=2, induction=False)


FAULTS = {
    "steps": ("c.step_bits if wraps else c.step_bits + 1", "c.step_bits"),
    "level": ("Mux(alpha > 1, alpha - 1, alpha)", "alpha - 1"),
    "balance": ("upper > top", "upper > top + 1"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_state_units_are_seen(fault: str) -> None:
    broken = state_units(changed(rtl.symphony.progress, *FAULTS[fault]))
    disprove(broken, f"state-units {fault}", depth=2)


def logarithms(module: ModuleType = rtl.common.log2) -> Bench:
    """Every value of 24 bits, and of few, against the table that the model makes."""
    bench = Bench()
    for width, mantissa, fraction in ((24, 6, 6), (24, 7, 5), (5, 6, 3), (1, 2, 2), (7, 2, 9)):
        name = f"log{width}_{mantissa}_{fraction}"
        p = attached(bench, module.Log2(width, mantissa, fraction), name)
        table = Array(log2_table(mantissa, fraction, width))
        expected = Signal.like(p["code"], name=f"{name}_expected")
        for exponent in range(width):
            with bench.m.If((p["value"] >> exponent) == 1):
                below = p["value"][:exponent] << mantissa
                fraction_code = table[(below >> exponent)[:mantissa]]
                bench.m.d.comb += expected.eq((exponent << fraction) + fraction_code)
        bench.check(name, p["code"] == expected)
    return bench


def test_log2() -> None:
    prove(logarithms(), "log2", depth=2, induction=False)


def test_a_fault_of_log2_is_seen() -> None:
    broken = logarithms(changed(rtl.common.log2, "Mux(upper, rest, rest << half)", "rest << half"))
    disprove(broken, "log2-broken", depth=2)
