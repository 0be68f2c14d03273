"""The loop over windows, and in each over all nodes.

A window is one link latency and the shortest frame long: nothing that is sent in it arrives in it.
So each node can do a whole window by itself, with its words in cache. Layers work at different
windows at one step: what a host sends in window i is at its edge switch in window i + 1 at the
earliest, at the aggregation switch in i + 2 and at the core in i + 3. So a step serves these
windows, from hosts upwards and pod by pod, and finds most of what it wrote still in cache.
"""

from __future__ import annotations

from typing import Any

from models.fabric.engine_host import next_event, receive, transmit
from models.fabric.engine_state import (
    AGG_LINKS,
    AGGS_A_POD,
    CHUNK,
    CHUNKS_END,
    DONE,
    EDGE_BITS,
    EDGE_LINKS,
    EDGES_A_POD,
    END,
    FREE,
    GROW,
    HALF,
    HOSTS,
    LEVELS,
    LIMIT,
    LISTS,
    LIVE,
    NEW,
    NOTED,
    NOTES_LIVE,
    OWED,
    POD_BITS,
    PODS,
    PORT_BITS,
    QUEUE,
    RUNNING,
    STATUS,
    STEP,
    TOO_NARROW,
    TOP_LINKS,
    TOPS,
    UNSENT,
    WINDOW,
    int64,
    state_at,
)
from models.fabric.engine_switch import HEARD, collect, hold, release, serve_down, serve_up
from models.fabric.engine_words import fetch_ends, fetch_lists, order


def serve_hosts(s: Any, edge: int, base: int) -> None:
    """All hosts below an edge switch in the window from `base` on."""
    w, end = s.parameter[HALF], base + s.parameter[WINDOW]
    for host in range(edge * w, edge * w + w):
        echoes = receive(s, host, end)
        transmit(s, host, end, echoes)


def serve_edge(s: Any, pod: int, place: int, base: int) -> None:
    """Edge switch number `place` of a pod in one window."""
    p, w, n = s.parameter, s.parameter[HALF], s.parameter[HOSTS]
    end = base + p[WINDOW]
    edge = pod * p[EDGES_A_POD] + place
    above = (p[AGG_LINKS] if p[LEVELS] == 3 else p[TOP_LINKS]) + edge * w
    heard = int64(0)
    if HEARD:
        heard = collect(s, above, w, base, end, int64(0))
        hold(s, heard)
    count = collect(s, edge * w, w, base, end, int64(0))
    here = pod << p[EDGE_BITS] | place
    count, area = serve_up(s, count, edge, n + edge * w, here, p[PORT_BITS], int64(-1), heard)
    s.area[1] += area
    if HEARD:
        count = release(s, heard, count)
        order(s, count, base)
    else:
        count = collect(s, above, w, base, end, count)
    first, mask = p[EDGE_LINKS] + edge * w, (int64(1) << p[PORT_BITS]) - 1
    s.area[2 * p[LEVELS] - 1] += serve_down(s, count, first, int64(0), mask)


def serve_agg(s: Any, pod: int, place: int, base: int) -> None:
    """Aggregation switch number `place` of a pod in one window."""
    p, w, n = s.parameter, s.parameter[HALF], s.parameter[HOSTS]
    end = base + p[WINDOW]
    agg = pod * w + place
    below = p[PORT_BITS] + p[EDGE_BITS]
    count = collect(s, n + agg * w, w, base, end, int64(0))
    switch = p[PODS] * p[EDGES_A_POD] + agg
    count, area = serve_up(s, count, switch, 2 * n + agg * w, pod, below, agg, int64(0))
    s.area[2] += area
    count = collect(s, p[TOP_LINKS] + agg * w, w, base, end, count)
    first, mask = p[AGG_LINKS] + agg * w, (int64(1) << p[EDGE_BITS]) - 1
    s.area[4] += serve_down(s, count, first, p[PORT_BITS], mask)


def serve_top(s: Any, top: int, base: int) -> None:
    """Core or spine switch in one window."""
    p, k = s.parameter, 2 * s.parameter[HALF]
    stage = p[LEVELS] - 1
    count = collect(s, stage * p[HOSTS] + top * k, k, base, base + p[WINDOW], int64(0))
    below = p[PORT_BITS] + p[EDGE_BITS]
    first, mask = p[TOP_LINKS] + top * k, (int64(1) << p[POD_BITS]) - 1
    s.area[stage + 1] += serve_down(s, count, first, below, mask)


