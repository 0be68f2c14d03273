"""How many window edges have passed from one packet to the next."""

from __future__ import annotations

MOST = 2
"""Two and more edges are all the same: the window before the packet's was idle."""


class Clock:
    """The windows of one length, ⌊time / window⌋."""

    def __init__(self, window_ns: int) -> None:
        self.window_ns = window_ns
        self.window = 0

    def packet(self, time_ns: int) -> int:
        """Take a packet's time; return how many edges lie between it and the packet before, 0 to
        2. Time does not run backwards."""
        passed = max(0, time_ns // self.window_ns - self.window)
        self.window += passed
        return min(passed, MOST)
