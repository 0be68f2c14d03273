"""What must be true of the arrays of flows; whole arrays at a time, as there may be millions."""

from __future__ import annotations

from typing import Any

import numpy as np

from models.fabric.triggers import unreached


def check(flows: Any, max_packets: int, max_time: int) -> None:
    """Raise `ValueError` naming field, flow (or trigger) and value for the first thing wrong in
    `models.fabric.flows.Flows`."""
    if isinstance(flows.hosts, bool) or not isinstance(flows.hosts, int) or flows.hosts < 1:
        raise ValueError(f"hosts must be an integer of at least 1, not {flows.hosts!r}")
    triggers = len(_integers("needs", flows.needs))
    ranges = {
        "source": (0, flows.hosts - 1),
        "destination": (0, flows.hosts - 1),
        "packets": (1, max_packets),
        "start": (0, max_time - 1),
        "trigger": (-1, triggers - 1),
        "sent": (-1, triggers - 1),
        "received": (-1, triggers - 1),
    }
    count = len(_integers("source", flows.source))
    for name, (low, high) in ranges.items():
        array = getattr(flows, name)
        whole(name, array, low, high)
        if len(array) != count:
            raise ValueError(f"{name} must have {count} entries as source has, not {len(array)}")
    same = flows.source == flows.destination
    if same.any():
        flow = int(same.argmax())
        host = flows.source[flow]
        raise ValueError(f"destination of flow {flow} must be another host than its source {host}")
    # Sums below 2**53 are exact in this type, and no sum passes its range.
    if (total := flows.packets.sum(dtype=np.float64)) > max_packets:
        raise ValueError(f"packets must be at most {max_packets} in all flows, not {total:.0f}")
    whole("needs", flows.needs, 0, 2**31 - 1, of="trigger")
    if triggers:
        _check_triggers(flows)


def whole(name: str, array: np.ndarray, low: int, high: int, of: str = "flow") -> None:
    """Raise `ValueError` unless an array has one dimension and integers from `low` to `high`."""
    if not len(_integers(name, array)):
        return
    if int(array.min()) < low or int(array.max()) > high:
        wrong = int(((array < low) | (array > high)).argmax())
        raise ValueError(
            f"{name} of {of} {wrong} must be an integer from {low} to {high}, not {array[wrong]}"
        )


def _integers(name: str, array: Any) -> np.ndarray:
    if not isinstance(array, np.ndarray):
        raise ValueError(f"{name} must be an array of numpy, not {type(array).__name__}")
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    if not np.issubdtype(array.dtype, np.integer):
        raise ValueError(f"{name} must have integers, not {array.dtype}")
    return array


def _check_triggers(flows: Any) -> None:
    sent, received = np.flatnonzero(flows.sent >= 0), np.flatnonzero(flows.received >= 0)
    by = np.concatenate([flows.sent[sent], flows.received[received]])
    triggers = len(flows.needs)
    starts = np.bincount(flows.trigger[flows.trigger >= 0], minlength=triggers) > 0
    count = np.bincount(by, minlength=triggers)
    wrong = starts & (flows.needs > 0) & (flows.needs != count)
    if wrong.any():
        trigger = int(wrong.argmax())
        raise ValueError(
            f"needs of trigger {trigger} must be {count[trigger]}, as many as flows activate it, "
            f"not {flows.needs[trigger]}"
        )
    at = np.concatenate([flows.source[sent], -1 - flows.destination[received].astype(np.int64)])
    least, most = np.full(triggers, flows.hosts), np.full(triggers, -1 - flows.hosts)
    np.minimum.at(least, by, at)
    np.maximum.at(most, by, at)
    several = starts & (flows.needs == 0) & (least < most)
    if several.any():
        raise ValueError(
            f"needs of trigger {several.argmax()} must be above 0, not 0 (multishot), unless all "
            "flows that activate it are sent by one host, or received by one"
        )
    flow = unreached(flows.trigger, flows.sent, flows.received, flows.needs)
    if flow is not None:
        raise ValueError(
            f"trigger of flow {flow} must be one that starts it some day, not "
            f"{flows.trigger[flow]}, which waits for the flow itself or for more activations"
        )
