"""Hosts in one window: take in what arrives, then send data and ACKs in turn."""

from __future__ import annotations

from typing import Any

from models.fabric.engine_queues import WATCHED, send, trace
from models.fabric.engine_state import (
    ACK_TIME,
    ACKS,
    ALTERNATE,
    DATA_FIRST,
    DATA_TIME,
    DELIVERED,
    EDGE_LINKS,
    END,
    FIRST,
    FREE,
    ID_MASK,
    ID_SHIFT,
    LAST,
    LAST_DATA,
    LIVE,
    ORDER,
    OWED,
    QUEUE,
    RECEIVED,
    SENT,
    SHIFT,
    SPACING,
    SPACING_PART,
    SPACING_WHOLE,
    TAG_SHIFT,
    TAIL,
    TRACED,
    UNSENT,
    int64,
)
from models.fabric.engine_triggers import activate
from models.fabric.engine_words import WIDE, new_chunk, next_chunk, payload_of

TAGGED = False
"""Whether the scheme writes tags at hosts; set for each compiled engine."""
ECHOED = False
"""Whether the scheme wants to see ACKs at hosts; set for each compiled engine."""
ARRIVING = False
"""Whether any flow activates a trigger when it has arrived; set for each compiled engine."""


def tag_data(s: Any, host: int, flow: int, number: int, time: int) -> int:
    """Stands for the scheme's kernel: the tag of data packet `number` of a flow."""
    raise NotImplementedError


def tag_ack(s: Any, host: int, flow: int, tag: int, time: int) -> int:
    """Stands for the scheme's kernel: the tag of the ACK of a data packet that came with `tag`."""
    raise NotImplementedError


def acknowledged(s: Any, host: int, flow: int, tag: int) -> None:
    """Stands for the scheme's kernel: an ACK with `tag` has come."""
    raise NotImplementedError


def flow_of(s: Any, payload: int) -> int:
    """The flow of a packet."""
    name = payload >> s.parameter[ID_SHIFT] & s.parameter[ID_MASK]
    if WATCHED and s.parameter[TRACED]:
        return s.owner[name]
    return name


def receive(s: Any, host: int, end: int) -> int:
    """Take in what arrives at a host before `end`; data is kept to be acknowledged. Returns how
    many words of ACKs it leaves in `gathered` for the scheme to see."""
    shift, acks = s.parameter[SHIFT], s.parameter[ACKS]
    limit = end << shift
    item, owed = s.parameter[EDGE_LINKS] + host, s.parameter[OWED] + host
    place, owed_place = s.head[item], s.queue[QUEUE * owed + TAIL]
    packets = data = done = echoes = int64(0)
    last_data = int64(-1)
    word = s.word[place]
    while word < limit:
        payload = payload_of(s, word, s.more, place)
        # Data and ACKs come in no order that a processor could guess: no branch on it.
        is_data = payload & 1
        is_done = is_data ^ acks
        packets += 1
        data += is_data
        done += is_done
        last_data = max(last_data, (word >> shift) * is_data + is_data - 1)
        s.word[owed_place] = word
        if WIDE:
            s.more[owed_place] = payload
        owed_place += is_data & acks
        if owed_place & LAST == LAST:
            chunk = new_chunk(s)
            s.word[owed_place] = chunk
            owed_place = chunk
        if ARRIVING and is_data:
            miss(s, host, flow_of(s, payload), word >> shift)
        flow = flow_of(s, payload) * is_done
        still_open = s.flow_open[flow] - is_done
        s.flow_open[flow] = still_open
        if still_open | (1 - is_done) == 0:
            s.flow_finish[flow] = word >> shift
        if ECHOED:
            s.gathered[echoes] = word
            s.gathered_more[echoes] = payload
            echoes += is_done & acks
        place += 1
        if place & LAST == LAST:
            place = next_chunk(s, place)
        word = s.word[place]
    s.word[owed_place] = END
    s.queue[QUEUE * owed + TAIL] = owed_place
    s.head[item] = place
    s.seen[item] += packets
    s.seen_data[item] += data
    s.value[LIVE] -= done
    s.value[DELIVERED] += data
    s.value[LAST_DATA] = max(s.value[LAST_DATA], last_data)
    return echoes


def miss(s: Any, host: int, flow: int, time: int) -> None:
    """Miss one data packet less of a flow, as it arrives; the last one may activate a trigger."""
    missing = s.flow_missing[flow] - 1
    s.flow_missing[flow] = missing
    if missing == 0 and s.flow_received[flow] >= 0:
        activate(s, host, s.flow_received[flow], int64(RECEIVED), time)


def echo(s: Any, host: int, place: int) -> None:
    """Let the scheme see an ACK that `receive` left."""
    payload = s.gathered_more[place]
    acknowledged(s, host, flow_of(s, payload), payload >> s.parameter[TAG_SHIFT])


