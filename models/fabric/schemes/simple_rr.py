"""Simple RR: each switch rotates all packets that go up over its uplinks (seed section 3.1).

Rule: the pointer starts at below(w) of the switch's stream. A packet takes the uplink pointed at;
the pointer moves on by one modulo w. Invalid uplinks are passed by further increments. With option
`rr_pointers` "split", ACKs have a pointer of their own, drawn second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.engine_state import HALF
from models.fabric.kernel import NOTHING, Kernel, Memory, Setting, drawn_below
from models.fabric.schemes.base import Packet, Switch, SwitchScheme


class AtSwitch(SwitchScheme):
    """One pointer, or one for data and one for ACKs."""

    def __init__(self, switch: Switch) -> None:
        super().__init__(switch)
        self.half = switch.tree.half
        count = 2 if switch.config.options.rr_pointers == "split" else 1
        self.pointers = [switch.one_of(range(self.half)) for _ in range(count)]

    def pick(self, packet: Packet, now: int, valid: list[int]) -> int:
        """Take the next in turn."""
        which = packet.ack % len(self.pointers)
        uplink = self.pointers[which]
        while uplink not in valid:
            uplink = (uplink + 1) % self.half
        self.pointers[which] = (uplink + 1) % self.half
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
    """The same for the fast engine; `own` has data's and the ACKs' pointer of each switch, and
    before them whether they are split."""
    which = 1 + 2 * switch + (own[0] & ~payload & 1)
    uplink = own[which]
    while not valid >> uplink & 1:
        uplink += 1
        if uplink == s.parameter[HALF]:
            uplink = 0
    own[which] = uplink + 1 if uplink + 1 < s.parameter[HALF] else 0
    return uplink


def prepare(setting: Setting, streams: np.ndarray) -> Memory:
    """Draw the pointers."""
    split = int(setting.config.options.rr_pointers == "split")
    own = np.zeros((len(streams), 2), np.int64)
    if setting.tree.half > 1:
        for which in range(1 + split):
            own[:, which] = drawn_below(streams, setting.tree.half)
    return np.concatenate([[split], own.ravel()]), NOTHING[1]


KERNEL = Kernel(pick, prepare)
