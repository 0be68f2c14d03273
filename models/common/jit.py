"""Loops compiled by Numba, once: the machine code is kept under build/numba, not beside the source.

A compiled function is made again when its own file changes, and only then. So what one takes from
elsewhere must be an argument, not a global name or a function of another file.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

KEPT = Path(__file__).resolve().parents[2] / "build" / "numba"

if not os.environ.get("NUMBA_CACHE_DIR"):
    numba.config.CACHE_DIR = str(KEPT)  # type: ignore[attr-defined]


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return `function` as machine code; integers wrap, and nothing is checked."""
    return numba.njit(cache=True, nogil=True, error_model="numpy")(function)
