"""Switches in one window: up through an uplink that the scheme picks, or down the only way.

Packets from below and from above are served apart, since they share no queue and no decision; those
from below that turn around are served with those from above.
"""

from __future__ import annotations

from typing import Any

from models.fabric.engine_queues import put
from models.fabric.engine_state import (
    EDGE_BITS,
    EDGE_LINKS,
    FAILING,
    FULL,
    POD_BITS,
    PORT_BITS,
    RANK_MASK,
    RANK_SHIFT,
    SHIFT,
    int64,
    uint64,
)
from models.fabric.engine_words import WIDE, gather, order, payload_of

MIXED = False
"""Whether some switches run a second scheme; set for each compiled engine."""
RETAGGED = False
"""Whether switches write on packets; set for each compiled engine."""
HEARD = False
"""Whether edge switches listen to packets from above; set for each compiled engine."""
MEASURED = 0
"""Which scheme measures the links down between switches, 1 or 2, or 0; set for each compiled
engine."""


def pick_first(
    s: Any,
    own: Any,
    own_bytes: Any,
    switch: int,
    first: int,
    to: int,
    payload: int,
    rank: int,
    time: int,
    valid: int,
) -> int:
    """Stands for the kernel of the scheme: pick an uplink of `valid` (a mask) at `time`.

    `switch` counts edges, then aggregations; `first` is the link of uplink 0; `to` the code of the
    destination edge switch or pod; `rank` that of the input port.
    """
    raise NotImplementedError


def retag_first(s: Any, own: Any, switch: int, payload: int, uplink: int, time: int) -> int:
    """Stands for the kernel of the scheme: the payload with what a switch writes on a packet that
    goes up through `uplink`."""
    return payload


def passes_first(s: Any, own: Any, own_bytes: Any, switch: int, payload: int) -> None:
    """Stands for the kernel of the scheme: see a packet from above at an edge switch."""


def descend_first(s: Any, own: Any, link: int, payload: int, time: int) -> int:
    """Stands for the kernel of the scheme: the payload with what the switch above `link` writes on
    a packet that goes down there, to another switch."""
    return payload


pick_second = pick_first
retag_second = retag_first
passes_second = passes_first
descend_second = descend_first
"""Stand for the kernels of the second scheme of a mix."""


def serve_up(
    s: Any, count: int, switch: int, first: int, here: int, below: int, agg: int, heard: int
) -> Any:
    """Serve `count` words of `ordered` that came from below to `switch`, whose own destinations
    have the code `here` once their lowest `below` bits are gone; `agg` is its number among the
    aggregations, or -1. Leaves those that turn around in `gathered`; returns how many these are,
    and what the stage's area gains. In between it hears `heard` words of `held`."""
    shift = uint64(s.parameter[SHIFT])
    to_mask = (
        int64(1) << (s.parameter[PORT_BITS] + s.parameter[EDGE_BITS] + s.parameter[POD_BITS])
    ) - 1
    codes = s.parameter[POD_BITS]
    known = s.agg_valid
    number = agg
    if agg < 0:
        codes += s.parameter[EDGE_BITS]
        known = s.edge_valid
        number = switch
    turned = area = listened = int64(0)
    for i in range(count):
        word = s.ordered[i]
        payload = payload_of(s, word, s.ordered_more, i)
        to = (payload >> 1 & to_mask) >> below
        if to == here:
            s.gathered[turned] = word
            if WIDE:
                s.gathered_more[turned] = payload
            turned += 1
            continue
        if HEARD:
            while listened < heard and s.held[listened] < word:
                hear(s, switch, listened)
                listened += 1
        time = word >> shift
        rank = word >> s.parameter[RANK_SHIFT] & s.parameter[RANK_MASK]
        valid = s.parameter[FULL]
        if s.parameter[FAILING]:
            valid = known[(number << codes) + to]
        if MIXED and s.second[switch]:
            uplink = pick_second(
                s, s.other, s.other_bytes, switch, first, to, payload, rank, time, valid
            )
        else:
            uplink = pick_first(
                s, s.own, s.own_bytes, switch, first, to, payload, rank, time, valid
            )
        if RETAGGED:
            if MIXED and s.second[switch]:
                payload = retag_second(s, s.other, switch, payload, uplink, time)
            else:
                payload = retag_first(s, s.own, switch, payload, uplink, time)
        area += put(s, first + uplink, time, payload)
    if HEARD:
        while listened < heard:
            hear(s, switch, listened)
            listened += 1
    return turned, area


def hear(s: Any, switch: int, place: int) -> None:
    """Let the scheme see a word of `held`."""
    payload = payload_of(s, s.held[place], s.held_more, place)
    if MIXED and s.second[switch]:
        passes_second(s, s.other, s.other_bytes, switch, payload)
    else:
        passes_first(s, s.own, s.own_bytes, switch, payload)


def hold(s: Any, count: int) -> None:
    """Keep the `count` words of `ordered` in `held`."""
    for i in range(count):
        s.held[i] = s.ordered[i]
        if WIDE:
            s.held_more[i] = s.ordered_more[i]


def release(s: Any, count: int, have: int) -> int:
    """Put the `count` words of `held` behind the `have` ones that `gathered` has."""
    for i in range(count):
        s.gathered[have + i] = s.held[i]
        if WIDE:
            s.gathered_more[have + i] = s.held_more[i]
    return have + count


def serve_down(s: Any, count: int, first: int, below: int, mask: int) -> int:
    """Serve `count` words of `ordered` that go down; the destination's bits from `below` on, as
    many as `mask` has, number the links from `first` on. Returns what the area gains."""
    shift = uint64(s.parameter[SHIFT])
    area = int64(0)
    for i in range(count):
        word = s.ordered[i]
        payload = payload_of(s, word, s.ordered_more, i)
        link = first + (payload >> (below + 1) & mask)
        time = word >> shift
        if MEASURED and link < s.parameter[EDGE_LINKS]:
            if MEASURED == 1:
                payload = descend_first(s, s.own, link, payload, time)
            else:
                payload = descend_second(s, s.other, link, payload, time)
        area += put(s, link, time, payload)
    return area


def collect(s: Any, first: int, count: int, base: int, end: int, have: int) -> int:
    """Gather what arrives in lists `first` … in a window and order it; return how much it is."""
    have = gather(s, first, count, end, have)
    order(s, have, base)
    return have


FUNCTIONS = (serve_up, serve_down, collect, hear, hold, release)
