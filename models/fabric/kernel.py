"""What a scheme gives to the fast engine: functions that Numba compiles, and the memory they use.

The functions stand in the scheme's file below its plain classes, which say what they must do. They
see the engine's buffers as `s` (`models.fabric.engine_state.State`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from models.common.mix import GOLDEN, mix64
from models.fabric.config import FabricConfig
from models.fabric.flows import Flows
from models.fabric.network import Failures, Tree, tree_of


@dataclass(frozen=True)
class Setting:
    """The run that memory is prepared for."""

    config: FabricConfig
    flows: Flows
    failures: Failures | None
    scheme: str
    """As users write it: the first or the second one of a mix."""

    @cached_property
    def tree(self) -> Tree:
        """The network."""
        return tree_of(self.config)

    def edge_codes(self) -> np.ndarray:
        """Code by which packets name each edge switch, int64 [edges]: pod, then place in it."""
        edge = np.arange(self.tree.edges)
        pod = self.tree.pod_of(edge)
        place = edge % self.tree.half if self.tree.levels == 3 else edge * 0
        return pod << self.edge_bits | place

    @property
    def port_bits(self) -> int:
        """Bits of a host's place below its edge switch."""
        return (self.tree.half - 1).bit_length()

    @property
    def edge_bits(self) -> int:
        """Bits of an edge switch's place in its pod."""
        return (self.tree.half - 1).bit_length() if self.tree.levels == 3 else 0

    @property
    def pod_bits(self) -> int:
        """Bits of a pod's number."""
        return (self.tree.pods - 1).bit_length()


Memory = tuple[np.ndarray, np.ndarray]
"""int64 and uint8, both of one dimension."""

NOTHING = np.zeros(1, np.int64), np.zeros(1, np.uint8)


def no_memory(_setting: Setting, _streams: np.ndarray) -> Memory:
    """For a scheme that keeps nothing."""
    return NOTHING


def drawn_below(streams: np.ndarray, bound: int | np.ndarray) -> np.ndarray:
    """The next number below `bound` of each stream, int64; `streams` (states, int64) move on."""
    state = streams.view(np.uint64)
    state += np.uint64(GOLDEN)
    high = mix64(state) >> np.uint64(32)
    return (high * np.asarray(bound, np.uint64) >> np.uint64(32)).astype(np.int64)


@dataclass(frozen=True)
class Kernel:
    """The functions of a scheme; `models.fabric.engine_switch` and `engine_host` hold one that
    says what each is called with."""

    pick: Callable[..., Any]
    prepare: Callable[[Setting, np.ndarray], Memory] = no_memory
    """Makes the memory of the switches (`own`, `own_bytes`). Takes also the states of their random
    streams, int64 [edges + aggs]: what is drawn at start-up must leave them advanced."""
    memory_bytes: Callable[[Setting], int] = lambda setting: 0
    """About what `prepare` and `prepare_hosts` make, bytes."""
    helpers: tuple[Callable[..., Any], ...] = ()
    """Other functions of the file that the kernel calls."""
    retag: Callable[..., Any] | None = None
    passes: Callable[..., Any] | None = None
    descend: Callable[..., Any] | None = None
    tag_data: Callable[..., Any] | None = None
    tag_ack: Callable[..., Any] | None = None
    acknowledged: Callable[..., Any] | None = None
    prepare_hosts: Callable[[Setting], np.ndarray] | None = None
    """Makes the memory of the hosts, int64 (`host_own`)."""
    tag_bits: Callable[[Tree], int] = lambda tree: 0
    """Width of the tag."""
    marked: bool = False
    """Whether long queues mark data, in bit `MARK_BIT` of the tag."""
    published: bool = False
    """Whether switches tell their neighbours of their backlogs."""
