"""When something may be held back at a hop's inputs, and when it must come out.

What has been taken takes `latency` cycles, and more only by the cycles in which m_axis stalls,
memories are swept, or a reading of counters takes a packet's place. A packet that is offered waits
for these, and for edges of windows: a clock takes one in 3 cycles (`docs/csig/clock.md`).
"""

from __future__ import annotations

from models.csig.config import CsigConfig
from rtl.csig.clock import edge_bits
from rtl.csig.quantize import AHEAD
from tb.timing import Expected, Timing

CYCLES = 3
"""From one edge to the next that a clock can take."""

READING = 2
"""Cycles from a reading of counters to its answer: the latency of `tally`."""


class Edges:
    """Says in which cycles the edges of one clock hold packets."""

    def __init__(self, config: CsigConfig, window_ns: int) -> None:
        self.window_ns = window_ns
        self._bits = edge_bits(config)
        self._next = 0
        self._free = 0  # the first cycle in which the next edge can be taken
        self._taken = 0  # the cycle in which the last one is
        self._loaded = 0
        self.crossed = False
        """Whether time passes edges in this cycle."""
        self.apart = 0
        """Cycles between the last two times that it did."""
        self._crossed = 0

    def load(self, cycle: int, now: int, edge: int) -> None:
        """The next edge is set; only its low bits count, as if it were the nearest such time."""
        half = 1 << self._bits - 1
        self._next = now - ((now - edge + half) % (2 * half) - half)
        self._free, self._loaded = cycle + CYCLES, cycle
        self._taken = cycle

    def observe(self, cycle: int, now: int) -> None:
        """Begin a cycle."""
        self.crossed = now >= self._next and cycle != self._loaded
        if not self.crossed:
            return
        self.apart, self._crossed = cycle - self._crossed, cycle
        passed = (now - self._next) // self.window_ns + 1
        self._next += passed * self.window_ns
        self._taken = max(cycle, self._free) + CYCLES * (passed - 1)
        self._free = self._taken + CYCLES

    def held(self, cycle: int) -> int:
        """Return how many cycles a packet that is offered has to wait."""
        return max(self._taken - cycle, int(cycle == self._loaded))


class HopTiming(Timing):
    """The clock of a bench, from one reset to the next."""

    def __init__(self, config: CsigConfig, latency: int, start: int, lengths: list[int]) -> None:
        super().__init__(latency, start, max(2, config.ports))
        self.edges = [Edges(config, length) for length in lengths[: config.window_clocks]]
        self._swap: tuple[int, int] | None = None

    def held(self) -> int:
        """Return for how many cycles edges hold a packet that is offered now."""
        return max((edges.held(self.cycle) for edges in self.edges), default=0)

    def swapped(self) -> None:
        """Tables are swapped in this cycle."""
        self._swap = self.cycle, self.disturbed

    def write_held(self) -> None:
        """A word for a table is not taken in this cycle: a swap must be the reason."""
        where = f"cycle {self.cycle}: s_table"
        assert self._swap, f"{where}_tready is 0 though nothing holds it"
        waited, disturbed = self.cycle - self._swap[0], self.disturbed - self._swap[1]
        longest = self.latency + AHEAD + disturbed
        assert waited <= longest, f"{where} is held for {waited} cycles behind a swap"

    def reading(self, what: object) -> Expected:
        """A reading of counters is taken in this cycle."""
        return self.expect(what, READING)
