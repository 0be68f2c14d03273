"""What a bench saw of a switch in one cycle."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Keys = Sequence[int | None]
"""The keys of a batch, None where a lane is idle."""


@dataclass(frozen=True)
class Held:
    """What may hold batches back in a cycle."""

    stalled: bool = False
    """An answer waits."""
    sweeping: bool = False
    """The memories are being initialised."""
    writing: bool = False
    """A write of the masks is offered."""
    written: bool = False
    """And it is taken."""


@dataclass(frozen=True, kw_only=True)
class Cycle:
    """The handshakes of one cycle, and what was known of it before them."""

    number: int
    offered: bool
    """s_axis_tvalid."""
    taken: bool
    """s_axis_tready."""
    answer: bool
    """m_axis_tvalid."""
    answer_taken: bool
    """m_axis_tready."""
    writing: bool
    """s_mask_tvalid."""
    write_taken: bool
    """s_mask_tready, with a write."""
    sweeping: bool
    """The memories are being initialised."""
    in_flight: int
    """Batches inside."""

    @property
    def stalled(self) -> bool:
        """An answer waits."""
        return self.answer and not self.answer_taken

    @property
    def held(self) -> Held:
        """What may hold batches back."""
        return Held(self.stalled, self.sweeping, self.writing, self.write_taken)


@dataclass(frozen=True)
class Beat:
    """What m_axis shows; unknown bits are 0 in `data`."""

    data: int
    keep: int
    unknown: int
