"""Connection matrices: which host sends how much to which, in htsim's `.cm` format or drawn.

    Nodes 16                                     header: number of hosts,
    Connections 2                                of flows,
    Triggers 1                                   of triggers (may be left out if there are none)
    2->11 id 1 start 0 size 2000000 send_done_trigger 1
    2->4 id 2 trigger 1 size 2000000             starts when flow 1 has sent its last packet
    trigger id 1 oneshot

`start` is in picoseconds, `size` in bytes. Blank lines and lines that begin with # are passed over.
"""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from models.common.check import integer, parse_integer
from models.common.errors import InputError
from models.common.files import check_text, read_bytes

MAX_NODES = 2**19
"""Hosts of the largest fat tree, k = 128."""
_MAX_ID = 2**31 - 1
_MAX_SIZE = 2**63 - 1

_HEADERS = {"Nodes": (2, MAX_NODES), "Connections": (0, _MAX_ID), "Triggers": (0, _MAX_ID)}
_FLOW_FIELDS = {
    "id": (1, _MAX_ID),
    "start": (0, _MAX_SIZE),
    "trigger": (1, _MAX_ID),
    "size": (1, _MAX_SIZE),
    "send_done_trigger": (1, _MAX_ID),
}


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
    fires: int | None = None
    """The trigger that it fires with its last packet."""


@dataclass(frozen=True)
class Connections:
    """A connection matrix: the number of hosts, and the flows in the order of the file."""

    nodes: int
    flows: tuple[Flow, ...]


def permutation(nodes: int, seed: int, size: int = 1_000_000) -> Connections:
    """Every host sends `size` bytes to another one and receives from one (section 2.1).

    The permutation is uniform among those that leave no host with itself: numpy's
    `Generator(PCG64(seed)).permutation(nodes)` is drawn again until it has no fixed point (2.7
    draws on average). Raises `ValueError` naming nodes, seed or size.
    """
    integer("nodes", nodes, 2, MAX_NODES)
    integer("seed", seed, 0, 2**64 - 1)
    integer("size", size, 1, _MAX_SIZE)
    rng = np.random.Generator(np.random.PCG64(seed))
    hosts = np.arange(nodes)
    drawn = hosts
    while (drawn == hosts).any():
        drawn = rng.permutation(nodes)
    flows = (Flow(source=s, destination=d, size=size) for s, d in enumerate(drawn.tolist()))
    return Connections(nodes, tuple(flows))


def read_connections(file: str | os.PathLike[str], max_nodes: int = MAX_NODES) -> Connections:
    """Read a `.cm` file of at most `max_nodes` hosts.

    Raises `InputError` for whatever is wrong in it: malformed lines, numbers out of range, flows
    from a host to itself, double ids, counts that disagree with the header, triggers that no flow
    fires, that are declared nowhere, or that start each other in a circle.
    """
    data = read_bytes(file)
    check_text(file, data)
    return _Parser(os.fspath(file), max_nodes).parse(data.decode("utf-8-sig"))


