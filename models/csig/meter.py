"""The available bandwidth of a port over windows of time, and the clock that the windows follow."""

from __future__ import annotations

from models.csig.port import Port


class Meter:
    """What a port has left of C·t in each window, bits.

    A packet sees what was left of the window that closed last before it, all of C·t where that one
    was idle; its own bytes count for the window it is in. No window has less than nothing left.
    """

    def __init__(self, port: Port) -> None:
        self.port = port
        self.window = 0
        """Number of the window that `left` belongs to, ⌊time / window⌋."""
        self.left = port.capacity_bits
        self.closed = port.capacity_bits
        """What the window before it had left."""

    def packet(self, time_ns: int, length: int) -> int:
        """Take a packet of so many bytes; return what is available to it."""
        passed = time_ns // self.port.window_ns - self.window
        if passed:
            self.closed = self.left if passed == 1 else self.port.capacity_bits
            self.left = self.port.capacity_bits
            self.window += passed
        self.left = max(0, self.left - 8 * length)
        return self.closed
