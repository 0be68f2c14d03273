"""Which flows are ever started, where flows start each other by triggers.

Arrays are those of `models.fabric.flows.Flows`: `trigger` starts a flow, `sent` and `received` are
what it activates, `needs` says how often a trigger is activated before it starts its flows (0:
each activation starts one more).
"""

from __future__ import annotations

import numpy as np


def activations(sent: np.ndarray, received: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All activations as (trigger, flow that activates it), by trigger and flow."""
    flow = np.concatenate([np.flatnonzero(sent >= 0), np.flatnonzero(received >= 0)])
    trigger = np.concatenate([sent[sent >= 0], received[received >= 0]])
    order = np.lexsort((flow, trigger))
    return trigger[order], flow[order]


def started(trigger: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The flows that triggers start, by trigger and number, and the place of each among those of
    its trigger."""
    flow = np.flatnonzero(trigger >= 0)
    flow = flow[np.argsort(trigger[flow], kind="stable")]
    own = trigger[flow]
    return flow, np.arange(len(own)) - np.searchsorted(own, own)


def unreached(
    trigger: np.ndarray, sent: np.ndarray, received: np.ndarray, needs: np.ndarray
) -> int | None:
    """Return a flow that can never begin, as it waits for itself or for too many activations, or
    None."""
    flow, place = started(trigger)
    if not len(flow):
        return None
    own = trigger[flow]
    by, cause = activations(sent, received)
    last = np.searchsorted(by, own) + np.where(needs[own] > 0, needs[own] - 1, place)
    enough = last < np.searchsorted(by, own, side="right")
    if not enough.all():
        return int(flow[~enough].min())
    if (cause[last] < flow).all():  # of two flows the first in the list begins first: no circle
        return None
    return _search(trigger, sent, received, needs)


def _search(
    trigger: np.ndarray, sent: np.ndarray, received: np.ndarray, needs: np.ndarray
) -> int | None:
    """The same, from flow to flow."""
    waiting: dict[int, list[int]] = {}
    for flow in started(trigger)[0].tolist():
        waiting.setdefault(int(trigger[flow]), []).append(flow)
    reached = trigger < 0
    live = np.flatnonzero(reached).tolist()
    count = [0] * len(needs)
    while live:
        flow = live.pop()
        reached[flow] = True
        for number in (int(sent[flow]), int(received[flow])):
            if number < 0 or number not in waiting:
                continue
            count[number] += 1
            flows = waiting[number]
            if needs[number] == 0:
                live += flows[count[number] - 1 : count[number]]
            elif count[number] == needs[number]:
                live += flows
    return None if reached.all() else int(np.flatnonzero(~reached)[0])