class _Parser:
    def __init__(self, file: str, max_nodes: int) -> None:
        self.file = file
        self.max_nodes = max_nodes
        self.header: dict[str, tuple[int, int]] = {}  # name -> (value, line)
        self.flows: list[Flow] = []
        self.ids: set[int] = set()
        self.triggers: set[int] = set()
        self.started: dict[int, int] = {}  # trigger -> first line that waits for it
        self.fired: dict[int, int] = {}  # trigger -> first line that fires it
        self.line = 0

    def error(self, field: str | None, value: object, reason: str, line: int | None = None):
        return InputError(self.file, line or self.line, field, value, reason)

    def number(self, field: str, text: str, low: int, high: int) -> int:
        number = parse_integer(text)
        if number is None or not low <= number <= high:
            raise self.error(field, text, f"must be an integer from {low} to {high}")
        return number

    def parse(self, text: str) -> Connections:
        for self.line, line in enumerate(text.split("\n"), 1):
            words = line.split()
            if not words or words[0].startswith("#"):
                continue
            if words[0] in _HEADERS:
                self.parse_header(words)
            elif words[0] == "trigger":
                self.parse_trigger(words)
            elif "->" in words[0]:
                self.parse_flow(words)
            else:
                expected = "a line begins with Nodes, Connections, Triggers, trigger or SRC->DST"
                raise self.error(None, words[0], expected)
        self.check_whole()
        return Connections(self.header["Nodes"][0], tuple(self.flows))

    def parse_header(self, words: list[str]) -> None:
        name = words[0]
        if name in self.header:
            raise self.error(name, None, f"stands on line {self.header[name][1]} already")
        if len(words) != 2:
            raise self.error(name, " ".join(words[1:]), "must be followed by one number")
        value = self.number(name, words[1], *_HEADERS[name])
        if name == "Nodes" and value > self.max_nodes:
            raise self.error(name, value, f"must be at most the {self.max_nodes} hosts of the tree")
        self.header[name] = value, self.line

    def parse_trigger(self, words: list[str]) -> None:
        if len(words) != 4 or words[1] != "id" or words[3] != "oneshot":
            raise self.error("trigger", " ".join(words), "must read 'trigger id NUMBER oneshot'")
        number = self.number("trigger id", words[2], 1, _MAX_ID)
        if number in self.triggers:
            raise self.error("trigger id", number, "must be declared once")
        self.triggers.add(number)

    def parse_flow(self, words: list[str]) -> None:
        if "Nodes" not in self.header:
            raise self.error("Nodes", None, "must stand above the first flow")
        nodes = self.header["Nodes"][0]
        left, _, right = words[0].partition("->")
        source = self.number("source", left, 0, nodes - 1)
        destination = self.number("destination", right, 0, nodes - 1)
        if source == destination:
            raise self.error("destination", destination, "must be another host than the source")
        fields = self.parse_fields(words[1:])
        if "size" not in fields:
            raise self.error("size", None, "is missing")
        if ("start" in fields) == ("trigger" in fields):
            raise self.error("start", None, "a flow has a start or a trigger, one of the two")
        if "id" in fields:
            if fields["id"] in self.ids:
                raise self.error("id", fields["id"], "must be used once")
            self.ids.add(fields["id"])
        if "trigger" in fields:
            self.started.setdefault(fields["trigger"], self.line)
        if "send_done_trigger" in fields:
            self.fired.setdefault(fields["send_done_trigger"], self.line)
        self.flows.append(
            Flow(
                source=source,
                destination=destination,
                size=fields["size"],
                start=fields.get("start"),
                trigger=fields.get("trigger"),
                fires=fields.get("send_done_trigger"),
            )
        )

    def parse_fields(self, words: list[str]) -> dict[str, int]:
        fields: dict[str, int] = {}
        for at in range(0, len(words), 2):
            name = words[at]
            if name not in _FLOW_FIELDS:
                raise self.error(None, name, f"a flow's fields are {', '.join(_FLOW_FIELDS)}")
            if name in fields:
                raise self.error(name, None, "stands twice on this line")
            if at + 1 == len(words):
                raise self.error(name, None, "has no value")
            fields[name] = self.number(name, words[at + 1], *_FLOW_FIELDS[name])
        return fields

    def check_whole(self) -> None:
        if not self.header and not self.flows:
            raise self.error(None, None, "empty file", line=1)
        for name in ("Nodes", "Connections"):
            if name not in self.header:
                raise self.error(name, None, "is missing", line=1)
        counted = {"Connections": len(self.flows), "Triggers": len(self.triggers)}
        for name, count in counted.items():
            said, line = self.header.get(name, (0, 1))
            if said != count:
                raise self.error(name, said, f"must be {count}, as many as the file has", line)
        for number, line in self.started.items():
            if number not in self.fired:
                raise self.error("trigger", number, "must be one that some flow fires", line)
        for field, used in (("trigger", self.started), ("send_done_trigger", self.fired)):
            for number, line in used.items():
                if number not in self.triggers:
                    raise self.error(field, number, "must be one that a trigger line names", line)
        self.check_circles()

    def check_circles(self) -> None:
        """Every trigger must be reached from a flow that starts by itself."""
        waiting: dict[int, list[int]] = {}
        live = [flow.fires for flow in self.flows if flow.trigger is None]
        for flow in self.flows:
            if flow.trigger is not None and flow.fires is not None:
                waiting.setdefault(flow.trigger, []).append(flow.fires)
        reached: set[int] = set()
        while live:
            number = live.pop()
            if number is not None and number not in reached:
                reached.add(number)
                live += waiting.get(number, ())
        for number, line in self.started.items():
            if number not in reached:
                raise self.error("trigger", number, "must not wait for itself in a circle", line)
