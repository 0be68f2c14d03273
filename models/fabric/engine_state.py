"""What the compiled loops of the fast engine work on: plain memory, by name.

The loops take one array of addresses and see each buffer through a pointer. Numba's arrays would
cost more than the work itself: every call counts references, every index is checked for its sign.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy
from llvmlite import ir
from numba.core import types
from numba.core.cgutils import get_or_insert_function
from numba.extending import intrinsic

int64: Any = numpy.int64
"""A literal as an argument would make Numba compile the function once more."""
uint64: Any = numpy.uint64

CHUNK = 32
"""Words of a chunk; the last one leads to the next chunk."""
LAST = CHUNK - 1
END = 2**63 - 1
"""Stands behind the last word of a list: later than every time."""

FREE, LARGEST, RANK, TAIL, QUEUE = range(5)
"""Places in a row of `queue`, so that a packet finds all in one line of the caches: when all that
is queued has left; the largest backlog; the rank of the input port the link leads to, in its place
in a word; where the next word goes. Lists without a link have the last alone."""

NEEDS, FIRST_WAITING, LATEST = 0, 1, 2
LATEST_AT, SECOND, KNOWN = 1, 2, 3
TRIGGER = LATEST + 2 * KNOWN
"""Places in a row of `trigger`: activations that it still needs (multishot: 0), the next flow that
it starts; then for both kinds of activations `SENT` and `RECEIVED` the latest time, its host, and
the latest time at any other host."""
SENT, RECEIVED = 0, 1

TOLD = 16
"""Periods of which a queue's past is kept for neighbours."""

DATA_FIRST, ACK_FIRST, ALTERNATE = 2, 1, 0
"""Parameter `ORDER`."""

(
    WINDOW,  # W, byte times
    WINDOW_BITS,  # of W - 1
    SHIFT,  # of the time in a word
    PAYLOAD,  # mask of what is not time or rank in a word
    LIMIT,  # of all that has left a queue before a step, or words are too narrow
    HALF,  # w
    FULL,  # mask of all uplinks
    PORT_BITS,  # of a host below its edge switch
    EDGE_BITS,  # of an edge switch in its pod
    POD_BITS,
    ID_SHIFT,  # of the flow (traced: the packet) in a payload
    ID_MASK,
    TAG_SHIFT,  # of the scheme's tag
    RANK_SHIFT,  # of the rank of the input port
    RANK_MASK,
    HOSTS,  # n
    PODS,
    EDGES_A_POD,
    AGGS_A_POD,
    TOPS,
    AGG_LINKS,  # first link from aggs down, also slot of aggs from above
    TOP_LINKS,  # first link from tops
    EDGE_LINKS,  # first link from edges to hosts, also slot of hosts
    OWED,  # first list of data packets that hosts have to acknowledge
    NOTES,  # first list of departures that `queue_length` looks at
    LEVELS,
    ACK_TIME,
    DATA_TIME,  # stands behind that of ACKs
    FLIGHT,  # latency less the gap, which has not to arrive
    LATENCY,
    ROOM,  # most backlog of a queue
    ACKS,
    ORDER,
    SPACING,  # of data at the host, whole byte times, and
    SPACING_PART,  # what is left, of
    SPACING_WHOLE,
    FAILING,
    TRACED,
    NOTED,  # stages of uplinks whose lengths need departures
    AGE,
    IN_SERVICE,
    IN_PACKETS,
    ECN,  # a backlog·100 from which data is marked
    PERIOD,  # P, how often backlogs are told
    LISTS,
    NEW,  # most data packets that hosts can send in one window
    PARAMETERS,
) = range(47)
"""Places in `parameter`."""

(
    FREE_CHUNK,  # first of the free chunks, or -1
    FRESH_CHUNK,  # chunks from here on were never used
    CHUNKS_END,
    STEP,  # window of the hosts
    LIVE,  # packets sent and neither received nor lost, and data still to be acknowledged
    UNSENT,  # data packets not sent
    NOTES_LIVE,
    FIRST,
    LAST_DATA,
    DELIVERED,
    ROWS,
    STATUS,
    VALUES,
) = range(13)
"""Places in `value`."""

RUNNING, DONE, GROW, TOO_NARROW = range(4)
"""`STATUS` after a call: more to do; all done; more chunks first; start again with wide words."""


