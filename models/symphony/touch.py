"""Which jobs had a packet in the current window, with one window number for many jobs.

A job's state is brought up to date when its first packet of a later window comes. To know that this
is the first one, each job has one bit; the bits of `ROW` jobs and the number of the window they
belong to are one word. A packet that finds another number there clears the bits. The number is as
wide as time itself, so it never comes again and a job may sleep for any number of windows; it costs
a job 1/`ROW` of its width.
"""

from __future__ import annotations

from models.symphony.config import SymphonyConfig

ROW = 64
"""Jobs that share a window number."""


def row_jobs(config: SymphonyConfig) -> int:
    """Return how many jobs share a word: 64, or all where there are fewer."""
    return min(ROW, config.jobs)


def serial_bits(config: SymphonyConfig, window_ns: int) -> int:
    """Width of a window's serial number, bits: each window in 2**time_bits ns has its own."""
    return config.time_bits - (window_ns.bit_length() - 1)


class Touch:
    """The words of all jobs, for one kind of window."""

    def __init__(self, config: SymphonyConfig) -> None:
        self.config = config
        self.rows: dict[int, tuple[int, set[int]]] = {}

    def packet(self, job: int, window: int) -> bool:
        """Take a packet of a job in a window; return whether it is the job's first one there."""
        row, bit = divmod(job, row_jobs(self.config))
        number, touched = self.rows.get(row, (0, set()))
        if number != window:
            touched = set()
        self.rows[row] = (window, touched | {bit})
        return bit not in touched
