"""The signals that a CSIG tag can ask for, as data: one more is one more line, numbered on, of a
measure that is there. `models.csig.port.Port.value` gives it its unit, and `models.csig.path` its
values if traces are to ask for it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Signal:
    """What T of a tag names."""

    number: int
    """T."""
    name: str
    keep: str
    """Which of two values is the more severe, and stays: `min` or `max`."""
    unit: str
    measure: str
    """What hardware measures for it: `available` (bits of a window not used), `delay` (ns) or
    `queue` (bytes)."""


SIGNALS = (
    Signal(number=0, name="abw", keep="min", unit="bytes/s", measure="available"),
    Signal(number=1, name="abw_c", keep="min", unit="%", measure="available"),
    Signal(number=2, name="delay", keep="max", unit="ns", measure="delay"),
    Signal(number=3, name="queue", keep="max", unit="ns", measure="queue"),
)
"""Available bandwidth, the same over the link's capacity, per-hop delay, and queue depth over the
port's speed, which is the time the queue takes to drain. Other types pass unchanged."""

SIGNAL_BITS = max(1, max(signal.number for signal in SIGNALS).bit_length())
"""Width of a signal's number in hardware, bits."""

BY_NUMBER = {signal.number: signal for signal in SIGNALS}
BY_NAME = {signal.name: signal for signal in SIGNALS}


def more_severe(signal: Signal, ours: int, theirs: int) -> bool:
    """Whether code `ours` is strictly more severe than `theirs`: codes rise with the value."""
    return ours < theirs if signal.keep == "min" else ours > theirs


def least_severe(signal: Signal, bits: int) -> int:
    """Return the code of `bits` bits that any other is more severe than: what a sender starts
    with."""
    return (1 << bits) - 1 if signal.keep == "min" else 0
