"""What a switch counts for each job, and what it tells the control plane."""

from __future__ import annotations

from models.common.counters import Counters
from models.common.ecn import may_mark
from models.symphony.beat import GIVE, PACKET, counters
from models.symphony.config import SymphonyConfig


class Tally:
    """The counters of all jobs, each of `counter_bits`, wrapping around: packets, outpacing
    packets, packets marked for Symphony's coin and for RED's, and packets that found no slot.

    A packet counts as marked for a coin if that coin said so and it left as CE. A job that gets a
    slot starts from 0.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        self.config = config
        self.rows = Counters(tuple(counters(config)), config.counter_bits, config.jobs)

    def packet(
        self, job: int, *, known: bool, outpacing: bool, symphony: bool, red: bool, ecn: int
    ) -> None:
        """Count one packet."""
        marks = may_mark(ecn)
        steps = {
            "packets": known,
            "outpacing": outpacing,
            "symphony": symphony and marks,
            "red": red and marks,
            "unknown": not known,
        }
        self.rows.count(job, steps)

    def order(self, job: int, op: int) -> dict[str, int]:
        """Carry out an order; return the counters as it found them."""
        assert op != PACKET
        return self.rows.read(job, clear=op == GIVE)
