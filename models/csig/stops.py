"""What a path meets at its hops, and the five hops of SAI's example."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from models.common.check import integer
from models.csig.config import MOST_SPEED_GBPS
from models.csig.signals import Signal


@dataclass(frozen=True, kw_only=True)
class Stop:
    """What a path meets at one hop."""

    speed_gbps: int
    """C, 1 to 800 Gb/s."""
    load: Fraction
    """Share of it that is used, the flow with it, 0 to 2; above 1 the port is over-subscribed."""
    delay_ns: int
    """Time that packets spend in the hop, ns, 0 to 10**9."""
    queue_bytes: int | None = None
    """Depth of the queue that they leave; None: what takes the delay to drain."""

    def __post_init__(self) -> None:
        integer("speed_gbps", self.speed_gbps, 1, MOST_SPEED_GBPS)
        if not 0 <= self.load <= 2:
            raise ValueError(f"load must be a number from 0 to 2, not {float(self.load):g}")
        integer("delay_ns", self.delay_ns, 0, 10**9)
        if self.queue_bytes is not None:
            integer("queue_bytes", self.queue_bytes, 0, 2**32 - 1)

    @property
    def queue(self) -> int:
        """Depth of the queue, bytes."""
        if self.queue_bytes is not None:
            return self.queue_bytes
        return min(self.delay_ns * self.speed_gbps // 8, 2**32 - 1)

    @property
    def used_gbps(self) -> Fraction:
        """Gb/s that leave through the port."""
        return self.load * self.speed_gbps

    def value(self, signal: Signal) -> Fraction:
        """Return a signal's value as it is given, in its unit."""
        free = max(Fraction(0), self.speed_gbps - self.used_gbps)
        return {
            "abw": free * 10**9 / 8,
            "abw_c": 100 * free / self.speed_gbps,
            "delay": Fraction(self.delay_ns),
            "queue": Fraction(8 * self.queue, self.speed_gbps),
        }[signal.name]


FACTS = tuple(
    Stop(speed_gbps=c, load=1 - Fraction(abw, c), delay_ns=1000 * delay)
    for c, abw, delay in (
        (800, 100, 10),
        (100, 95, 3),
        (100, 70, 18),
        (100, 90, 5),
        (40, 20, 8),
    )
)
"""The five hops of SAI's example (facts page, section 3)."""


def bottleneck(signal: Signal, stops: Sequence[Stop]) -> int:
    """Return the number, from 1, of the hop whose value is the most severe; the first of equals."""
    values = [stop.value(signal) for stop in stops]
    return 1 + values.index(min(values) if signal.keep == "min" else max(values))
