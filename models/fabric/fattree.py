"""Numbers of the hosts and switches of a three-level k-ary fat tree (seed sections 3 and 6)."""

from __future__ import annotations

from dataclasses import dataclass

from models.common.check import integer


@dataclass(frozen=True)
class FatTree:
    """A three-level fat tree of k-port switches, k even and from 2 to 128: k³/4 hosts.

    There are k pods of k/2 edge and k/2 aggregation switches. Host h is on lane h mod k/2 of edge
    switch ⌊h / (k/2)⌋; edge and aggregation switches are numbered pod by pod, 0 to k²/2 - 1. All
    methods take integers or numpy arrays of them.

    Raises `TypeError` or `ValueError` naming the radix.
    """

    radix: int
    """k, ports of a switch."""

    def __post_init__(self) -> None:
        message = f"radix must be an even integer from 2 to 128, not {self.radix!r}"
        if isinstance(self.radix, bool) or not isinstance(self.radix, int):
            raise TypeError(message)
        if self.radix % 2 or not 2 <= self.radix <= 128:
            raise ValueError(message)

    @property
    def half(self) -> int:
        """k/2: hosts of an edge switch, uplinks of a switch, edge switches of a pod."""
        return self.radix // 2

    @property
    def hosts(self) -> int:
        """k³/4."""
        return self.radix * self.half**2

    @property
    def edges(self) -> int:
        """k²/2, edge switches; there are as many aggregation switches."""
        return self.radix * self.half

    def edge_of(self, host):
        """Number of the edge switch above a host."""
        return host // self.half

    def lane_of(self, host):
        """Lane of a host at its edge switch."""
        return host % self.half

    def pod_of(self, switch):
        """Pod of an edge or aggregation switch."""
        return switch // self.half

    def other_pod(self, pod, own: int):
        """Number of a pod among the k - 1 others, as the aggregation switches of pod `own` count:
        pod numbers above the own one move down by one."""
        return pod - (pod > own)


def parse_switch(text: str, tree: FatTree) -> tuple[str, int]:
    """Read a switch from the command line: `edge:3` or `agg:3`, numbered over the whole tree.

    Returns (layer, number); raises `ValueError` naming the text or the number.
    """
    layer, colon, number = text.partition(":")
    if layer not in ("edge", "agg") or not colon or not (number.isascii() and number.isdecimal()):
        raise ValueError(f"switch must be edge:NUMBER or agg:NUMBER, not {text!r}")
    return layer, integer("switch", int(number), 0, tree.edges - 1)
