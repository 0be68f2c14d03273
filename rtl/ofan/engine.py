"""The choice of a pointer engine (docs/ofan/engine.md)."""

from __future__ import annotations

from models.ofan.config import OfanConfig
from rtl.ofan.matched import MatchedBanked
from rtl.ofan.pipeline import Pipeline
from rtl.ofan.queued import QueuedBanked
from rtl.ofan.sorted_banked import SortedBanked

PointerEngine = Pipeline | SortedBanked | MatchedBanked | QueuedBanked
ENGINES: dict[str, type[PointerEngine]] = {
    "sorted": Pipeline,
    "sorted-banked": SortedBanked,
    "matched-banked": MatchedBanked,
    "queued-banked": QueuedBanked,
}


def pointer_engine(config: OfanConfig, pipe: int = 0) -> PointerEngine:
    """Return the engine that `config.engine` names, for the lanes of one pipe.

    All have the ports of `rtl.ofan.pipeline.Pipeline`, and `latency`: cycles from a batch to its
    answers where nothing waits. From a banked engine the lanes of a batch may leave in several
    beats of `o`, whose `valid` says which lanes have an answer; on each lane they leave in the
    order of its packets.
    """
    return ENGINES[config.engine.kind](config, pipe)
