"""The queued-banked engine, cycle by cycle: which packets are served when.

Batches wait in slots (models/ofan/slots.py), and banks take what they can of the packets that may
be served (models/ofan/match.py). Packets of a batch may be served in the cycle in which it comes.
All packets that a bank serves in one cycle get consecutive positions of its pointer.

Packets of one key never pass each other: of a wave its lowest lanes are served first, the older
wave before the younger, and a packet of the younger one waits if another may be hidden before it.

Bound: the packet of the lowest lane of the oldest wave is always served, so the n packets that are
in the engine leave it in n cycles, whatever comes after them.
"""

from __future__ import annotations

from collections.abc import Sequence

from models.ofan.config import OfanConfig
from models.ofan.match import match
from models.ofan.slots import Slots, Wave


class Queued:
    """The engine of one pipe. `step` is one clock cycle in which nothing stalls behind."""

    def __init__(self, config: OfanConfig) -> None:
        lanes, engine = config.lanes_per_pipe, config.engine
        self.banks = engine.banks
        self.slots = Slots(lanes, engine.queues_of(lanes), engine.depth)

    @property
    def takes(self) -> bool:
        """Whether there is room for a batch in this cycle."""
        return self.slots.takes

    def step(self, batch: Sequence[int | None] | None = None) -> dict[int, int]:
        """Take `batch` (the key of each lane, None where idle), if one is given, and serve.

        Returns {lane: key} of the packets served. Raises `ValueError` if there is no room.
        """
        if batch is not None:
            self.slots.take(batch)
        served = self._served()
        self.slots.drop(served)
        return {lane: key for wave in served for lane, key in wave.items()}

    def _served(self) -> list[Wave]:
        """Return the packets of the two waves that are served now."""
        return match(self.slots.shown(), self.banks)
