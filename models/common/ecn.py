"""The ECN field of the IP header, and what a router may do to it (RFC 3168, sections 5 and 6)."""

from __future__ import annotations

NOT_ECT, ECT1, ECT0, CE = 0b00, 0b01, 0b10, 0b11
"""Codepoints: transport without ECN, ECN-capable (two of them), congestion experienced."""


def may_mark(ecn: int) -> bool:
    """Whether a packet may leave as CE: any but Not-ECT, whose sender would not understand it."""
    return ecn != NOT_ECT


def marked(ecn: int) -> int:
    """Return the codepoint of a packet after a congestion mark."""
    return CE if may_mark(ecn) else ecn