def join(s: Any, host: int, flow: int) -> None:
    """Let the first of the coming flows into the ring, as the last of the round."""
    s.host_coming[host] = s.flow_next[flow]
    turn = s.host_turn[host]
    if turn < 0:
        s.flow_next[flow] = flow
    else:
        s.flow_next[flow] = s.flow_next[turn]
        s.flow_next[turn] = flow
    s.host_turn[host] = flow


def next_data(s: Any, host: int, time: int) -> int:
    """Take a data packet of the flow whose turn it is, sent at `time`; return its payload."""
    turn = s.host_turn[host]
    flow = s.flow_next[turn]
    left = s.flow_left[flow]
    number = s.flow_total[flow] - left
    payload = s.flow_to[flow]
    if number == 0:
        s.flow_begin[flow] = time
        s.value[FIRST] = min(s.value[FIRST], time)
    if WATCHED and s.parameter[TRACED]:
        payload += number << s.parameter[ID_SHIFT]
    if TAGGED:
        payload |= tag_data(s, host, flow, number, time) << s.parameter[TAG_SHIFT]
    s.flow_left[flow] = left - 1
    s.value[UNSENT] -= 1
    s.value[LIVE] += 1
    if left > 1:
        s.host_turn[host] = flow
    else:
        if turn == flow:
            s.host_turn[host] = -1
        else:
            s.flow_next[turn] = s.flow_next[flow]
        if s.flow_sent[flow] >= 0:
            activate(s, host, s.flow_sent[flow], int64(SENT), time + s.parameter[DATA_TIME])
    wait = s.parameter[SPACING]
    if s.parameter[SPACING_PART]:
        part = s.host_part[host] + s.parameter[SPACING_PART]
        if part >= s.parameter[SPACING_WHOLE]:
            part -= s.parameter[SPACING_WHOLE]
            wait += 1
        s.host_part[host] = part
    s.host_next[host] = time + wait
    return payload


def next_ack(s: Any, host: int, time: int) -> int:
    """Take the ACK that is owed first; return its payload."""
    item = s.parameter[OWED] + host
    place = s.head[item]
    payload = payload_of(s, s.word[place], s.more, place)
    place += 1
    if place & LAST == LAST:
        place = next_chunk(s, place)
    s.head[item] = place
    flow = flow_of(s, payload)
    answer = s.flow_back[flow] | payload & s.parameter[ID_MASK] << s.parameter[ID_SHIFT]
    if TAGGED:
        tag = tag_ack(s, host, flow, payload >> s.parameter[TAG_SHIFT], time)
        answer |= tag << s.parameter[TAG_SHIFT]
    return answer


def next_data_time(s: Any, host: int) -> int:
    """When the next data packet may start as far as the link allows it, or `END`."""
    coming = s.host_coming[host]
    if s.host_turn[host] < 0:
        if coming < 0:
            return END
        return max(s.host_next[host], s.flow_time[coming])
    return s.host_next[host]


def transmit(s: Any, host: int, end: int, echoes: int) -> None:
    """Send all packets of a host that start before `end`; `echoes` ACKs are seen in between."""
    shift, rule = s.parameter[SHIFT], s.parameter[ORDER]
    owed = s.parameter[OWED] + host
    free = s.queue[QUEUE * host + FREE]
    was_data = s.host_sent_data[host]
    seen = int64(0)
    while True:
        data_at = max(free, next_data_time(s, host))
        ack_at = max(free, s.word[s.head[owed]] >> shift)
        time = min(data_at, ack_at)
        if time >= end:
            break
        if ECHOED:
            while seen < echoes and s.gathered[seen] >> shift <= time:
                echo(s, host, seen)
                seen += 1
        while s.host_coming[host] >= 0 and s.flow_time[s.host_coming[host]] <= time:
            join(s, host, s.host_coming[host])
        data = data_at == time
        if data and ack_at == time:
            data = rule == DATA_FIRST or (rule == ALTERNATE and not was_data)
        if data:
            payload = next_data(s, host, time)
            free = time + s.parameter[DATA_TIME]
        else:
            payload = next_ack(s, host, time)
            free = time + s.parameter[ACK_TIME]
        was_data = int64(data)
        if WATCHED and s.parameter[TRACED]:
            trace(s, host, time, time, payload)
        send(s, host, free, payload)
    if ECHOED:
        while seen < echoes:
            echo(s, host, seen)
            seen += 1
    s.queue[QUEUE * host + FREE] = free
    s.host_sent_data[host] = was_data


def next_event(s: Any, host: int) -> int:
    """When a host may send next if nothing is owed, or `END`."""
    return max(s.queue[QUEUE * host + FREE], next_data_time(s, host))


INLINED = (flow_of, receive, join, next_data, next_ack, next_data_time, transmit)
FUNCTIONS = (*INLINED, miss, echo, next_event)
