"""What a hop is set to as a whole: its ports, and the software agents of those that have one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from models.common.check import integer
from models.csig.config import CsigConfig
from models.csig.port import Port
from models.csig.signals import BY_NAME

LONGEST_NS = 2**30
"""Longest delay and timeout of an agent, ns: about a second."""


@dataclass(frozen=True, kw_only=True)
class Agent:
    """How a port's software agent works (`models.csig.hst`): the seed's updates come "around every
    100 microseconds"."""

    period_ns: int = 100_000
    """Time between two readings of a port's counters, ns, 100 to 2**20 - 1."""
    delay_ns: int = 0
    """Time from a reading until its value is in the table, ns, 0 to 2**30."""
    timeout_ns: int | None = None
    """How long a value may be used after it was written, ns, 0 to 2**30; None: three periods."""

    def __post_init__(self) -> None:
        integer("period_ns", self.period_ns, 100, 2**20 - 1)
        integer("delay_ns", self.delay_ns, 0, LONGEST_NS)
        if self.timeout_ns is None:
            object.__setattr__(self, "timeout_ns", 3 * self.period_ns)
        integer("timeout_ns", self.timeout_ns, 0, LONGEST_NS)

    @property
    def timeout(self) -> int:
        """`timeout_ns` as the integer it is after construction."""
        assert self.timeout_ns is not None
        return self.timeout_ns


@dataclass(frozen=True, kw_only=True)
class Setup:
    """The ports of a hop, in the order of their numbers, and their agents."""

    ports: tuple[Port, ...]
    agents: Mapping[int, Agent] = field(default_factory=dict)
    """By the number of the port; where one is missing, the defaults hold."""

    def agent(self, port: int) -> Agent:
        """Return how the agent of a port works."""
        return self.agents.get(port, Agent())

    @property
    def windows(self) -> list[int]:
        """The window lengths that there are, rising: the clocks of the hardware in their order."""
        return sorted({port.window_ns for port in self.ports})

    def config(self, **changes: object) -> CsigConfig:
        """Return the hardware that these ports need, with `changes` to its other fields."""
        by_agent = any(port.origin(name) == "agent" for port in self.ports for name in BY_NAME)
        fields = {
            "ports": max(port.id for port in self.ports) + 1,
            "clocks": len(self.windows),
            "longest_window_ns": max(CsigConfig.longest_window_ns, *self.windows),
            "sources": "both" if by_agent else "native",
        }
        return CsigConfig(**(fields | changes))  # type: ignore[arg-type]
