"""A bench at the ports of a design: streams that it drives, and bits that it reads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any


class Source:
    """Drives a stream: what is offered stays until it is taken."""

    def __init__(self, dut: Any, name: str) -> None:
        self.name = name
        self.queue: deque[tuple[int, Any]] = deque()
        """(batches taken when it may first be offered, beat); due anyway if no batch is left."""
        self.beat: Any = None
        """What is offered now."""
        self.fresh = False
        """Whether this is the first cycle in which it is offered."""
        self._valid = getattr(dut, f"{name}_tvalid")
        self._data = getattr(dut, f"{name}_tdata")
        self._keep = getattr(dut, f"{name}_tkeep", None)
        self._valid.value = 0
        self._data.value = 0

    def drive(self, taken: float, pausing: bool, tdata: Callable[[Any], int]) -> None:
        """Offer the next beat if it is due, nothing is offered yet and the stream does not pause;
        a stream without valid keeps the data of its last beat."""
        if self.beat is None and self.queue and self.queue[0][0] <= taken and not pausing:
            self.beat = self.queue.popleft()[1]
            self.fresh = True
            self._valid.value = 1
            self._data.value = tdata(self.beat)
            if self._keep is not None:
                self._keep.value = self.beat.tkeep
        if self.beat is None:
            self._valid.value = 0

    def take(self) -> Any:
        """The beat has been taken."""
        beat, self.beat = self.beat, None
        return beat

    def renew(self) -> None:
        """After a reset, what is offered counts as offered anew."""
        self.fresh = self.beat is not None


def sample(port: Any) -> tuple[int, int]:
    """Return the bits of a port, and which of them are unknown (and read as 0 in the first)."""
    value = port.value
    if value.is_resolvable:
        return int(value), 0
    text = str(value)
    known = "".join("1" if bit == "1" else "0" for bit in text)
    return int(known, 2), int("".join("0" if bit in "01" else "1" for bit in text), 2)
