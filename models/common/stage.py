"""A chain of register stages with valid/ready at both ends, cycle by cycle.

All stages move together: the chain advances unless its last stage holds a beat that nobody takes.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Wires:
    """What the chain says in a cycle, before its clock edge."""

    i_ready: bool
    """The chain takes the beat at its input, if there is one."""
    o_valid: bool
    """There is a beat at the output."""
    o_payload: Any
    """That beat; None where there is none."""


class Chain:
    """`depth` stages, 0 and up; with none the two ends are wired together."""

    def __init__(self, depth: int) -> None:
        self.depth = depth
        self.reset()

    def reset(self) -> None:
        """Forget all beats."""
        self.stages: deque[Any] = deque([None] * self.depth)
        """Beat in each stage, the input's first; None where there is none."""

    def cycle(self, beat: Any, o_ready: bool, enabled: bool = True) -> Wires:
        """Spend one clock cycle; return the wires as they were in it.

        Args:
            beat: what is at the input, None for nothing.
            o_ready: the consumer takes a beat in this cycle.
            enabled: the chain may take a beat; stages behind the input move on meanwhile.
        """
        entering = beat if enabled else None
        last = self.stages[-1] if self.depth else entering
        advance = o_ready or last is None
        if advance and self.depth:
            self.stages.pop()
            self.stages.appendleft(entering)
        return Wires(advance and enabled, last is not None, last)
