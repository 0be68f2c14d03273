"""How long something may be held back at a marker's inputs, and when it must come out.

What has been taken takes `latency` cycles, and more only by the cycles in which m_axis stalls or
memories are swept. A packet that is offered waits for these, for an order that goes first, and for
time that comes to it in leaps: as long as `rtl.symphony.window` says at most.
"""

from __future__ import annotations

import math
from typing import Any

from models.symphony.config import SymphonyConfig
from rtl.symphony.window import DIGIT
from tb import timing


class Edges:
    """For how long the way of time to an offered packet may hold it."""

    def __init__(self, config: SymphonyConfig, start: int) -> None:
        self.lengths = (config.window_ns, config.psn_window_ns or config.window_ns)
        self.digits = -(-(config.time_bits + 2) // DIGIT) + 2
        """Cycles from one edge of a window to the next."""
        self._latest = [0, 0]  # window of the latest packet taken, of each kind
        self._told = [0, 0]  # windows that the offered packet has passed, as far as told
        self._crossed = [start, start]  # cycle in which an edge of each was taken

    def offered(self, cycle: int, time: int) -> int:
        """Return how many cycles more the packet may be held, offered at `time` in this cycle."""
        longest = 0
        for kind, window in enumerate(self.lengths):
            windows = time // window - self._latest[kind]
            if windows <= self._told[kind]:
                continue
            self._told[kind] = windows
            if windows >= 2:
                # What the leap takes, behind an addition that may be under way.
                steps = 2 * math.log2(windows) + 2 + 1
                longest = max(longest, math.ceil(self.digits * steps))
            elif cycle - self._crossed[kind] < self.digits:
                longest = max(longest, self.digits)
        return longest

    def taken(self, cycle: int) -> None:
        """The packet is taken."""
        for kind, windows in enumerate(self._told):
            self._latest[kind] += windows
            if windows:
                self._crossed[kind] = cycle
        self._told = [0, 0]


class Timing(timing.Timing):
    """The clock of a bench, from one reset to the next."""

    def __init__(self, config: SymphonyConfig, latency: int, start: int) -> None:
        super().__init__(latency, start, max(2, config.jobs))
        self.edges = Edges(config, start)
        self._granted = self._waited = 0

    @property
    def leaping(self) -> bool:
        """Whether time's way to the packet that is offered may hold it."""
        return self._granted > 0

    def observe(self, cycle: int, stalled: bool, time: int | None) -> bool:
        """Begin a cycle, with a packet offered that has this time, or none; return whether it
        disturbs whatever is inside."""
        if time is not None:
            self._granted += self.edges.offered(cycle, time)
        return self.begin(cycle, stalled)

    def held(self, name: str) -> None:
        """A stream that offers is not ready though nothing disturbs: a leap must be the reason."""
        where = f"cycle {self.cycle}: {name}"
        assert self._granted, f"{where}_tready is 0 though nothing holds it"
        self._waited += 1
        assert self._waited <= self._granted, f"{where} is held for {self._waited} cycles"
        self.last_disturbed = self.cycle

    def watch(self, moved: bool, granted: int = 0) -> None:
        super().watch(moved, self._granted + granted)

    def entered(self, what: Any, packet: bool) -> timing.Expected:
        """A packet, or an order, is taken in this cycle."""
        self._waited = 0
        if packet:
            self._granted = 0
            self.edges.taken(self.cycle)
        return self.expect(what)
