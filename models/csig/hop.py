"""The golden model: what one hop does to the tag of a packet that leaves it.

This file is the specification: one packet at a time, values as exact rational numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

from models.csig.agent import AgentTable, Use
from models.csig.config import CsigConfig
from models.csig.lookup import look_up
from models.csig.meter import Meter
from models.csig.port import Port, check_ports
from models.csig.replace import replaces
from models.csig.signals import BY_NUMBER, Signal
from models.csig.tag import Tag


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet that leaves through a port."""

    time_ns: int
    port: int
    bytes: int
    delay_ns: int = 0
    """Time it spent in this hop."""
    queue_bytes: int = 0
    """Depth of the queue it leaves."""
    tag: Tag | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What becomes of the packet's tag."""

    tag: Tag | None
    """As it leaves; None where there is none."""
    replaced: bool
    unknown: bool = False
    """The tag asks for a type that this hop does not know."""
    stale: bool = False
    """Software should have written a newer value."""
    use: Use | None = None
    """Software's value that the tag asked for, None where it asked for none."""


class Hop:
    """A hop with its ports. Packets come in the order of time."""

    def __init__(self, config: CsigConfig, ports: list[Port]) -> None:
        check_ports(config, ports)
        self.config = config
        self.ports = {port.id: port for port in ports}
        self.meters = {port.id: Meter(port) for port in ports}
        self.agent = AgentTable()

    def measure(self, packet: Packet, signal: Signal, available: int) -> int:
        """Return what a signal is about: bits of a window, ns or bytes, as wide as hardware has
        them."""
        c = self.config
        return {
            "available": available,
            "delay": min(packet.delay_ns, (1 << c.delay_bits) - 1),
            "queue": min(packet.queue_bytes, (1 << c.queue_bits) - 1),
        }[signal.measure]

    def serve(self, packet: Packet) -> Answer:
        """Return what becomes of a packet's tag: compare and replace.

        Value and locator are replaced together, and only where the hop's own value is strictly more
        severe: on a tie the earlier hop stays.
        """
        port, tag = self.ports[packet.port], packet.tag
        available = self.meters[packet.port].packet(packet.time_ns, packet.bytes)
        choice = look_up(self.config, port, self.agent, tag, packet.time_ns)
        use = None
        if tag and choice.by_agent:
            use = self.agent.use(port.id, tag.t, packet.time_ns)
        if tag is None or not choice.update:
            kept = None if choice.stripped else tag
            return Answer(kept, False, choice.unknown, choice.stale, use)
        signal = BY_NUMBER[tag.t]
        value = choice.written
        if not choice.by_agent:
            value = port.code(tag.format, signal, self.measure(packet, signal, available))
        if value is None or not replaces(tag.t, value, tag.s):
            return Answer(tag, False, use=use)
        return Answer(tag.replaced(value, port.locator), True, use=use)
