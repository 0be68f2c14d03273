"""Step (4b) of Ofan's pipeline: restore the original order of the lanes (seed appendix I)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

Answer = TypeVar("Answer")


def unsort(lanes: Sequence[int], answers: Sequence[Answer]) -> list[Answer]:
    """Return `answers` in lane order, where answer j belongs to lane `lanes[j]`.

    The inverse of the sort's permutation. Raises `ValueError` if `lanes` is no permutation.
    """
    if sorted(lanes) != list(range(len(answers))):
        raise ValueError(f"lanes must be each of 0 to {len(answers) - 1} once, not {list(lanes)}")
    by_lane = dict(zip(lanes, answers, strict=True))
    return [by_lane[lane] for lane in range(len(answers))]
