"""What load balancers choose with: random numbers, sets of uplinks, and the least of several."""

from __future__ import annotations

from typing import Any

from models.common.mix import GOLDEN
from models.fabric.engine_queues import WATCHED, queue_length
from models.fabric.engine_state import END, FREE, FULL, HALF, NOTED, QUEUE, int64, uint64


def mixed(state: Any) -> Any:
    """`models.common.mix.mix64` of a uint64."""
    state = (state ^ state >> uint64(30)) * uint64(0xBF58476D1CE4E5B9)
    state = (state ^ state >> uint64(27)) * uint64(0x94D049BB133111EB)
    return state ^ state >> uint64(31)


def draw(stream: Any, number: int) -> Any:
    """The next 64 random bits, uint64, of stream `number`."""
    state = uint64(stream[number]) + uint64(GOLDEN)
    stream[number] = state
    return mixed(state)


def below(stream: Any, number: int, bound: int) -> int:
    """The next random number from 0 to bound - 1."""
    return int64((draw(stream, number) >> uint64(32)) * uint64(bound) >> uint64(32))


def least_length(s: Any, first: int, time: int, valid: int) -> int:
    """The least length of the valid uplinks' queues."""
    if is_plain(s, valid):
        soonest = int64(END)
        for uplink in range(s.parameter[HALF]):
            soonest = min(soonest, s.queue[QUEUE * (first + uplink) + FREE])
        return max(int64(0), soonest - time)
    least = int64(END)
    for uplink in range(s.parameter[HALF]):
        length = int64(END)
        if valid >> uplink & 1:
            length = queue_length(s, first + uplink, time)
        s.judged[uplink] = length
        least = min(least, length)
    return least


def one_shorter(s: Any, switch: int, first: int, time: int, valid: int, limit: int) -> int:
    """Of the uplinks whose queues are shorter than `limit` one at random, after `least_length` of
    the same; of a single one without a draw."""
    if not is_plain(s, valid):
        return one_below(s, switch, limit)
    latest = limit + time if limit < END else limit
    count = int64(0)
    for uplink in range(s.parameter[HALF]):
        s.chosen[count] = uplink
        count += s.queue[QUEUE * (first + uplink) + FREE] < latest
    return one_chosen(s, switch, count)


def is_plain(s: Any, valid: int) -> bool:
    """Whether every uplink counts, with its backlog now for its length."""
    return valid == s.parameter[FULL] and not (WATCHED and s.parameter[NOTED])


def one_below(s: Any, switch: int, limit: int) -> int:
    """Of the uplinks that are judged below `limit` one at random; of a single one without a
    draw."""
    count = int64(0)
    for uplink in range(s.parameter[HALF]):
        s.chosen[count] = uplink
        count += s.judged[uplink] < limit
    return one_chosen(s, switch, count)


def one_chosen(s: Any, switch: int, count: int) -> int:
    """One of the first `count` of `chosen` at random; of a single one without a draw."""
    # Whether there are several is hard to guess, so the draw is made and kept only if it counts:
    # of one uplink it takes the one.
    before = uint64(s.stream[switch])
    after = before + uint64(GOLDEN)
    s.stream[switch] = before if count == 1 else after
    return s.chosen[int64((mixed(after) >> uint64(32)) * uint64(count) >> uint64(32))]


def members(valid: int) -> int:
    """How many uplinks a mask has."""
    count = int64(0)
    while valid:
        valid &= valid - 1
        count += 1
    return count


def member(valid: int, index: int) -> int:
    """The uplink at `index` of a mask's in rising order."""
    for _ in range(index):
        valid &= valid - 1
    uplink = int64(0)
    while not valid >> uplink & 1:
        uplink += 1
    return uplink


def valid_count(s: Any, valid: int) -> int:
    """`members`, without counting if all are valid."""
    if valid == s.parameter[FULL]:
        return s.parameter[HALF]
    return members(valid)


def valid_at(s: Any, valid: int, index: int) -> int:
    """`member`, without looking if all are valid."""
    if valid == s.parameter[FULL]:
        return index
    return member(valid, index)


def one_of(s: Any, switch: int, valid: int) -> int:
    """One of a mask's uplinks at random; of a single one without a draw."""
    count = valid_count(s, valid)
    if count == 1:
        return member(valid, int64(0))
    return valid_at(s, valid, below(s.stream, switch, count))


INLINED = (
    mixed,
    draw,
    below,
    valid_count,
    valid_at,
    one_of,
    least_length,
    one_shorter,
    is_plain,
    one_below,
    one_chosen,
)
FUNCTIONS = (*INLINED, members, member)
