"""What the study of pointer engines tells of a schedule, and another map of keys to banks."""

from __future__ import annotations

import numpy as np

from models.ofan.config import OfanConfig
from models.ofan.place import place
from models.ofan.schedule import Schedule

MEAN, P99, P9999, LARGEST = "mean wait", "p99 wait", "p99.99 wait", "longest wait"
BACKLOG, IN_FRONT, CYCLES = "worst backlog", "in front", "cycles a batch"
UNITS = {
    MEAN: "cycles",
    P99: "cycles",
    P9999: "cycles",
    LARGEST: "cycles",
    BACKLOG: "batches",
    IN_FRONT: "batches",
    CYCLES: "cycles",
}
"""The numbers of a schedule; docs/ofan/schedule.md says what each of them is."""

Numbers = dict[str, float]
"""By the names above."""


def split_banks(config: OfanConfig) -> np.ndarray:
    """Return the bank of each key where each size class has as many banks for itself: the class
    is the top of the bank's number, and the destination alone gives the rest."""
    own = config.engine.banks // config.size_classes
    size_class, destination = np.divmod(np.arange(config.keys), config.destinations)
    return size_class * own + place(destination, own)[0]


def numbers(found: Schedule) -> Numbers:
    """Return the numbers of a run."""
    return {
        MEAN: float(f"{found.waiting.mean():.4g}"),
        P99: found.longest(0.99),
        P9999: found.longest(0.9999),
        LARGEST: len(found.histogram) - 1,
        BACKLOG: found.backlog,
        IN_FRONT: found.in_front,
        CYCLES: float(f"{found.cycles_a_batch:.4g}"),
    }
