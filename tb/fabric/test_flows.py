"""Flows as arrays: each thing that can be wrong, chains, circles, and both engines' checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.fabric import engine, reference
from models.fabric.config import FabricConfig
from models.fabric.flows import Flows, flows_between
from models.fabric.triggers import unreached

GOOD = {
    "hosts": 8,
    "source": np.array([0, 1, 2], np.int32),
    "destination": np.array([3, 4, 5], np.int32),
    "packets": np.array([1, 2, 3]),
    "start": np.array([0, 7, 0]),
    "trigger": np.array([-1, -1, 0], np.int32),
    "sent": np.array([0, -1, -1], np.int32),
    "received": np.array([-1, 0, -1], np.int32),
    "needs": np.array([2], np.int32),
}


def ints(*values: int) -> np.ndarray:
    return np.array(values)


BAD: list[tuple[dict[str, Any], str]] = [
    ({"hosts": 0}, "hosts must be an integer of at least 1, not 0"),
    ({"hosts": 8.0}, "hosts must be an integer of at least 1, not 8.0"),
    ({"hosts": True}, "hosts must be an integer of at least 1, not True"),
    ({"source": [0, 1, 2]}, "source must be an array of numpy, not list"),
    ({"source": ints(0, 1, 8)}, "source of flow 2 must be an integer from 0 to 7, not 8"),
    ({"source": ints(0, -1, 2)}, "source of flow 1 must be an integer from 0 to 7, not -1"),
    ({"destination": ints(3, 9, 5)}, "destination of flow 1 must be an integer from 0 to 7, not 9"),
    ({"destination": ints(3, 4)}, "destination must have 3 entries as source has, not 2"),
    (
        {"destination": ints(3, 1, 5)},
        "destination of flow 1 must be another host than its source 1",
    ),
    ({"packets": ints(1, 2, 0)}, "packets of flow 2 must be an integer from 1 to 1099511627776"),
    ({"packets": np.ones(3)}, "packets must have integers, not float64"),
    ({"packets": np.ones(3, np.bool_)}, "packets must have integers, not bool"),
    ({"packets": np.ones((3, 1), np.int64)}, "packets must have one dimension, not 2"),
    (
        {"packets": ints(2**40, 1, 1)},
        "packets must be at most 1099511627776 in all flows, not 1099511627778",
    ),
    ({"start": ints(0, -1, 0)}, "start of flow 1 must be an integer from 0 to 18014398509481983"),
    ({"start": ints(0, 0, 2**54)}, "start of flow 2 must be an integer from 0 to 180143985094819"),
    ({"trigger": ints(-1, -1, 1)}, "trigger of flow 2 must be an integer from -1 to 0, not 1"),
    ({"sent": ints(1, -1, -1)}, "sent of flow 0 must be an integer from -1 to 0, not 1"),
    ({"received": ints(-1, 0, -2)}, "received of flow 2 must be an integer from -1 to 0, not -2"),
    ({"needs": ints(-1)}, "needs of trigger 0 must be an integer from 0 to 2147483647, not -1"),
    ({"needs": ints()}, "needs must have integers, not float64"),
    ({"needs": ints(3)}, "needs of trigger 0 must be 2, as many as flows activate it, not 3"),
    ({"needs": ints(1)}, "needs of trigger 0 must be 2, as many as flows activate it, not 1"),
    ({"needs": ints(0)}, "needs of trigger 0 must be above 0, not 0 (multishot), unless all"),
    (
        {"trigger": ints(0, -1, 0)},
        "trigger of flow 0 must be one that starts it some day, not 0, which waits for the flow",
    ),
    (
        {"trigger": ints(-1, 0, 0), "received": ints(-1, -1, -1), "needs": ints(0)},
        "trigger of flow 2 must be one that starts it some day, not 0",
    ),
]


@pytest.mark.parametrize(("change", "message"), BAD)
def test_bad_arrays_are_named(change: dict[str, Any], message: str) -> None:
    Flows(**GOOD)
    with pytest.raises(ValueError) as caught:
        Flows(**{**GOOD, **change})
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_arrays_of_no_flow() -> None:
    none = np.zeros(0, np.int64)
    assert len(flows_between(8, none, none, none)) == 0


@pytest.mark.parametrize("simulate", [engine.simulate, reference.simulate])
def test_flows_of_another_tree_are_refused(simulate: Any) -> None:
    flows = flows_between(8, np.array([0]), np.array([1]), np.array([1]))
    with pytest.raises(ValueError, match="^hosts must be the 16 hosts of the tree, not 8$"):
        simulate(FabricConfig(radix=4, scheme="ofan"), flows)


@pytest.mark.parametrize("simulate", [engine.simulate, reference.simulate])
def test_packets_beyond_the_times_of_engines_are_refused(simulate: Any) -> None:
    flows = flows_between(16, np.array([0]), np.array([1]), np.array([2**40]))
    config = FabricConfig(radix=4, scheme="ofan", payload_bytes=2**20)
    with pytest.raises(ValueError, match=r"^packets must be at most 17178\d{6} in all flows, not"):
        simulate(config, flows)


def test_a_chain_has_one_trigger_a_cause() -> None:
    ends = np.arange(5)
    flows = flows_between(8, ends, ends + 1, ends + 1, after=np.array([-1, 3, 0, -1, 3]))
    assert flows.trigger.tolist() == [-1, 1, 0, -1, 1]
    assert flows.sent.tolist() == [0, -1, -1, 1, -1]
    assert flows.needs.tolist() == [1, 1]
    for after in ([-1, 3, 0, -1, 5], [-2, 3, 0, -1, 3]):
        with pytest.raises(ValueError, match="^after of flow . must be an integer from -1 to 4"):
            flows_between(8, ends, ends + 1, ends + 1, after=np.array(after))


def test_one_arrays_flow_waits_for_a_later_one() -> None:
    """No circle, though flow 0 comes before what starts it."""
    flows = flows_between(8, np.arange(3), np.arange(3) + 1, np.ones(3, int), np.array([2, 0, -1]))
    assert flows.trigger.tolist() == [1, 0, -1]


@st.composite
def wirings(draw: st.DrawFn) -> tuple[np.ndarray, ...]:
    """Triggers that may be circles, in any order of flows."""
    count, triggers = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    names = st.lists(st.integers(-1, triggers - 1), min_size=count, max_size=count)
    needs = st.lists(st.integers(0, 3), min_size=triggers, max_size=triggers)
    return tuple(np.array(draw(values)) for values in (names, names, names, needs))


@given(wirings())
def test_unreached_flows_are_found(wiring: tuple[np.ndarray, ...]) -> None:
    trigger, sent, received, needs = wiring
    begun = {flow for flow in range(len(trigger)) if trigger[flow] < 0}
    while True:
        live = [int(t) for flow in begun for t in (sent[flow], received[flow])]
        more = set(begun)
        for number, need in enumerate(needs):
            waiting = [flow for flow in range(len(trigger)) if trigger[flow] == number]
            count = live.count(number)
            more |= set(waiting[:count] if need == 0 else waiting if count >= need else ())
        if more == begun:
            break
        begun = more
    found = unreached(trigger, sent, received, needs)
    assert (found is None) == (len(begun) == len(trigger))
    assert found not in begun


def test_replacing_a_field_checks_again() -> None:
    with pytest.raises(ValueError, match="packets of flow 0"):
        replace(Flows(**GOOD), packets=np.zeros(3, np.int64))
