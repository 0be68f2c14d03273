"""What becomes of many tags, in columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np


@dataclass(frozen=True)
class Answers:
    """One entry a packet, in arrays of one length; `models.csig.hop.Answer` in columns."""

    value: np.ndarray
    """int32: the tag's value as it leaves, `models.csig.trace.NO_TAG` where there is no tag."""
    locator: np.ndarray
    """int32: its locator, likewise."""
    replaced: np.ndarray
    """bool: both are this hop's."""
    stripped: np.ndarray
    """bool: a tag was taken off."""
    unknown: np.ndarray
    """bool: the tag asks for a type that this hop does not know."""
    stale: np.ndarray
    """bool: software should have written a newer value."""

    def __len__(self) -> int:
        return len(self.value)

    def differences(self, other: Answers) -> dict[str, int]:
        """Return the names of the columns that differ, and in how many packets."""
        counts = {n: int((getattr(other, n) != values).sum()) for n, values in vars(self).items()}
        return {name: count for name, count in counts.items() if count}

    @classmethod
    def joined(cls, parts: Sequence[Answers]) -> Answers:
        """Return the answers of several calls, in order, as one."""
        names = [field.name for field in fields(cls)]
        return cls(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})