class State(NamedTuple):
    """All buffers, int64 unless noted; [links] as `models.fabric.network` numbers them."""

    parameter: Any
    value: Any
    area: Any  # [stages]
    word: Any  # chunks of words
    more: Any  # payloads beside them if words are wide
    head: Any  # [lists] next word to read, by receiver
    queue: Any  # [lists, QUEUE] of a link and its list, by sender: what `QUEUE` says
    seen: Any  # [links] packets that came through, by receiver
    seen_data: Any
    lost: Any
    port: Any  # uint8 [switches, k] input port of a rank
    gathered: Any
    gathered_more: Any
    ordered: Any
    ordered_more: Any
    held: Any  # what came from above, while a switch listens to it first
    held_more: Any
    bucket: Any  # uint16 [buckets]
    buckets: Any  # the same memory, four of them a word
    judged: Any  # [w] what a scheme makes of each uplink
    chosen: Any  # [w and more] uplinks a scheme may take
    told_age: Any  # [links] period in which a packet was put in last
    told: Any  # [links, TOLD] `free` before the last periods
    edge_valid: Any  # [edges, codes of edges]
    agg_valid: Any  # [aggs, codes of pods]
    stream: Any  # [edges + aggs] random numbers of switches
    host_stream: Any
    second: Any  # uint8 [edges + aggs] which of two schemes
    own: Any  # of the scheme
    own_bytes: Any
    other: Any  # of the second scheme
    other_bytes: Any
    host_own: Any  # of the scheme at hosts
    note_age: Any  # [2n] of uplinks: age in which a packet was put in last,
    note_free: Any  # `free` before that age,
    note_put: Any  # packets put in,
    note_before: Any  # of them before that age,
    note_left: Any  # of them left
    host_next: Any  # [n] earliest start of the next data packet
    host_part: Any  # parts of byte times that pacing has left
    host_sent_data: Any  # whether data was sent last
    host_turn: Any  # flow whose turn was last, or -1
    host_coming: Any  # first of the flows that have not joined, or -1
    flow_next: Any  # [flows] in the ring, or of those coming
    flow_time: Any  # when it may begin
    flow_left: Any  # data packets to send
    flow_total: Any
    flow_open: Any  # packets that are not acknowledged
    flow_to: Any  # payload of its first data packet
    flow_back: Any  # payload of its ACKs but the id
    flow_host: Any
    flow_sent: Any  # trigger that it activates when sent, or -1
    flow_received: Any  # the same when it has arrived, if any flow has one,
    flow_missing: Any  # data packets that have not arrived
    flow_fellow: Any  # next flow that the same trigger starts, or -1
    trigger: Any  # [triggers, TRIGGER] what `TRIGGER` says
    flow_begin: Any
    flow_finish: Any
    owner: Any  # flow of a packet, if traced
    row: Any  # [rows, 4] id·2 + ack, link, arrival, start


_BYTES = ("port", "second", "own_bytes", "other_bytes")
_WORDS16 = ("bucket",)


def item_type(name: str) -> Any:
    """Numba's type of the items of a buffer."""
    if name in _BYTES:
        return types.uint8
    return types.uint16 if name in _WORDS16 else types.int64


def _fetch(_typing: Any, _pointer: Any, _place: Any) -> Any:
    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = builder.gep(args[0], [args[1]])
        flag = context.get_value_type(types.int32)
        kind = ir.FunctionType(ir.VoidType(), [address.type, flag, flag, flag])
        function = get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [address, flag(0), flag(3), flag(1)])  # to read, all levels, data
        return context.get_dummy_value()

    return types.none(types.CPointer(types.int64), types.int64), lower


def _state_at(_typing: Any, _table: Any) -> Any:
    kinds = tuple(types.CPointer(item_type(name)) for name in State._fields)
    made = types.NamedTuple(kinds, State)

    def lower(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = context.get_value_type(types.int64)
        table = builder.inttoptr(args[0], word.as_pointer())
        items = []
        for place, kind in enumerate(kinds):
            address = builder.load(builder.gep(table, [word(place)]))
            items.append(builder.inttoptr(address, context.get_value_type(kind)))
        return context.make_tuple(builder, signature.return_type, items)

    return made(types.int64), lower


fetch: Any = intrinsic(_fetch)
"""fetch(pointer, place) brings a word into the caches before it is needed."""
state_at: Any = intrinsic(_state_at)
"""state_at(address of a table) makes a `State` of the addresses in the table."""
