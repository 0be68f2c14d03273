"""Memory that Symphony adds to a switch (seed section 3.5, scalability)."""

from __future__ import annotations

from dataclasses import dataclass

from models.symphony.beat import counters
from models.symphony.config import SymphonyConfig
from models.symphony.touch import row_jobs, serial_bits


@dataclass(frozen=True, kw_only=True)
class SymphonyMemory:
    """Bits of one switch's memories, all jobs together."""

    state: int
    """The words of all jobs: step_min, psn_rec, α and what the window has seen."""
    touch: int
    """Which jobs had a packet in the window, and the windows' numbers."""
    counters: int
    """What the control plane may read; nothing of it is in Algorithm 1. Each counter holds a bit
    more than its width, a carry on its way."""

    def job_bits(self, jobs: int) -> float:
        """Return bits of state a job, the counters apart."""
        return (self.state + self.touch) / jobs


def memory(config: SymphonyConfig) -> SymphonyMemory:
    """Return the memory of the switch that `config` describes."""
    c = config
    words = max(2, c.jobs)  # a memory of one word would have no address
    rows = max(2, -(-c.jobs // row_jobs(c)))
    windows = [c.window_ns] + ([] if c.psn_window_ns is None else [c.psn_window_ns])
    row = sum(serial_bits(c, window) + row_jobs(c) for window in windows)
    return SymphonyMemory(
        state=words * c.word_bits,
        touch=rows * row,
        counters=words * sum(bits + 1 for bits in counters(c).values()),
    )
