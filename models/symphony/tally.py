"""What a switch counts for each job, and what it tells the control plane."""

from __future__ import annotations

from models.common.ecn import may_mark
from models.common.rewrite import Rewrite
from models.symphony.beat import GIVE, PACKET, counters
from models.symphony.config import SymphonyConfig

Counts = tuple[int, ...]


class Tally:
    """The counters of all jobs, each of `counter_bits`, wrapping around: packets, outpacing
    packets, packets marked for Symphony's coin and for RED's, and packets that found no slot.

    A packet counts as marked for a coin if that coin said so and it left as CE. A job that gets a
    slot starts from 0.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        self.config = config
        self.names = tuple(counters(config))
        self.rows: Rewrite[Counts] = Rewrite(config.jobs, (0,) * len(self.names))

    def packet(
        self, job: int, *, known: bool, outpacing: bool, symphony: bool, red: bool, ecn: int
    ) -> None:
        """Count one packet."""
        marks = may_mark(ecn)
        steps = (known, outpacing, symphony and marks, red and marks, not known)
        limit = 1 << self.config.counter_bits
        if self.names:
            self.rows.change(
                job, lambda row: tuple((n + s) % limit for n, s in zip(row, steps, strict=True))
            )

    def order(self, job: int, op: int) -> dict[str, int]:
        """Carry out an order; return the counters as it found them."""
        assert op != PACKET
        nothing = (0,) * len(self.names)
        found = self.rows.change(job, lambda row: nothing if op == GIVE else row)
        return dict(zip(self.names, found, strict=True))