def skip_idle(s: Any) -> bool:
    """Go on to the window in which a host sends next, when nothing is under way; return False if
    none ever does."""
    soonest = int64(END)
    for host in range(s.parameter[HOSTS]):
        soonest = min(soonest, next_event(s, host))
    s.value[STEP] = max(s.value[STEP], soonest // s.parameter[WINDOW])
    return soonest < END


def enough_chunks(s: Any) -> bool:
    """Whether one more step cannot run out of chunks: two partly used ones a list, and all words
    there can be; with notes, of each packet at one or two uplinks."""
    words = s.value[LIVE] + s.parameter[NEW]
    if s.parameter[NOTED]:
        words = 3 * words + s.value[NOTES_LIVE]
    return (words // (CHUNK - 1) + 2 * s.parameter[LISTS] + 2) * CHUNK <= s.value[CHUNKS_END]


def fetch_for_edge(s: Any, edge: int) -> None:
    """Fetch what an edge switch, and the hosts of the next one, will need."""
    p, w, n = s.parameter, s.parameter[HALF], s.parameter[HOSTS]
    above = p[AGG_LINKS] if p[LEVELS] == 3 else p[TOP_LINKS]
    fetch_lists(s, above + edge * w, w)
    fetch_ends(s, n + edge * w, w)
    fetch_ends(s, p[EDGE_LINKS] + edge * w, w)
    if (edge + 1) * w < n:
        fetch_lists(s, p[EDGE_LINKS] + (edge + 1) * w, w)
        fetch_ends(s, p[OWED] + (edge + 1) * w, w)
        fetch_ends(s, (edge + 1) * w, w)


def fetch_for_agg(s: Any, agg: int) -> None:
    """Fetch what an aggregation switch will need; what comes from below is in the caches still."""
    p, w, n = s.parameter, s.parameter[HALF], s.parameter[HOSTS]
    fetch_lists(s, p[TOP_LINKS] + agg * w, w)
    fetch_ends(s, 2 * n + agg * w, w)
    fetch_ends(s, p[AGG_LINKS] + agg * w, w)


def fetch_for_top(s: Any, top: int) -> None:
    """Fetch what a core or spine switch and the next one will need."""
    p, k = s.parameter, 2 * s.parameter[HALF]
    fetch_ends(s, p[TOP_LINKS] + top * k, k)
    if top + 1 < p[TOPS]:
        fetch_lists(s, (p[LEVELS] - 1) * p[HOSTS] + (top + 1) * k, k)


def serve_window(s: Any) -> None:
    """One step."""
    p = s.parameter
    base = s.value[STEP] * p[WINDOW]
    for pod in range(p[PODS]):
        for place in range(p[EDGES_A_POD]):
            edge = pod * p[EDGES_A_POD] + place
            fetch_for_edge(s, edge)
            serve_hosts(s, edge, base)
            serve_edge(s, pod, place, base + p[WINDOW])
        for place in range(p[AGGS_A_POD]):
            fetch_for_agg(s, pod * p[AGGS_A_POD] + place)
            serve_agg(s, pod, place, base + 2 * p[WINDOW])
    for top in range(p[TOPS]):
        fetch_for_top(s, top)
        serve_top(s, top, base + p[LEVELS] * p[WINDOW])
    s.value[STEP] += 1


def fits(s: Any) -> bool:
    """Whether the words of the next step have room for their times."""
    latest = int64(0)
    for link in range(2 * s.parameter[LEVELS] * s.parameter[HOSTS]):
        latest = max(latest, s.queue[QUEUE * link + FREE])
    latest = max(latest, s.value[STEP] * s.parameter[WINDOW])
    return latest <= s.parameter[LIMIT]


def advance(table: int, steps: int) -> None:
    """Serve up to `steps` windows; `table` is where the buffers' addresses are. `STATUS` says how
    it ended."""
    s: Any = state_at(table)
    s.value[STATUS] = RUNNING
    for _ in range(steps):
        if s.value[LIVE] == 0:
            if s.value[UNSENT] == 0:
                s.value[STATUS] = DONE
                return
            if not skip_idle(s):
                s.value[STATUS] = DONE  # what is left waits for flows that never end
                return
        if not fits(s):
            s.value[STATUS] = TOO_NARROW
            return
        if not enough_chunks(s):
            s.value[STATUS] = GROW
            return
        serve_window(s)


FUNCTIONS = (
    fetch_for_edge,
    fetch_for_agg,
    fetch_for_top,
    fits,
    serve_hosts,
    serve_edge,
    serve_agg,
    serve_top,
    skip_idle,
    enough_chunks,
    serve_window,
)
