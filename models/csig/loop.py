"""Packet by packet as machine code: what is sequential in CSIG, for `models.csig.vectorized`.

Functions here take all they need as arguments (see `models.common.jit`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from models.common.jit import compiled

METER_WORDS = 3
"""int64 words of a port's meter: number of its window, what that has left, what the one before
had."""
WINDOW, LEFT, CLOSED = range(METER_WORDS)

ENTRY_WORDS = 4
"""int64 words of an agent's entry."""
COMPACT, WIDE, UNTIL, THERE = range(ENTRY_WORDS)

SCALE_WORDS, DIGIT = 5, 26
"""int64 words of a scale: factor and start in two digits each, of which the lower has 26 bits, and
the shift less 26. So no product has more than 56 bits."""

REPLACED, STRIPPED, UNKNOWN, STALE = 1, 2, 4, 8
"""Bits of `flags`."""

PASS, STRIP, UPDATE = range(3)
AVAILABLE, DELAY, QUEUE = range(3)


class Ports(NamedTuple):
    """Arrays by the number of a port, then of a signal."""

    action: np.ndarray
    locator: np.ndarray
    window: np.ndarray
    capacity: np.ndarray
    agent: np.ndarray
    """[ports, signals]: whether an agent writes the value."""
    quantized: np.ndarray
    """[ports, signals, formats]: whether there is a quantizer."""
    thresholds: np.ndarray
    """[ports, signals, 31], rising: least measure of each range but the first."""
    codes: np.ndarray
    """[ports, signals, 32]."""
    scale: np.ndarray
    """[ports, signals, SCALE_WORDS] of wide codes."""


class Shape(NamedTuple):
    """What holds for all ports."""

    measure: np.ndarray
    """By signal: `AVAILABLE`, `DELAY` or `QUEUE`."""
    smaller: np.ndarray
    """By signal: whether the smaller value is the more severe."""
    updated: np.ndarray
    """By format: whether its tags are known."""
    update_discarded: bool
    most_delay: int
    most_queue: int


class Packets(NamedTuple):
    """Arrays of `models.csig.trace.Trace`."""

    time: np.ndarray
    port: np.ndarray
    bytes: np.ndarray
    delay: np.ndarray
    queue: np.ndarray
    format: np.ndarray
    signal: np.ndarray
    value: np.ndarray
    locator: np.ndarray
    discard: np.ndarray


class Writes(NamedTuple):
    """Arrays of `models.csig.hst.Writes`."""

    before: np.ndarray
    port: np.ndarray
    signal: np.ndarray
    compact: np.ndarray
    wide: np.ndarray
    until: np.ndarray


class Answers(NamedTuple):
    """Arrays to fill."""

    value: np.ndarray
    locator: np.ndarray
    flags: np.ndarray


@compiled
def serve(
    shape: Shape,
    ports: Ports,
    meters: np.ndarray,
    entries: np.ndarray,
    writes: Writes,
    packets: Packets,
    out: Answers,
) -> None:
    """Serve packets in order, with the agents' writes among them.

    `meters` is int64 [ports, METER_WORDS], `entries` int64 [ports, signals, ENTRY_WORDS]; both are
    kept up to date.
    """
    done = 0
    for i in range(len(packets.time)):
        while done < len(writes.before) and writes.before[done] <= i:
            entry = entries[writes.port[done], writes.signal[done]]
            entry[COMPACT], entry[WIDE] = writes.compact[done], writes.wide[done]
            entry[UNTIL], entry[THERE] = writes.until[done], 1
            done += 1

        time, port = packets.time[i], packets.port[i]
        meter = meters[port]
        passed = time // ports.window[port] - meter[WINDOW]
        if passed:
            meter[CLOSED] = meter[LEFT] if passed == 1 else ports.capacity[port]
            meter[LEFT] = ports.capacity[port]
            meter[WINDOW] += passed
        meter[LEFT] = max(0, meter[LEFT] - 8 * np.int64(packets.bytes[i]))

        value, locator = packets.value[i], packets.locator[i]
        out.value[i], out.locator[i], out.flags[i] = value, locator, 0
        wide, signal = packets.format[i], packets.signal[i]
        if value < 0 or not shape.updated[wide] or ports.action[port] == PASS:
            continue
        if ports.action[port] == STRIP:
            out.value[i] = out.locator[i] = -1
            out.flags[i] = STRIPPED
            continue
        if signal >= len(shape.measure):
            out.flags[i] = UNKNOWN
            continue
        if packets.discard[i] and not shape.update_discarded:
            continue

        code = np.int64(-1)
        if ports.agent[port, signal]:
            entry = entries[port, signal]
            if not entry[THERE] or time > entry[UNTIL]:
                out.flags[i] = STALE
                continue
            code = entry[WIDE] if wide else entry[COMPACT]
        elif ports.quantized[port, signal, wide]:
            if shape.measure[signal] == AVAILABLE:
                measure = meter[CLOSED]
            elif shape.measure[signal] == DELAY:
                measure = min(packets.delay[i], shape.most_delay)
            else:
                measure = min(packets.queue[i], shape.most_queue)
            if wide:
                high, low, start, start_low, shift = ports.scale[port, signal]
                carry = (measure * low + start_low) >> DIGIT
                code = min(max(0, (measure * high + start + carry) >> shift), (1 << 20) - 1)
            else:
                first, end = 0, 31
                while first < end:
                    middle = (first + end) >> 1
                    if measure >= ports.thresholds[port, signal, middle]:
                        first = middle + 1
                    else:
                        end = middle
                code = ports.codes[port, signal, first]
        if code < 0:
            continue
        if code < value if shape.smaller[signal] else code > value:
            out.value[i], out.locator[i] = code, ports.locator[port]
            out.flags[i] = REPLACED
