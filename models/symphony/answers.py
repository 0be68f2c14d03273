"""What becomes of many packets, in columns, as the hardware says it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Answers:
    """One entry a packet, in arrays of one length; `models.symphony.marker.Verdict` in columns."""

    known: np.ndarray
    """bool: its job has a slot."""
    outpacing: np.ndarray
    """bool: its step is above step_min as it was before the packet."""
    probability: np.ndarray
    """float64: what the random number is compared with, as a real number; 0 where Algorithm 1 does
    not reach the coin."""
    symphony: np.ndarray
    """bool: Symphony's coin says mark."""
    red: np.ndarray
    """bool: RED's coin says mark."""
    mark: np.ndarray
    """bool: it leaves as CE for one of these."""
    ecn: np.ndarray
    """uint8: the codepoint it leaves with."""

    gap: np.ndarray | None = None
    """uint64: the same as hardware has it (`models.symphony.coin`); None in real numbers."""
    real: np.ndarray | None = None
    """float64: P_ECN in real numbers (equation 4), of the same state; None from the hardware."""

    def __len__(self) -> int:
        return len(self.mark)

    def differences(self, other: Answers) -> dict[str, int]:
        """Return the columns in which the hardware's answers differ from others, by name, and in
        how many packets; `real`, which hardware does not have, is left out."""
        counts = {
            field.name: int((getattr(self, field.name) != getattr(other, field.name)).sum())
            for field in fields(self)
            if field.name != "real"
        }
        return {name: count for name, count in counts.items() if count}

    @classmethod
    def joined(cls, parts: Sequence[Answers]) -> Answers:
        """Return the answers of several calls, in order, as one."""
        columns = {}
        for field in fields(cls):
            arrays = [getattr(part, field.name) for part in parts]
            columns[field.name] = None if arrays[0] is None else np.concatenate(arrays)
        return cls(**columns)
