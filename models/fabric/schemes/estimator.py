"""CONGA's rate estimator (DRE) in whole bytes, and how loads and queues are quantized."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.config import FabricConfig
from models.fabric.kernel import NOTHING, Memory, Setting
from models.fabric.schemes.base import in_unit

STEPS = 16
"""Decays in one time constant; each takes 1/16 off, so X is about rate times time constant."""

FORGOTTEN = 256
"""Decays after which nothing is left."""


class RateEstimator:
    """A register X of bytes for one link.

    X grows by T (frame and gap) with each packet and becomes ⌊15·X/16⌋ at every multiple of τ/16 (τ
    is the option `dre_ns` in byte times; τ/16 rounded down, at least 1); after more than 256 of
    these without a packet it is 0.
    """

    def __init__(self, config: FabricConfig) -> None:
        self.levels = config.options.levels
        self.constant = int(config.options.dre_ns * config.link_gbps / 8)
        """τ, byte times."""
        self.step = max(1, self.constant // STEPS)
        self.register = 0
        self.epoch = 0

    def add(self, now: int, time: int) -> None:
        """Count a packet."""
        self._decay(now)
        self.register += time

    def level(self, now: int) -> int:
        """The load in levels: ⌊levels·X/τ⌋, at most levels - 1."""
        self._decay(now)
        return min(self.levels - 1, self.register * self.levels // max(1, self.constant))

    def _decay(self, now: int) -> None:
        epoch = now // self.step
        if epoch - self.epoch > FORGOTTEN:
            self.register = 0
        else:
            for _ in range(epoch - self.epoch):
                self.register = 15 * self.register // STEPS
        self.epoch = epoch


def queue_level(config: FabricConfig, length: int, buffer: int) -> int:
    """A length in levels of a buffer of the same unit: ⌊levels·length/buffer⌋, at most
    levels - 1."""
    levels = config.options.levels
    return min(levels - 1, length * levels // buffer)


ESTIMATOR_FIELDS = 2
"""Of each uplink in `own`: register and epoch."""
STEP, CONSTANT, QUANTA, BUFFER, BUFFER_BYTES, FIRST_ESTIMATOR = range(6)
"""Places in `own`, the last of switch 0, uplink 0."""


def decay(own: Any, place: int, time: int) -> int:
    """The register of an estimator at `time`, for the fast engine."""
    epoch = time // own[STEP]
    register = own[place]
    passed = epoch - own[place + 1]
    if passed > FORGOTTEN:
        register = 0
    else:
        while passed > 0 and register > 0:
            register = 15 * register // STEPS
            passed -= 1
    own[place], own[place + 1] = register, epoch
    return register


def load_level(own: Any, place: int, time: int) -> int:
    """The level of an estimator."""
    register = decay(own, place, time)
    return min(own[QUANTA] - 1, register * own[QUANTA] // own[CONSTANT])


def count_packet(own: Any, place: int, time: int, takes: int) -> None:
    """Add a packet to an estimator."""
    own[place] = decay(own, place, time) + takes


def level_of(own: Any, length: int, buffer: int) -> int:
    """`queue_level`."""
    return min(own[QUANTA] - 1, length * own[QUANTA] // buffer)


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """Note the parameters, and make estimators that know nothing."""
    config, estimator = setting.config, RateEstimator(setting.config)
    buffer = config.options.buffer_bytes
    fields = [0] * FIRST_ESTIMATOR
    fields[STEP], fields[CONSTANT] = estimator.step, max(1, estimator.constant)
    fields[QUANTA] = estimator.levels
    fields[BUFFER], fields[BUFFER_BYTES] = in_unit(config, buffer), buffer
    estimators = np.zeros(len(streams) * setting.tree.half * ESTIMATOR_FIELDS, np.int64)
    return np.concatenate([fields, estimators]), NOTHING[1]


HELPERS = (decay, load_level, count_packet, level_of)
