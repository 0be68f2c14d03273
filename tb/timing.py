"""When what has gone into a pipeline must come out of it.

What has been taken takes as many cycles as its latency says, and more only by the cycles in which
something disturbs the pipeline: a bench says in each cycle whether that is so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SLACK = 8  # cycles of the watch, beyond what may be held back


@dataclass(frozen=True, slots=True)
class Expected:
    """Something inside."""

    taken: int
    """Cycle."""
    disturbed: int
    """Cycles disturbed until then."""
    latency: int
    """Cycles until it comes out, undisturbed."""
    what: Any
    """What must come out."""


class Timing:
    """The clock of a bench, from one reset to the next.

    Args:
        latency: cycles. start: the present cycle. sweep: cycles of memories' initialisation.
    """

    def __init__(self, latency: int, start: int, sweep: int) -> None:
        self.latency = latency
        self.cycle = start
        self.swept_at = start + sweep
        """First cycle in which the memories are swept."""
        self.disturbed, self.last_disturbed = 0, start
        self._moved_at = start

    @property
    def sweeping(self) -> bool:
        """Whether memories are still being swept."""
        return self.cycle < self.swept_at

    def skip(self, cycle: int) -> None:
        """Go on in a later cycle: nothing was offered or inside meanwhile."""
        self.cycle = self.last_disturbed = self._moved_at = cycle

    def begin(self, cycle: int, disturbs: bool) -> bool:
        """Begin a cycle; return whether it disturbs whatever is inside, as the sweep does too."""
        self.cycle = cycle
        disturbs |= self.sweeping
        if disturbs:
            self.disturbed += 1
            self.last_disturbed = cycle
        return disturbs

    def watch(self, moved: bool, granted: int = 0) -> None:
        """Give up where no stream has moved for longer than any pause, the sweep and what has been
        `granted`."""
        if moved or self.sweeping:
            self._moved_at = self.cycle
        stuck = self.cycle - self._moved_at
        most = 4 * self.latency + SLACK + granted
        assert stuck <= most, f"cycle {self.cycle}: stuck for {stuck} cycles"

    def expect(self, what: Any, latency: int | None = None) -> Expected:
        """Something is taken in this cycle."""
        return Expected(self.cycle, self.disturbed, latency or self.latency, what)

    def came(self, where: str, entry: Expected) -> None:
        """It is there for the first time in this cycle."""
        late, held = self.cycle - entry.taken - entry.latency, self.disturbed - entry.disturbed
        assert 0 <= late <= held, (
            f"{where}: latency {late + entry.latency}, not {entry.latency}; {held} cycles disturbed"
        )

    def missing(self, where: str, entry: Expected) -> None:
        """It is not there in this cycle."""
        due = entry.taken + entry.latency + self.disturbed - entry.disturbed
        assert self.cycle < due, f"{where}: not there; taken in cycle {entry.taken}, due in {due}"
