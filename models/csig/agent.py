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


@dataclass(frozen=True)
class Use:
    """A packet that asks for an agent's value, and what hardware shows of it."""

    port: int
    signal: int
    time_ns: int
    until_ns: int | None
    """Time up to which the newest value may be used; None: none has been written."""

    @property
    def left_ns(self) -> int | None:
        """How long the value still holds, ns, less than 0 where it is too old."""
        return None if self.until_ns is None else self.until_ns - self.time_ns


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

    def use(self, port: int, signal: int, time_ns: int) -> Use:
        """Return what is shown of a packet that asks for an entry."""
        entry = self.entries.get((port, signal))
        return Use(port, signal, time_ns, None if entry is None else entry.until_ns)

    def age(self, port: int, signal: int, time_ns: int) -> int | None:
        """Return how old the newest entry is, ns; None where there is none."""
        entry = self.entries.get((port, signal))
        return None if entry is None else time_ns - entry.written_ns
