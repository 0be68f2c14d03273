"""CHOICE: the shortest of a few uplinks drawn at random (seed section 3.1, Table 1).

Rule: d = option `choices` draws, each the index below(number of valid uplinks) of the valid ones in
rising order; one uplink may be drawn more than once. The packet takes the shortest, of equal ones
the one drawn first. A single valid uplink is taken without draws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.engine_choice import one_of
from models.fabric.engine_queues import queue_length
from models.fabric.kernel import NOTHING, Kernel, Memory, Setting
from models.fabric.schemes.base import Packet, SwitchScheme


class AtSwitch(SwitchScheme):
    """The best of d choices."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw d and take the shortest."""
        switch = self.switch
        drawn = [switch.one_of(valid) for _ in range(switch.config.options.choices)]
        return min(drawn, key=lambda u: switch.uplinks[u].length(now))


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
    """The same for the fast engine; `own` has d."""
    best = one_of(s, switch, valid)
    least = queue_length(s, first + best, time)
    for _ in range(1, own[0]):
        uplink = one_of(s, switch, valid)
        length = queue_length(s, first + uplink, time)
        if length < least:
            best, least = uplink, length
    return best


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """Note d."""
    return np.array([setting.config.options.choices], np.int64), NOTHING[1]


KERNEL = Kernel(pick, prepare)
