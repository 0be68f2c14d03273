"""A connection matrix in memory: flows and triggers as htsim has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from models.common.errors import InputError
from models.fabric.triggers import unreached


@dataclass(frozen=True, kw_only=True)
class Flow:
    """One message from a host to another."""

    source: int
    destination: int
    size: int
    """Bytes."""
    start: int | None = 0
    """When it may start, picoseconds; None if a trigger starts it."""
    trigger: int | None = None
    """The trigger that starts it."""
    sent: int | None = None
    """The trigger that it activates when its last packet has left."""
    received: int | None = None
    """The trigger that it activates when all its packets have arrived."""
    line: int | None = field(default=None, compare=False)
    """Where it stands in the file."""

    def activations(self) -> Iterator[tuple[str, int]]:
        """The triggers that it activates, and the fields that say so."""
        if self.sent is not None:
            yield "send_done_trigger", self.sent
        if self.received is not None:
            yield "recv_done_trigger", self.received


@dataclass(frozen=True)
class Trigger:
    """How a trigger starts its flows."""

    needs: int = 1
    """Activations before it starts all its flows: 1 oneshot, else a barrier; 0 multishot, one flow
    more at each activation."""
    line: int | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Connections:
    """The number of hosts, and the flows in the order of the file."""

    nodes: int
    flows: tuple[Flow, ...]
    triggers: Mapping[int, Trigger] = field(default_factory=dict)
    """By their numbers; one that is not here is oneshot."""
    file: str | None = field(default=None, compare=False)
    line: int | None = field(default=None, compare=False)
    """Where the file says how many flows it has."""

    def refused(self, name: str, value: object, reason: str, line: int | None) -> ValueError:
        """The error for something wrong: of a file `InputError`."""
        if self.file is not None:
            return InputError(self.file, line, name, value, reason)
        return ValueError(f"{name} {reason}, not {value}")

    def numbered(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Number the triggers from 0: `trigger`, `sent`, `received` and `needs` as
        `models.fabric.flows.Flows` has them, int32."""
        used = {
            name
            for flow in self.flows
            for name in (flow.trigger, flow.sent, flow.received)
            if name is not None
        }
        numbers = {name: place for place, name in enumerate(sorted(used))}

        def of(names: Iterable[int | None]) -> np.ndarray:
            return np.array([-1 if name is None else numbers[name] for name in names], np.int32)

        return (
            of(flow.trigger for flow in self.flows),
            of(flow.sent for flow in self.flows),
            of(flow.received for flow in self.flows),
            np.array([self.triggers.get(name, Trigger()).needs for name in numbers], np.int32),
        )


def check_triggers(matrix: Connections) -> None:
    """Raise `InputError` or `ValueError` naming line, field and value for a trigger that is not
    declared, not activated as often as its kind needs, or that waits for itself."""
    done: dict[int, list[tuple[Flow, str]]] = {}
    for flow in matrix.flows:
        for name, number in flow.activations():
            done.setdefault(number, []).append((flow, name))
    waiting: dict[int, list[Flow]] = {}
    for flow in matrix.flows:
        if flow.trigger is not None:
            waiting.setdefault(flow.trigger, []).append(flow)
    for number, flows in waiting.items():
        if number not in done:
            reason = "must be one that some flow activates"
            raise matrix.refused("trigger", number, reason, flows[0].line)
    used = [(flows[0], "trigger", number) for number, flows in waiting.items()]
    used += [(*causes[0], number) for number, causes in done.items()]
    for flow, name, number in used:
        if number not in matrix.triggers:
            reason = "must be one that a trigger line names"
            raise matrix.refused(name, number, reason, flow.line)
    for number, trigger in matrix.triggers.items():
        causes, flows = done.get(number, []), waiting.get(number, [])
        if trigger.needs == 0:
            _check_multishot(matrix, number, causes, flows)
        elif trigger.needs > 1 and trigger.needs != len(causes):
            reason = f"must be {len(causes)}, as many as activate trigger {number}"
            raise matrix.refused("barrier", trigger.needs, reason, trigger.line)
        elif trigger.needs < len(causes):
            flow, name = causes[1]
            line = causes[0][0].line
            reason = f"must be one that line {line} does not activate, as once is all it takes"
            raise matrix.refused(name, number, reason, flow.line)
    _check_circles(matrix)


def _check_multishot(
    matrix: Connections, number: int, causes: list[tuple[Flow, str]], flows: list[Flow]
) -> None:
    if len(flows) > len(causes):
        reason = f"must start at most {len(causes)} flows, as often as it is activated"
        raise matrix.refused("trigger", number, reason, flows[len(causes)].line)

    def place(flow: Flow, name: str) -> tuple[str, int]:
        return name, flow.source if name == "send_done_trigger" else flow.destination

    for flow, name in causes[1:] if flows else ():
        if place(flow, name) != place(*causes[0]):
            line = causes[0][0].line
            reason = (
                f"must not be multishot at another host, or in another way, than on line {line}"
            )
            raise matrix.refused(name, number, reason, flow.line)


def _check_circles(matrix: Connections) -> None:
    flow = unreached(*matrix.numbered())
    if flow is not None:
        waits = matrix.flows[flow]
        reason = "must not wait for itself in a circle"
        raise matrix.refused("trigger", waits.trigger, reason, waits.line)
