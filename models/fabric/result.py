"""What a run of the network measures; both engines return it, equal in every number."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.network import tree_of

TRACE = np.dtype(
    [
        ("flow", np.int32),
        ("packet", np.int64),  # number within the flow, from 0
        ("ack", np.bool_),
        ("link", np.int32),  # as models.fabric.network numbers them
        ("arrival", np.int64),  # at the queue before the link; byte times
        ("start", np.int64),  # of its transmission, or -1: lost here
    ]
)
"""One row a packet and link it was to cross. Sorted by (link, arrival, input order)."""


@dataclass(frozen=True)
class Result:
    """Counts and times of one run, in packets and byte times.

    A queue's length is its backlog: bytes of link time still to be sent, frames and gaps, with what
    is left of the packet in service. `first` is when the first packet of all began to leave.
    """

    first: int
    """Start of the first transmission."""
    finish: np.ndarray
    """int64 [flows]: arrival of a flow's last ACK (of its last data packet without ACKs), or -1 if
    some packet of it was lost."""
    begin: np.ndarray
    """int64 [flows]: start of the flow's first transmission."""
    last_data: int
    """Arrival of the last data packet at its host."""
    packets: np.ndarray
    """int64 [stages, n]: data packets and ACKs sent on each link."""
    data: np.ndarray
    """int64 [stages, n]: data packets among them."""
    lost: np.ndarray
    """int64 [stages, n]: packets that found no room before the link."""
    largest: np.ndarray
    """int64 [stages, n]: largest backlog, seen by an arriving packet with itself in it."""
    area: np.ndarray
    """int64 [stages]: twice the integral of all backlogs of a stage over time, byte times²; a
    packet of time t that waits for W adds 2·t·W + t². Stage 0 (hosts) stays 0."""
    trace: np.ndarray | None = None
    """`TRACE` rows if they were asked for."""

    @property
    def end(self) -> int:
        """When the last flow was complete, or the last data arrived if some flow never was."""
        whole = len(self.finish) and (self.finish >= 0).all()
        return int(self.finish.max()) if whole else self.last_data

    @property
    def completion(self) -> int | None:
        """Collective completion time, byte times; None if a packet was lost."""
        return self.end - self.first if (self.finish >= 0).all() else None

    @property
    def packet_hops(self) -> int:
        """Links crossed by packets."""
        return int(self.packets.sum())

    def microseconds(self, config: FabricConfig, times: float) -> float:
        """Byte times to microseconds."""
        return float(times * config.byte_ps) / 1e6

    def mean_backlog(self, config: FabricConfig) -> np.ndarray:
        """Mean backlog of a queue of each stage from first to end, bytes [stages]."""
        span = max(1, self.end - self.first) * tree_of(config).hosts
        return self.area / (2 * span)

    def overload(self) -> np.ndarray:
        """Data packets of a stage's busiest link over the mean of its links, less 1 [stages]."""
        mean = self.data.mean(1)
        return np.divide(self.data.max(1), mean, out=np.ones(len(mean)), where=mean > 0) - 1


def differences(one: Result, other: Result) -> list[str]:
    """Names of the fields in which two results differ."""
    return [
        field.name
        for field in fields(Result)
        if not np.array_equal(
            np.asarray(getattr(one, field.name)), np.asarray(getattr(other, field.name))
        )
    ]
