"""DRILL(d, m): like CHOICE, but the best uplinks of the last decision are looked at again
(seed section 3.1, Table 1).

Rule: d = option `choices` draws as CHOICE makes them. Looked at are the uplinks remembered, if they
are valid for this packet, then those drawn, each uplink once, at its first place. The packet takes
the shortest, of equal ones the first. The m = option `memory` shortest of those looked at, with the
lengths before this packet, are what the switch remembers for its next packet (of equal ones the
first). At the start nothing is remembered.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.engine_choice import one_of
from models.fabric.engine_queues import queue_length
from models.fabric.engine_state import int64
from models.fabric.kernel import NOTHING, Kernel, Memory, Setting
from models.fabric.schemes.base import Packet, Switch, SwitchScheme


class AtSwitch(SwitchScheme):
    """DRILL, with one memory a switch."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.memory: list[int] = []

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Draw d, look at them and at the memory, and take the shortest."""
        switch, options = self.switch, self.switch.config.options
        drawn = [switch.one_of(valid) for _ in range(options.choices)]
        looked_at = dict.fromkeys([u for u in self.memory if u in valid] + drawn)
        best = sorted(looked_at, key=lambda u: switch.uplinks[u].length(now))  # stable
        self.memory = best[: options.memory]
        return best[0]


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
    """The same for the fast engine; `own` has d and m, then of each switch how many uplinks it
    remembers and which."""
    memory = 2 + switch * (own[1] + 1)
    count = seen = int64(0)
    for i in range(own[memory]):
        uplink = own[memory + 1 + i]
        if valid >> uplink & 1:
            count, seen = look_at(s, first, time, uplink, count, seen)
    for _ in range(own[0]):
        count, seen = look_at(s, first, time, one_of(s, switch, valid), count, seen)
    own[memory] = min(count, own[1])
    for i in range(own[memory]):
        own[memory + 1 + i] = s.chosen[i]
    return s.chosen[0]


def look_at(s: Any, first: int, time: int, uplink: int, count: int, seen: int) -> Any:
    """Put an uplink among the `count` of `chosen`, shortest first, if it is not in the mask `seen`
    of those that are; return the new count and mask."""
    if seen >> uplink & 1:
        return count, seen
    length = queue_length(s, first + uplink, time)
    place = count
    while place > 0 and s.judged[s.chosen[place - 1]] > length:
        s.chosen[place] = s.chosen[place - 1]
        place -= 1
    s.chosen[place] = uplink
    s.judged[uplink] = length
    return count + 1, seen | int64(1) << uplink


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """Note d and m, and remember nothing."""
    options = setting.config.options
    memories = np.zeros(len(streams) * (options.memory + 1), np.int64)
    return np.concatenate([[options.choices, options.memory], memories]), NOTHING[1]


KERNEL = Kernel(pick, prepare, helpers=(look_at,))
