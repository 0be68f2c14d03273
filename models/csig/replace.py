"""Compare and replace."""

from __future__ import annotations

from models.csig.signals import BY_NUMBER, more_severe


def replaces(t: int, ours: int, theirs: int) -> bool:
    """Whether a hop's code replaces a tag's: strictly more severe, by the signal of type `t`."""
    return more_severe(BY_NUMBER[t], ours, theirs)
