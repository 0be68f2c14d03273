"""The paper's figures that need no congestion control, by name: data, curves and verdicts."""

from __future__ import annotations

from importlib import import_module

from models.common.check import hint

MODULES = {
    # figure: module in this package
    "1": "load",
    "3": "overload",
    "4": "schemes",
    "5": "network_size",
    "6": "pipe_size",
    "7": "message_size",
    "8": "packet_size",
    "9": "failures",
    "10": "two_levels",
    "11": "deployment",
    "13": "experts",
    "16": "queues",
    "17": "consolidation",
    "18": "queues",
    "details": "details",
}
"""`details` is not the paper's: what its silence leaves open, and what that changes."""


def figure(name: str):
    """Return the `Figure` of that name; a letter behind the number, as in 13a, is passed over.

    Raises `ValueError` that lists the names and suggests the nearest.
    """
    known = name if name in MODULES else name.rstrip("abc")
    if known not in MODULES:
        near = hint(name.casefold(), MODULES)
        raise ValueError(f"figure must be one of {', '.join(MODULES)}, not {name!r}{near}")
    return import_module(f"models.fabric.figures.{MODULES[known]}").FIGURES[known]
