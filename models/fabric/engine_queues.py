"""Queues before links: a packet's departure is known when it arrives, so none is an event.

Also what load balancers see of them: `queue_length` and `told_backlog`.
"""

from __future__ import annotations

from typing import Any

from models.fabric.engine_state import (
    ACK_TIME,
    AGE,
    ECN,
    FLIGHT,
    FREE,
    HOSTS,
    ID_MASK,
    ID_SHIFT,
    IN_PACKETS,
    IN_SERVICE,
    LARGEST,
    LAST,
    LIVE,
    NOTED,
    NOTES,
    NOTES_LIVE,
    PERIOD,
    QUEUE,
    RANK,
    ROOM,
    ROWS,
    SHIFT,
    TAG_SHIFT,
    TOLD,
    TRACED,
    int64,
)
from models.fabric.engine_words import WIDE, append, next_chunk

MARKED = False
"""Whether long queues mark data packets; set for each compiled engine."""
WATCHED = False
"""Whether packets are traced or their departures noted; set for each compiled engine."""
PUBLISHED = False
"""Whether neighbours are told of backlogs; set for each compiled engine."""
MARK_BIT = 16
"""Place of the mark in a tag."""


def time_of(s: Any, payload: int) -> int:
    """T of a packet, what it takes of a link."""
    return s.parameter[ACK_TIME + (payload & 1)]


def put(s: Any, link: int, time: int, payload: int) -> int:
    """Put a packet that arrives at `time` into the queue before `link`; return what it adds to the
    stage's area."""
    takes = time_of(s, payload)
    left = max(time, s.queue[QUEUE * link + FREE]) + takes
    backlog = left - time
    if backlog > s.queue[QUEUE * link + LARGEST]:
        if backlog > s.parameter[ROOM]:
            lose(s, link, time, payload)
            return int64(0)
        s.queue[QUEUE * link + LARGEST] = backlog
    if MARKED and payload & 1 and (backlog - takes) * 100 >= s.parameter[ECN]:
        payload |= int64(1) << (s.parameter[TAG_SHIFT] + MARK_BIT)
    if PUBLISHED:
        publish(s, link, time)
    if WATCHED:
        watch(s, link, time, left, takes, payload)
    s.queue[QUEUE * link + FREE] = left
    send(s, link, left, payload)
    return takes * (2 * backlog - takes)


def send(s: Any, link: int, left: int, payload: int) -> None:
    """Let a packet that has left a queue (gap included) at `left` arrive at the other end."""
    word = (left + s.parameter[FLIGHT]) << s.parameter[SHIFT] | s.queue[QUEUE * link + RANK]
    if WIDE:
        append(s, link, word, payload)
    else:
        append(s, link, word | payload, payload)


def watch(s: Any, link: int, time: int, left: int, takes: int, payload: int) -> None:
    """Note and trace a packet that enters a queue."""
    if s.parameter[NOTED]:
        note(s, link, time, left)
    if s.parameter[TRACED]:
        trace(s, link, time, left - takes, payload)


def lose(s: Any, link: int, time: int, payload: int) -> None:
    """Count a packet for which there is no room."""
    s.lost[link] += 1
    s.value[LIVE] -= 1
    if WATCHED and s.parameter[TRACED]:
        trace(s, link, time, int64(-1), payload)


def trace(s: Any, link: int, time: int, start: int, payload: int) -> None:
    """Write a row of the trace."""
    row = s.value[ROWS] * 4
    s.value[ROWS] += 1
    name = payload >> s.parameter[ID_SHIFT] & s.parameter[ID_MASK]
    s.row[row] = name << 1 | (~payload & 1)
    s.row[row + 1] = link
    s.row[row + 2] = time
    s.row[row + 3] = start


def note(s: Any, link: int, time: int, left: int) -> None:
    """Keep the departure of a packet that enters an uplink's queue, for `queue_length`."""
    up = link - s.parameter[HOSTS]
    if up < 0 or up >= s.parameter[NOTED] * s.parameter[HOSTS]:
        return
    if s.parameter[AGE]:
        age = time // s.parameter[AGE]
        if age != s.note_age[up]:
            s.note_age[up] = age
            s.note_free[up] = s.queue[QUEUE * link + FREE]
            s.note_before[up] = s.note_put[up]
        forget(s, up, age * s.parameter[AGE])
    else:
        forget(s, up, time)
    s.note_put[up] += 1
    s.value[NOTES_LIVE] += 1
    append(s, s.parameter[NOTES] + up, left, int64(0))


def forget(s: Any, up: int, time: int) -> int:
    """Drop the departures up to `time` of an uplink; return the first one after it."""
    item = s.parameter[NOTES] + up
    place = s.head[item]
    while s.word[place] <= time:
        s.note_left[up] += 1
        s.value[NOTES_LIVE] -= 1
        place += 1
        if place & LAST == LAST:
            place = next_chunk(s, place)
    s.head[item] = place
    return s.word[place]


def noted_length(s: Any, link: int, now: int) -> int:
    """The queue's length where it is not simply the backlog now."""
    up = link - s.parameter[HOSTS]
    time, free, put_in = now, s.queue[QUEUE * link + FREE], s.note_put[up]
    if s.parameter[AGE]:
        age = now // s.parameter[AGE]
        time = age * s.parameter[AGE]
        if age == s.note_age[up]:
            free, put_in = s.note_free[up], s.note_before[up]
    first = forget(s, up, time)
    count = put_in - s.note_left[up]
    if count == 0:
        return int64(0)
    if s.parameter[IN_PACKETS]:
        return count - 1 + s.parameter[IN_SERVICE]
    return free - (time if s.parameter[IN_SERVICE] else first)


def queue_length(s: Any, link: int, now: int) -> int:
    """The length of an uplink's queue that a scheme sees at `now` (options `queue_unit`,
    `queue_in_service`, `queue_age_ns`)."""
    if WATCHED and s.parameter[NOTED]:
        return noted_length(s, link, now)
    return max(int64(0), s.queue[QUEUE * link + FREE] - now)


def publish(s: Any, link: int, time: int) -> None:
    """Keep `free` as it was at the beginning of each period since a packet was put in last."""
    age = time // s.parameter[PERIOD]
    period = max(s.told_age[link], age - TOLD)
    s.told_age[link] = max(s.told_age[link], age)
    while period < age:
        period += 1
        s.told[link * TOLD + (period & (TOLD - 1))] = s.queue[QUEUE * link + FREE]


def told_backlog(s: Any, link: int, period: int) -> int:
    """The backlog at the beginning of a period, of the packets that had been put in before it."""
    free = s.queue[QUEUE * link + FREE]
    if period <= s.told_age[link]:
        free = s.told[link * TOLD + (period & (TOLD - 1))]
    return max(int64(0), free - period * s.parameter[PERIOD])


INLINED = (time_of, put, send, queue_length, publish, told_backlog)
FUNCTIONS = (*INLINED, lose, watch, trace, note, forget, noted_length)
