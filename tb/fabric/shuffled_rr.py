"""Shuffled RR, the worked example of `docs/fabric/schemes.md`; it is not in the paper.

Simple RR keeps flows of one pace on one uplink for good, because their packets come in the same
order in every round. Here each switch shuffles its uplinks anew for every round: an uplink still
gets one packet in w, and no flow finds the same uplink for long.

Rule: a switch has a list of uplinks, empty at first. A packet takes the first one of the list that
is valid for it, and that one leaves the list. If there is none, the list first becomes
shuffled(w) of the switch's stream.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.engine_choice import below
from models.fabric.engine_state import HALF
from models.fabric.kernel import NOTHING, Kernel, Memory, Setting
from models.fabric.schemes.base import Packet, Switch, SwitchScheme


class AtSwitch(SwitchScheme):
    """Round-robin in a new order every round."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.left: list[int] = []
        """Uplinks that this round has not used yet."""

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Take the next one of the round that is valid."""
        if not set(self.left) & set(valid):
            self.left = self.switch.stream.shuffled(self.switch.tree.half)
        uplink = next(u for u in self.left if u in valid)
        self.left.remove(uplink)
        return uplink


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
    """The same for the fast engine; `own` has of each switch how many uplinks are left, and which
    in order."""
    w = s.parameter[HALF]
    left = switch * (w + 1)
    while True:
        for i in range(own[left]):
            uplink = own[left + 1 + i]
            if valid >> uplink & 1:
                own[left] -= 1
                for later in range(i, own[left]):
                    own[left + 1 + later] = own[left + 2 + later]
                return uplink
        shuffle(s, own, switch, left, w)


def shuffle(s: Any, own: Any, switch: int, left: int, w: int) -> None:
    """Begin a round, as `models.fabric.streams.Stream.shuffled` does it."""
    own[left] = w
    for i in range(w):
        own[left + 1 + i] = i
    for i in range(w - 1, 0, -1):
        j = below(s.stream, switch, i + 1)
        own[left + 1 + i], own[left + 1 + j] = own[left + 1 + j], own[left + 1 + i]


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """No round has begun."""
    return np.zeros(len(streams) * (setting.tree.half + 1), np.int64), NOTHING[1]


KERNEL = Kernel(pick, prepare, helpers=(shuffle,))
