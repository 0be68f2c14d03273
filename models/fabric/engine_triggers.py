"""Triggers in the fast engine: flows that end let others begin.

What a host does in a window reaches other hosts in a later one: a trigger is known there a link
latency after data has left, and a data packet's time more after it has arrived. So it is enough to
put a flow among those that may begin at its host.
"""

from __future__ import annotations

from typing import Any

from models.fabric.engine_state import (
    DATA_TIME,
    FIRST_WAITING,
    KNOWN,
    LATENCY,
    LATEST,
    LATEST_AT,
    NEEDS,
    RECEIVED,
    SECOND,
    SENT,
    TRIGGER,
    int64,
)


def arrive(s: Any, host: int, flow: int, time: int) -> None:
    """Put a flow among those that may begin at a host, by time and number."""
    s.flow_time[flow] = time
    before, other = int64(-1), s.host_coming[host]
    while other >= 0 and (
        s.flow_time[other] < time or (s.flow_time[other] == time and other < flow)
    ):
        before, other = other, s.flow_next[other]
    s.flow_next[flow] = other
    if before < 0:
        s.host_coming[host] = flow
    else:
        s.flow_next[before] = flow


def known_at(s: Any, row: int, kind: int, host: int) -> int:
    """When a host knows of all activations of one kind."""
    place = row + LATEST + KNOWN * kind
    away = s.parameter[LATENCY] + kind * s.parameter[DATA_TIME]
    if s.trigger[place + LATEST_AT] == host:
        return max(s.trigger[place], s.trigger[place + SECOND] + away)
    return s.trigger[place] + away


def remember(s: Any, row: int, kind: int, host: int, time: int) -> None:
    """Note an activation: the latest time, and the latest at any other host."""
    place = row + LATEST + KNOWN * kind
    if s.trigger[place + LATEST_AT] == host:
        s.trigger[place] = max(s.trigger[place], time)
    elif time > s.trigger[place]:
        s.trigger[place + SECOND] = s.trigger[place]
        s.trigger[place] = time
        s.trigger[place + LATEST_AT] = host
    else:
        s.trigger[place + SECOND] = max(s.trigger[place + SECOND], time)


def activate(s: Any, host: int, trigger: int, kind: int, time: int) -> None:
    """Activate a trigger at a host; `kind` is `SENT` or `RECEIVED`."""
    row = TRIGGER * trigger
    flow = s.trigger[row + FIRST_WAITING]
    if s.trigger[row + NEEDS] == 0:  # multishot
        if flow >= 0:
            s.trigger[row + FIRST_WAITING] = s.flow_fellow[flow]
            source = s.flow_host[flow]
            if source != host:
                time += s.parameter[LATENCY] + kind * s.parameter[DATA_TIME]
            arrive(s, source, flow, time)
        return
    remember(s, row, kind, host, time)
    s.trigger[row + NEEDS] -= 1
    if s.trigger[row + NEEDS] > 0:
        return
    while flow >= 0:
        source = s.flow_host[flow]
        sent = known_at(s, row, int64(SENT), source)
        received = known_at(s, row, int64(RECEIVED), source)
        arrive(s, source, flow, max(sent, received))
        flow = s.flow_fellow[flow]


FUNCTIONS = (arrive, known_at, remember, activate)
