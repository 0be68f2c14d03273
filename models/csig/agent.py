"""Values that software writes: the paper's High-precision Switch Telemetry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """A value that an agent wrote for a port and signal."""

    compact: int | None
    """Code for compact tags, None: none."""
    wide: int | None
    """Code for wide tags, None: none."""
    written_ns: int
    until_ns: int
    """Time up to which, and with it, the value may be used."""


class AgentTable:
    """The newest entry for each port and signal."""

    def __init__(self) -> None:
        self.entries: dict[tuple[int, int], Entry] = {}

    def write(self, port: int, signal: int, entry: Entry) -> None:
        """Replace an entry."""
        self.entries[port, signal] = entry

    def look(self, port: int, signal: int, time_ns: int) -> Entry | None:
        """Return the entry to use at a time, None where there is none or it is too old."""
        entry = self.entries.get((port, signal))
        return None if entry is None or time_ns > entry.until_ns else entry

    def age(self, port: int, signal: int, time_ns: int) -> int | None:
        """Return how old the newest entry is, ns; None where there is none."""
        entry = self.entries.get((port, signal))
        return None if entry is None else time_ns - entry.written_ns
