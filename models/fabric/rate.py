"""The rate at which hosts send data (seed sections 2.2 and 6.2)."""

from __future__ import annotations

from fractions import Fraction

from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.network import Failures
from models.fabric.rho import rho_max

STEPS = 10**6
"""ρ_max is rounded down to a multiple of 1 / STEPS, so that times stay short integers."""


def sending_rate(config: FabricConfig, flows: Flows, failures: Failures | None) -> Fraction:
    """Return the share of the line rate at which every host sends: the configured one, under
    failures at most ρ_max."""
    if failures is None:
        return config.exact_rate
    most = Fraction(int(rho_max(config, flows, failures) * STEPS), STEPS)
    return min(config.exact_rate, most)
