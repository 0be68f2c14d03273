"""Time: which window a packet falls in, and whether time moves at all (seed sections 3.4, 5)."""

from __future__ import annotations

from models.symphony.config import SymphonyConfig


def window_number(time_ns: int, window_ns: int) -> int:
    """Return the number of the window at a time, ⌊time / window⌋."""
    return time_ns // window_ns


class Clock:
    """Time as a switch sees it, by the packets' time stamps.

    Time never runs backwards: a stamp below the largest one so far counts as that one. It has
    stopped, until it moves on, when `time_timeout` packets in a row have brought no larger stamp.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        self.config = config
        self.now = 0
        """The largest stamp so far, ns."""
        self.still = 0
        """Packets in a row that brought no larger one."""

    def packet(self, time_ns: int) -> bool:
        """Take a packet's stamp; return whether time moves."""
        if time_ns > self.now:
            self.now, self.still = time_ns, 0
        else:
            self.still = min(self.still + 1, self.config.time_timeout)
        return self.still < self.config.time_timeout

    def windows(self) -> tuple[int, int]:
        """Return the number of the window of α and of that of psn_rec."""
        c = self.config
        other = c.window_ns if c.psn_window_ns is None else c.psn_window_ns
        return window_number(self.now, c.window_ns), window_number(self.now, other)
