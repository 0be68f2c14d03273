"""The slow, obvious engine: one event at a time, in plain Python, with every scheme as written.

Two kinds of events, each in a heap: a packet arrives at a node, and a host may have something to
send. At one time all arrivals come first, switch by switch and at a switch in the order of its
input ports (parameter `ties`), then the hosts. Links take time, so whatever arrives at a time is
known before anything of that time is decided.

That no packet is lost, doubled or in two places is checked at every event.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.flows import Flows, check_run
from models.fabric.network import Failures, all_up, draw_failures
from models.fabric.rate import sending_rate
from models.fabric.reference_host import Host
from models.fabric.reference_links import build
from models.fabric.reference_queue import Queue
from models.fabric.result import TRACE, Result
from models.fabric.schemes.base import LinkScheme, Packet, Switch, SwitchScheme, Top, module_of
from models.fabric.streams import Kind, Stream

PROGRESS_STEP = 1000
"""Delivered data packets between two reports of progress."""

SwitchHook = Callable[[Switch], SwitchScheme | None]


class ConservationError(RuntimeError):
    """A packet was lost, doubled or in two places: the engine itself is wrong."""


def simulate(
    config: FabricConfig,
    flows: Flows,
    *,
    failures: Failures | None = None,
    trace: bool = False,
    switches: SwitchHook | None = None,
    progress: Callable[[int], object] | None = None,
) -> Result:
    """Run `flows` through the network of `config` until nothing moves any more.

    Args:
        failures: links that are down; None draws them if `link_failure` is above 0.
        trace: whether to keep a row for each packet and link.
        switches: makes the load balancer of a switch, or returns None for the configured one.
        progress: called now and then with the data packets delivered so far.

    Raises `ValueError` if the flows are of another tree, or a scheme picks an uplink that is not
    valid.
    """
    check_run(config, flows)
    if failures is None and not all_up(config):
        failures = draw_failures(config)
    engine = Engine(config, flows, failures, switches, trace)
    engine.run(progress)
    return engine.result()


class Engine:
    """One run."""

    def __init__(
        self,
        config: FabricConfig,
        flows: Flows,
        failures: Failures | None,
        hook: SwitchHook | None,
        trace: bool,
    ) -> None:
        self.config = config
        self.flows = flows
        self.fabric = build(config, failures)
        tree = self.fabric.tree
        self.schemes: list[SwitchScheme] = []
        """Of the edges, then of the aggregations."""
        for switch in (*self.fabric.edges, *self.fabric.aggs):
            own = hook(switch) if hook else None
            self.schemes.append(own or module_of(switch.scheme).AtSwitch(switch))
        self.downlinks: dict[int, LinkScheme] = {}
        """By link number: links down between switches, if a scheme has anything there."""
        for scheme in filter(None, (config.scheme, config.mix_scheme)):
            if at_downlink := getattr(module_of(scheme), "AtDownlink", None):
                inner = self.fabric.links[tree.levels * tree.hosts : -tree.hosts]
                self.downlinks = {link.link: at_downlink(config) for link in inner}
                break
        at_host = getattr(module_of(config.scheme), "AtHost", None)
        rate = sending_rate(config, flows, failures)
        self.hosts: list[Host] = []
        for number, link in enumerate(self.fabric.links[: tree.hosts]):
            scheme = at_host(config, tree, failures, number) if at_host else None
            self.hosts.append(Host(config, flows, rate, link, scheme))
        self.arrivals: list[tuple[int, int, int, Packet, Queue]] = []
        """Heap of (time, node, rank of the input port, packet, link it comes through)."""
        self.wakes: list[tuple[int, int]] = []
        """Heap of (time, host)."""
        self.waiting: list[deque[int]] = [deque() for _ in flows.needs]
        """Flows that wait for each trigger, in their order."""
        self.activated: list[list[tuple[int, int, int]]] = [[] for _ in flows.needs]
        """Activations of each trigger: host, time there, time everywhere else."""
        self.rows: list[tuple[int, int, bool, int, int, int]] | None = [] if trace else None
        self.begin = np.full(len(flows), -1, np.int64)
        self.finish = np.full(len(flows), -1, np.int64)
        self.arrived = [0] * len(flows)
        """Data packets of a flow that have arrived."""
        self.complete = [0] * len(flows)
        """Packets of a flow that are acknowledged (without ACKs: that have arrived)."""
        self.first: int | None = None
        self.last_data: int | None = None
        self.sent = self.consumed = self.lost = self.delivered = 0
        self._offer_flows()

    def _offer_flows(self) -> None:
        """Tell the hosts of the flows that no trigger starts."""
        flows, config = self.flows, self.config
        for flow in range(len(flows)):
            source, trigger = int(flows.source[flow]), int(flows.trigger[flow])
            if trigger >= 0:
                self.waiting[trigger].append(flow)
                continue
            jitter = 0
            if config.jitter:
                jitter = Stream(config.seed, Kind.JITTER, source).below(config.jitter)
            self._allow(source, flow, int(flows.start[flow]) + jitter)

    def _allow(self, host: int, flow: int, time: int) -> None:
        self.hosts[host].allow(flow, time)
        heapq.heappush(self.wakes, (time, host))

    def _activate(self, trigger: int, host: int, here: int, elsewhere: int) -> None:
        """Activate a trigger (if it is one, not -1) at a host, at time `here`; known at other hosts
        at time `elsewhere`."""
        if trigger < 0:
            return
        times, waiting = self.activated[trigger], self.waiting[trigger]
        times.append((host, here, elsewhere))
        needs = int(self.flows.needs[trigger])
        if needs == 0 and waiting:  # multishot: one flow, after this activation alone
            self._start(waiting.popleft(), times[-1:])
        elif needs == len(times):
            for flow in waiting:
                self._start(flow, times)

    def _start(self, flow: int, activations: list[tuple[int, int, int]]) -> None:
        """Let a flow begin when its host knows of all activations."""
        host = int(self.flows.source[flow])
        times = (here if host == at else elsewhere for at, here, elsewhere in activations)
        self._allow(host, flow, max(times))

    def run(self, progress: Callable[[int], object] | None = None) -> None:
        """Handle events in order until there are none."""
        told = 0
        while self.arrivals or self.wakes:
            if self.arrivals and (not self.wakes or self.arrivals[0][0] <= self.wakes[0][0]):
                self._arrive()
            else:
                self._send(*heapq.heappop(self.wakes))
            if self.sent != self.consumed + self.lost + len(self.arrivals):
                raise ConservationError(
                    f"{self.sent} packets sent, but {self.consumed} received, {self.lost} lost "
                    f"and {len(self.arrivals)} under way"
                )
            if progress and self.delivered >= told + PROGRESS_STEP:
                told = self.delivered
                progress(told)
        if not self.fabric.is_balanced():
            raise ConservationError("a switch did not send on what came in")

    def _send(self, now: int, number: int) -> None:
        """Let a host send what it has to send now."""
        host = self.hosts[number]
        packet = host.choose(now)
        if packet is None:
            if now >= host.free and (time := host.wakes()) is not None:
                heapq.heappush(self.wakes, (time, number))
            return
        self.sent += 1
        if self.first is None:
            self.first = now
        flow, gone = packet.flow, now + packet.time
        if not packet.ack and packet.number == 0:
            self.begin[flow] = now
        if not packet.ack and packet.number == self.flows.packets[flow] - 1:
            trigger = int(self.flows.sent[flow])
            self._activate(trigger, number, gone, gone + self.config.latency)
        self._put(packet, host.link, now)
        heapq.heappush(self.wakes, (gone, number))

    def _put_down(self, packet: Packet, link: Queue, now: int) -> None:
        """Put a packet into the queue before a link down."""
        if scheme := self.downlinks.get(link.link):
            scheme.passes(packet, now)
        self._put(packet, link, now)

    def _put(self, packet: Packet, link: Queue, now: int) -> None:
        """Put a packet into the queue before a link and let it arrive at the other end."""
        config, waits = self.config, link.backlog(now)
        start = link.put(now, packet.time, packet.ack)
        if self.rows is not None:
            left = -1 if start is None else start
            self.rows.append((packet.flow, packet.number, packet.ack, link.link, now, left))
        if start is None:
            self.lost += 1
            return
        if link.stage and not packet.ack:
            options = config.options
            packet.marked |= waits * 100 >= options.ecn_percent * options.buffer_bytes
        packet.port = link.port
        arrival = start + packet.time - config.gap_bytes + config.latency
        event = (arrival, link.end, self.fabric.rank(link), packet, link)
        heapq.heappush(self.arrivals, event)

    def _arrive(self) -> None:
        """Take in all packets that arrive at the next node and time, in order of rank."""
        now, node = self.arrivals[0][:2]
        packets: list[Packet] = []
        while self.arrivals and self.arrivals[0][:2] == (now, node):
            packet, link = heapq.heappop(self.arrivals)[3:]
            if (packet.port, node) != (link.port, link.end):
                raise ConservationError(f"packet of flow {packet.flow} in two places at {now}")
            packets.append(packet)
        if node < len(self.hosts):
            for packet in packets:
                self._receive(node, packet, now)
            return
        switch = self.fabric.switches[node - len(self.hosts)]
        if isinstance(switch, Top):
            for packet in packets:
                self._put_down(packet, switch.downlink_to(packet.destination), now)
            return
        scheme = self.schemes[node - len(self.hosts)]
        if up := [packet for packet in packets if not switch.is_above(packet.destination)]:
            scheme.arrive(up, now)
        for packet in packets:
            if switch.is_above(packet.destination):
                scheme.passes(packet, now)
                self._put_down(packet, switch.downlink_to(packet.destination), now)
                continue
            valid = switch.valid_to(packet.destination)
            uplink = scheme.pick(packet, now, valid)
            if uplink not in valid:
                where = f"{switch.kind.name.lower()} switch {switch.number}"
                raise ValueError(f"uplink of {where} must be one of {valid}, not {uplink!r}")
            self._put(packet, switch.uplinks[uplink], now)

    def _receive(self, number: int, packet: Packet, now: int) -> None:
        """Take a packet in at its host."""
        if packet.destination != number:
            raise ConservationError(f"host {number} got a packet for {packet.destination}")
        self.consumed += 1
        host, flow = self.hosts[number], packet.flow
        if packet.ack and host.scheme:
            host.scheme.acknowledged(packet, now)
        if not packet.ack:
            self.delivered += 1
            self.last_data = now
            self.arrived[flow] += 1
            if self.arrived[flow] == self.flows.packets[flow]:
                away = self.config.latency + self.config.data_time
                self._activate(int(self.flows.received[flow]), number, now, now + away)
            if self.config.acks:
                host.owed.append(packet)
                heapq.heappush(self.wakes, (now, number))
        if packet.ack or not self.config.acks:
            self.complete[flow] += 1
            if self.complete[flow] == self.flows.packets[flow]:
                self.finish[flow] = now

    def result(self) -> Result:
        """What was measured."""
        rows = None
        if self.rows is not None:
            rows = np.array(self.rows, TRACE)
            rows = rows[np.lexsort((rows["arrival"], rows["link"]))]
        first = 0 if self.first is None else self.first
        largest, area = self.fabric.each("largest"), self.fabric.each("area").sum(1)
        largest[0], area[0] = 0, 0  # hosts send when the link is free: no queue there
        return Result(
            first=first,
            finish=self.finish,
            begin=self.begin,
            last_data=first if self.last_data is None else self.last_data,
            packets=self.fabric.each("packets"),
            data=self.fabric.each("data"),
            lost=self.fabric.each("lost"),
            largest=largest,
            area=area,
            trace=rows,
        )
