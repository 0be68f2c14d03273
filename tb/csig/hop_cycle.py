"""What a cycle of the cocotb bench of a hop was like."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cycle:
    """What the ports of the hop showed in one cycle, and what was known of it."""

    wanted: Mapping[str, bool]
    """tvalid of the streams that go in."""
    taken: Mapping[str, bool]
    """tready of those that are valid."""
    ready: bool
    """s_axis_tready."""
    answer: bool
    """m_axis_tvalid."""
    answer_taken: bool
    """m_axis_tready."""
    counters: bool
    """m_count_tvalid."""
    counters_taken: bool
    """m_count_tready."""
    reading: bool
    """A reading is under way, or its counters wait."""
    sweeping: bool
    held: int
    """Cycles that edges hold packets yet."""
    loading: bool
    """An edge is loaded."""
    edges: int
    """Clocks whose edges time has passed in this cycle."""
    apart: int
    """Least number of cycles between the last two times that time passed an edge of a clock."""
    in_flight: int
    """Packets inside, before this cycle's handshakes."""
    undisturbed: int
    """Cycles since something was last held back."""
