"""CONGA: the load along the path, told by acknowledgements, packet by packet (seed section 3.1).

CONGA balances flowlets between leaf switches: packets gather the largest quantized load on their
way, the destination leaf sends it back, and the source leaf takes the uplink with the least of its
own load and the load it was told. The paper adapts it to packets; a three-level tree has two
choices. Exactly, here:

Rule: an edge switch has a table of remote levels by destination edge switch and uplink, zeros at
the start. The metric of an uplink is the larger of its rate estimator's level
(`estimator.RateEstimator`) and, at an edge switch, the remote level. Of the valid uplinks of the
least metric one is drawn: index below(their number) in rising order. Then the packet counts in that
uplink's estimator. A data packet takes along which uplink of the edge it went through and the
largest level, itself counted, of the uplinks it was sent through (at an edge and an aggregation
switch; links down are not measured). Its ACK brings both back: where the ACK leaves an edge switch
down to its host, the table entry of (edge of the ACK's source, uplink) becomes that level, be it
larger or smaller. Entries do not age; without ACKs only the local levels are known.
"""

from __future__ import annotations

from models.fabric.schemes.base import Packet, Switch, SwitchScheme
from models.fabric.schemes.estimator import RateEstimator
from models.fabric.streams import Kind


class AtSwitch(SwitchScheme):
    """CONGA without flowlets. The tag of a data packet is (uplink of the edge, largest level)."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.estimators = [RateEstimator(switch.config) for _ in switch.uplinks]
        self.remote: dict[tuple[int, int], int] = {}
        """Level by (destination edge switch, uplink)."""

    def metric(self, uplink: int, packet: Packet, now: int) -> int:
        """The larger of the local and the remote level."""
        local = self.estimators[uplink].level(now)
        edge = self.switch.tree.edge_of(packet.destination)
        return max(local, self.remote.get((edge, uplink), 0))

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one of the least loaded and write its level on data."""
        uplink = self.switch.lowest([(self.metric(u, packet, now), u) for u in valid])
        self.estimators[uplink].add(now, packet.time)
        level = self.estimators[uplink].level(now)
        if not packet.ack and self.switch.kind == Kind.EDGE:
            packet.tag = (uplink, level)
        elif not packet.ack and packet.tag:
            packet.tag = (packet.tag[0], max(packet.tag[1], level))
        return uplink

    def passes(self, packet: Packet, now: int) -> None:
        """Learn from an ACK on its way down to its host."""
        if self.switch.kind == Kind.EDGE and packet.answers and packet.answers.tag:
            uplink, level = packet.answers.tag
            self.remote[self.switch.tree.edge_of(packet.source), uplink] = level
