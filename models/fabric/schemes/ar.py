"""AR: adaptive routing by coarse queue lengths, JSQ with a few levels (seed section 3.1, Table 1).

Rule: an uplink's level is how many of the thresholds ⌊percent·buffer_bytes / 100⌋ (option
`quanta_percent`; 5, 10 and 20 %) its length has reached; with lengths in packets a threshold is
divided by T of a data packet, rounded down, at least 1. Of the valid uplinks of the lowest level
one is drawn: index below(their number) in rising order.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.engine_choice import least_length, one_shorter
from models.fabric.engine_state import END
from models.fabric.kernel import NOTHING, Kernel, Memory, Setting
from models.fabric.schemes.base import Packet, Switch, SwitchScheme, in_unit


class AtSwitch(SwitchScheme):
    """Adaptive routing."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        options = switch.config.options
        self.thresholds = [
            switch.in_unit(percent * options.buffer_bytes // 100)
            for percent in options.quanta_percent
        ]

    def level(self, length: int) -> int:
        """Number of thresholds that a length has reached."""
        return sum(threshold <= length for threshold in self.thresholds)

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw one of the lowest level."""
        lengths = [(self.switch.uplinks[u].length(now), u) for u in valid]
        return self.switch.lowest([(self.level(length), u) for length, u in lengths])


def pick(
    s: Any,
    own: Any,
    own_bytes: Any,
    switch: int,
    first: int,
    to: int,
    payload: int,
    rank: int,
    time: int,
    valid: int,
) -> int:
    """The same for the fast engine: the shortest queue has the lowest level, whose upper end tells
    who else has it. `own` has the thresholds, and `END` behind them."""
    least = least_length(s, first, time, valid)
    level = 0
    while own[level] <= least:
        level += 1
    return one_shorter(s, switch, first, time, valid, own[level])


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """Work out the thresholds."""
    config = setting.config
    sizes = [
        percent * config.options.buffer_bytes // 100 for percent in config.options.quanta_percent
    ]
    return np.array([*(in_unit(config, size) for size in sizes), END], np.int64), NOTHING[1]


KERNEL = Kernel(pick, prepare)
