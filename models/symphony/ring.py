"""Ring all-reduce, as one switch port sees it: a trace to try Symphony with (seed section 2.1).

What is modelled:

- `jobs` rings of `nodes` nodes each. In step s, of 2(N - 1), node i sends its chunk of `packets`
  packets to node i + 1. It begins step s + 1 when its own chunk of step s and that of node i - 1
  have left the port whole. In step 0 all begin in turn, a packet's time apart.
- All flows leave through one port, a FIFO without end that is served at line rate.
- A node sends at an even pace, its fair share of the port: one packet in the time of N·J packets,
  across steps too; `load` is how much faster all of them send than that. The slow node of job 0
  takes `slow_factor` times as long.
- Each packet comes to the port up to `jitter_ns` late, drawn evenly; a flow's packets stay in
  order.

What is not: propagation and computation take no time, nothing is lost or sent again, and senders
neither hear marks nor take up the share of those that wait. So lag builds up as it would if nobody
did anything about it, and marks in a trace have no effect on what follows.

`time_ns` is when a packet is taken from the queue; `queue_bytes` is what is left there then.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heappop, heappush, heapreplace

import numpy as np

from models.common.check import integer, real
from models.common.mix import GOLDEN, MASK64, mix64
from models.symphony.trace import Trace

MAX_PACKETS = 2**24
"""Packets of a trace."""


@dataclass(frozen=True, kw_only=True)
class Ring:
    """What sends, and through what. Fields are checked on construction: `TypeError` and
    `ValueError` name the field and the value."""

    nodes: int = 8
    """Nodes of a ring, 2 to 4,096."""
    jobs: int = 1
    """Rings, 1 to 65,536."""
    packets: int = 1000
    """Packets of a chunk, 1 to 2**24: a chunk of 1 MB."""
    slow: int | None = None
    """Node of job 0 that sends slowly; None: no node does."""
    slow_factor: float = 2.0
    """How many times as long it takes, 1 to 1,000."""
    load: float = 1.0
    """Rate at which all flows together send, in line rates, 0.01 to 10. Above 1 the queue grows
    until the end of each step."""
    jitter_ns: int = 2000
    """Largest delay of a packet on its way to the port, ns, 0 to 10**9: some packets' time."""
    gbps: float = 10.0
    """Line rate, Gb/s, 0.001 to 100,000 (section 4.1: 10)."""
    packet_bytes: int = 1000
    """Bytes of a packet, 64 to 65,535 (the payload in HPCC's simulations is 1,000)."""
    seed: int = 0
    """Seed of the jitter, 0 to 2**63 - 1."""

    def __post_init__(self) -> None:
        integer("nodes", self.nodes, 2, 4096)
        integer("jobs", self.jobs, 1, 65536)
        integer("packets", self.packets, 1, MAX_PACKETS)
        if self.slow is not None:
            integer("slow", self.slow, 0, self.nodes - 1)
        real("slow_factor", self.slow_factor, 1, 1000)
        real("load", self.load, 0.01, 10)
        integer("jitter_ns", self.jitter_ns, 0, 10**9)
        real("gbps", self.gbps, 0.001, 100_000)
        integer("packet_bytes", self.packet_bytes, 64, 65535)
        integer("seed", self.seed, 0, 2**63 - 1)
        if self.total > MAX_PACKETS:
            reason = f"packets must be at most {MAX_PACKETS} in all flows and steps"
            raise ValueError(f"{reason}, not {self.total}")

    @property
    def steps(self) -> int:
        """Steps of an all-reduce, 2(N - 1)."""
        return 2 * (self.nodes - 1)

    @property
    def flows(self) -> int:
        """Flows at one time; flow f is of node f mod N of job ⌊f / N⌋."""
        return self.nodes * self.jobs

    @property
    def total(self) -> int:
        """Packets in all."""
        return self.flows * self.steps * self.packets

    @property
    def packet_ps(self) -> int:
        """Time of a packet at line rate, ps."""
        return max(1, round(self.packet_bytes * 8000 / self.gbps))

    def pace(self, flow: int) -> int:
        """Return the time between two packets of a flow, ps."""
        factor = self.slow_factor if flow == self.slow else 1
        return round(self.packet_ps * self.flows * factor / self.load)

    def arrivals(self, flow: int, step: int, start: int) -> list[int]:
        """Return when the packets of a flow's step come to the port, ps; it begins at `start`."""
        number = np.arange(self.packets, dtype=np.int64)
        counter = (number + (flow * self.steps + step) * self.packets).astype(np.uint64)
        stream = mix64(self.seed + GOLDEN & MASK64)
        drawn = mix64(counter * np.uint64(GOLDEN) + np.uint64(stream))
        late = (drawn % np.uint64(1000 * self.jitter_ns + 1)).astype(np.int64)
        return np.maximum.accumulate(start + number * self.pace(flow) + late).tolist()


def ring_trace(ring: Ring) -> Trace:
    """Return the packets that leave the port, in order."""
    flows, times = _served(ring)
    taken = _taken(times, ring.packet_ps)
    waiting = np.searchsorted(times, taken, side="right") - np.arange(1, len(times) + 1)
    place = _places(flows)
    psn = place % ring.packets
    return Trace.of(
        time_ns=taken // 1000,
        job=flows // ring.nodes,
        step=place // ring.packets,
        psn=psn,
        last=psn == ring.packets - 1,
        queue_bytes=waiting * ring.packet_bytes,
    )


def _served(ring: Ring) -> tuple[np.ndarray, np.ndarray]:
    """Return the flow of each packet, and when it comes to the port, ps, in that order."""
    flows, times = array("q"), array("q")
    coming: list[tuple[int, int]] = []  # a heap of (time, flow): each flow's next packet
    later: list[Iterator[int]] = [iter(())] * ring.flows  # its packets behind that one
    finished = [0] * ring.flows  # steps that have left whole
    turn = [flow * ring.packet_ps for flow in range(ring.flows)]  # when its pace lets it go on

    def begin(flow: int, ready: int) -> None:
        start = max(ready, turn[flow])
        turn[flow] = start + ring.packets * ring.pace(flow)
        later[flow] = iter(ring.arrivals(flow, finished[flow], start))
        heappush(coming, (next(later[flow]), flow))

    for flow in range(ring.flows):
        begin(flow, 0)
    free = 0  # when the port has sent all that has come
    while coming:
        time, flow = coming[0]
        free = (time if time > free else free) + ring.packet_ps
        flows.append(flow)
        times.append(time)
        following = next(later[flow], None)
        if following is not None:
            heapreplace(coming, (following, flow))
            continue
        heappop(coming)
        finished[flow] += 1
        done = finished[flow]
        first = flow - flow % ring.nodes
        before, behind = (first + (flow + by) % ring.nodes for by in (-1, 1))
        if done < ring.steps and finished[before] >= done:
            begin(flow, free)
        if done < ring.steps and finished[behind] == done:
            begin(behind, free)
    return np.frombuffer(flows, np.int64), np.frombuffer(times, np.int64)


def _taken(times: np.ndarray, packet: int) -> np.ndarray:
    """Return when each packet is taken from a FIFO: when it comes, or `packet` after the last."""
    ahead = np.arange(len(times), dtype=np.int64) * packet
    return np.maximum.accumulate(times - ahead) + ahead


def _places(flows: np.ndarray) -> np.ndarray:
    """Return of each packet how many of its flow came before it."""
    order = np.argsort(flows, kind="stable")
    counts = np.bincount(flows)
    places = np.empty(len(flows), np.int64)
    places[order] = np.arange(len(flows)) - np.repeat(np.cumsum(counts) - counts, counts)
    return places
