"""What a load balancer is: three small classes, of which most schemes need one.

A scheme's module defines `AtSwitch`, `AtHost` if hosts take part, `AtDownlink` if links down do:

    class AtSwitch(SwitchScheme):   one object an edge or aggregation switch; `pick`s an uplink
    class AtHost(HostScheme):       one object a host; `tag`s the packets that the host sends
    class AtDownlink(LinkScheme):   one object a link down between switches; sees what goes there

They are written for a reader and are the specification of the scheme; the reference engine runs
them as they are.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import TYPE_CHECKING, Any

from models.fabric.config import FabricConfig
from models.fabric.network import Failures, Tree
from models.fabric.schemes import SCHEMES, parse_scheme
from models.fabric.streams import Kind, Stream, stream_start

if TYPE_CHECKING:
    from models.fabric.reference_queue import Queue


@dataclass(slots=True, eq=False)
class Packet:
    """A data packet or an ACK on its way; numbers are those of `models.fabric.network`."""

    flow: int
    number: int
    """Place in its flow, from 0; an ACK has that of its data packet."""
    ack: bool
    source: int
    """Host that sends this packet (for an ACK, the one that got the data)."""
    destination: int
    time: int
    """T, what it takes of a link, gap included, byte times."""
    answers: Packet | None = None
    """The data packet that an ACK acknowledges, as it arrived."""
    tag: Any = None
    """What the scheme writes on the packet: an entropy, a path, a measurement."""
    marked: bool = False
    """ECN: whether a data packet met a long queue (option `ecn_percent`)."""
    port: int = 0
    """Input port at the node where it is, or to which it is under way."""


@dataclass(eq=False)
class Switch:
    """An edge or aggregation switch as its load balancer knows it."""

    config: FabricConfig
    tree: Tree
    failures: Failures | None
    kind: Kind
    """`Kind.EDGE` or `Kind.AGG`."""
    number: int
    """Among the switches of its kind."""
    scheme: str
    """What it runs, as users write it (pofan4)."""
    uplinks: list[Queue] = field(default_factory=list)
    """The queue of each uplink, w of them."""
    downlinks: list[Queue] = field(default_factory=list)
    above: list[Top | Switch] = field(default_factory=list)
    """The switch at the other end of each uplink."""
    stream: Stream = field(init=False)
    """The switch's own random numbers."""

    def __post_init__(self) -> None:
        self.stream = Stream(self.config.seed, self.kind, self.number)

    @property
    def salt(self) -> int:
        """A number that tells the switch's hash function from that of others, 64 bits."""
        return stream_start(self.config.seed, self.kind, self.number)

    def one_of(self, members: Sequence[int]) -> int:
        """One of `members` at random; of a single one without a draw."""
        return members[self.stream.below(len(members))] if len(members) > 1 else members[0]

    def lowest(self, judged: Sequence[tuple[int, int]]) -> int:
        """Of (value, uplink) in rising order of uplinks, one of least value at random."""
        least = min(value for value, _ in judged)
        return self.one_of([uplink for value, uplink in judged if value == least])

    def in_unit(self, size: int) -> int:
        """A size in bytes in the unit of queue lengths (option `queue_unit`)."""
        return in_unit(self.config, size)

    def is_above(self, host: int) -> bool:
        """Whether the way to a host leads down from here."""
        edge = self.tree.edge_of(host)
        if self.kind == Kind.EDGE:
            return edge == self.number
        return self.tree.pod_of(edge) == self.tree.pod_of(self.number)

    def downlink_to(self, host: int) -> Queue:
        """The queue towards a host below this switch."""
        below = host if self.kind == Kind.EDGE else self.tree.edge_of(host)
        return self.downlinks[below % self.tree.half]

    def valid_to(self, host: int) -> list[int]:
        """The uplinks that begin a path to a host that is not below, rising."""
        if self.failures is None:
            return list(range(self.tree.half))
        edge = self.tree.edge_of(host)
        if self.kind == Kind.EDGE:
            mask = int(self.failures.edge_valid[self.number, edge])
        else:
            mask = int(self.failures.agg_valid[self.number, self.tree.pod_of(edge)])
        return [uplink for uplink in range(self.tree.half) if mask >> uplink & 1]


@dataclass(eq=False)
class Top:
    """A core or spine switch: all its links lead down, so it has nothing to decide."""

    tree: Tree
    number: int
    downlinks: list[Queue] = field(default_factory=list)

    def downlink_to(self, host: int) -> Queue:
        """The queue towards the pod (two levels: the edge switch) of a host."""
        return self.downlinks[self.tree.pod_of(self.tree.edge_of(host))]


class SwitchScheme:
    """What one switch does; the engine asks in the order in which packets are served."""

    def __init__(self, switch: Switch) -> None:
        self.switch = switch

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Return the uplink for a packet: one of `valid`, which rises and is never empty. The
        packet is put into that uplink's queue right after (or lost there)."""
        raise NotImplementedError

    def passes(self, packet: Packet, now: int) -> None:
        """See a packet that leaves downwards, before it is put into the downlink's queue."""

    def arrive(self, packets: list[Packet], now: int) -> None:
        """See all packets that need an uplink at one time, in the order of the `pick`s to come."""


class LinkScheme:
    """What one link down between two switches does, at the switch where it begins. In a mix all
    links down have that of the first scheme that has one."""

    def __init__(self, config: FabricConfig) -> None:
        self.config = config

    def passes(self, packet: Packet, now: int) -> None:
        """See, and write on, a packet before it is put into the link's queue (or lost there)."""


class HostScheme:
    """What one host does."""

    def __init__(self, config: FabricConfig, tree: Tree, failures: Failures | None, host: int):
        self.config = config
        self.tree = tree
        self.failures = failures
        self.host = host

    def tag(self, packet: Packet, now: int) -> None:
        """Write on a data packet or an ACK whose transmission starts."""

    def acknowledged(self, ack: Packet, now: int) -> None:
        """See an ACK that has come to this host."""


def in_unit(config: FabricConfig, size: int) -> int:
    """A size in bytes in the unit of queue lengths (option `queue_unit`)."""
    if config.options.queue_unit == "packets":
        return max(1, size // config.data_time)
    return size


def module_of(scheme: str) -> ModuleType:
    """The module of a scheme named as users write it: of this package, or one with dots in its
    name, wherever that is."""
    module = SCHEMES[parse_scheme(scheme)[0]][0]
    return importlib.import_module(module if "." in module else f"{__package__}.{module}")
