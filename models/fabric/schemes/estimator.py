"""CONGA's rate estimator (DRE) in whole bytes, and how loads and queues are quantized."""

from __future__ import annotations

from models.fabric.config import FabricConfig

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
