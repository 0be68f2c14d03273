"""Lists of words, and their order: what a node reads of its input links in one window.

A list is a chain of chunks, so it grows with its queue and its memory is used again by others. One
word is one packet that is under way, in the order in which a link delivers them:

    narrow   time | rank of the input port | tag | flow | destination | 1 for data
    wide     time | rank, and a second word beside it for the rest

Compared as numbers, words are in the order in which a switch serves them.
"""

from __future__ import annotations

from typing import Any

from models.fabric.engine_state import (
    CHUNK,
    END,
    FREE_CHUNK,
    FRESH_CHUNK,
    LAST,
    PAYLOAD,
    QUEUE,
    SHIFT,
    TAIL,
    WINDOW_BITS,
    fetch,
    int64,
    uint64,
)

WIDE = False
"""Whether words have a second one; set for each compiled engine."""

FEW = 12
"""Words up to which insertion alone is faster."""
MOST_BUCKET_BITS = 13
FOUR_ONES = uint64(0x0001_0001_0001_0001)
LINE = 8
"""Words of a cache line."""


def new_chunk(s: Any) -> int:
    """Take a chunk; the loop makes sure before each window that there are enough."""
    chunk = s.value[FREE_CHUNK]
    if chunk >= 0:
        following = s.word[chunk + LAST]
        s.value[FREE_CHUNK] = following
        fetch_chunk(s, following)  # the next one to be taken
        return chunk
    chunk = s.value[FRESH_CHUNK]
    s.value[FRESH_CHUNK] = chunk + CHUNK
    return chunk


def next_chunk(s: Any, place: int) -> int:
    """Give back the chunk that ends at `place` and return where the list goes on."""
    following = s.word[place]
    s.word[place] = s.value[FREE_CHUNK]
    s.value[FREE_CHUNK] = place - LAST
    fetch_chunk(s, following)
    return following


def fetch_chunk(s: Any, place: int) -> None:
    """Fetch a chunk from `place` on."""
    for line in range(0, CHUNK, LINE):
        fetch(s.word, place + line)
        if WIDE:
            fetch(s.more, place + line)


def append(s: Any, item: int, word: int, payload: int) -> None:
    """Put a word at the end of list `item`."""
    place = s.queue[QUEUE * item + TAIL]
    s.word[place] = word
    if WIDE:
        s.more[place] = payload
    place += 1
    if place & LAST == LAST:
        chunk = new_chunk(s)
        s.word[place] = chunk
        place = chunk
    s.word[place] = END
    s.queue[QUEUE * item + TAIL] = place


def payload_of(s: Any, word: int, more: Any, place: int) -> int:
    """What a packet carries but its time."""
    if WIDE:
        return more[place]
    return word & s.parameter[PAYLOAD]


def gather(s: Any, first: int, count: int, end: int, have: int) -> int:
    """Read what arrives before `end` in lists `first` to `first + count - 1` behind the `have`
    words that `gathered` has; return how many it has now."""
    limit = end << s.parameter[SHIFT]
    for item in range(first, first + count):
        place = s.head[item]
        word = s.word[place]
        if word >= limit:
            continue
        before = have
        data = int64(0)
        while word < limit:
            s.gathered[have] = word
            if WIDE:
                payload = s.more[place]
                s.gathered_more[have] = payload
                data += payload & 1
            else:
                data += word & 1
            have += 1
            place += 1
            if place & LAST == LAST:
                place = next_chunk(s, place)
            word = s.word[place]
        s.head[item] = place
        s.seen[item] += have - before
        s.seen_data[item] += data
    return have


def fetch_lists(s: Any, first: int, count: int) -> None:
    """Fetch what lists will be read for, one window's worth."""
    for item in range(first, first + count):
        fetch_chunk(s, s.head[item])


def fetch_ends(s: Any, first: int, count: int) -> None:
    """Fetch where lists will grow."""
    for item in range(first, first + count):
        fetch_chunk(s, s.queue[QUEUE * item + TAIL])


def order(s: Any, count: int, base: int) -> None:
    """Bring the `count` words of `gathered` into order in `ordered`; none is before `base`.

    Times in a window are spread evenly enough that one pass of counting by their upper bits, into
    two to four times as many buckets as words, leaves little to the insertion that follows.
    """
    if count > FEW:
        bits = int64(2)
        while (int64(1) << bits) < 2 * count:
            bits += 1
        bits = min(bits, MOST_BUCKET_BITS, s.parameter[WINDOW_BITS])
        shift = uint64(s.parameter[SHIFT] + s.parameter[WINDOW_BITS] - bits)
        start = base << s.parameter[SHIFT]
        for i in range(count):
            s.bucket[uint64(s.gathered[i] - start) >> shift] += 1
        place = uint64(0)
        for b in range(int64(1) << bits - 2):
            four = uint64(s.buckets[b])
            sums = four * FOUR_ONES
            s.buckets[b] = int64(place * FOUR_ONES + sums - four)
            place += sums >> uint64(48)
        for i in range(count):
            word = s.gathered[i]
            b = uint64(word - start) >> shift
            place = s.bucket[b]
            s.bucket[b] = place + 1
            s.ordered[place] = word
            if WIDE:
                s.ordered_more[place] = s.gathered_more[i]
        for b in range(int64(1) << bits - 2):
            s.buckets[b] = 0
    else:
        for i in range(count):
            s.ordered[i] = s.gathered[i]
            if WIDE:
                s.ordered_more[i] = s.gathered_more[i]
    before = int64(-1)
    for i in range(count):
        word = s.ordered[i]
        if word >= before:
            before = word
            continue
        payload = int64(0)
        if WIDE:
            payload = s.ordered_more[i]
        place = i
        while place > 0 and s.ordered[place - 1] > word:
            s.ordered[place] = s.ordered[place - 1]
            if WIDE:
                s.ordered_more[place] = s.ordered_more[place - 1]
            place -= 1
        s.ordered[place] = word
        if WIDE:
            s.ordered_more[place] = payload


INLINED = (new_chunk, next_chunk, fetch_chunk, append, payload_of)
FUNCTIONS = (*INLINED, gather, fetch_lists, fetch_ends, order)
