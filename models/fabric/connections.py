"""Connection matrices: which host sends how much to which, in htsim's `.cm` format or drawn.

    Nodes 16                                     header: number of hosts,
    Connections 2                                of flows,
    Triggers 1                                   of triggers (may be left out if there are none)
    2->11 id 1 start 0 size 2000000 send_done_trigger 1
    2->4 id 2 trigger 1 size 2000000             starts when flow 1 has sent its last packet
    trigger id 1 oneshot                         or multishot, or barrier count 4

`start` is in picoseconds, `size` in bytes; `prio` is read and has no effect. Blank lines and lines
that begin with # are passed over.
"""

from __future__ import annotations

import math
import os
from fractions import Fraction

import numpy as np

from models.common.check import integer, parse_integer, parse_real
from models.common.errors import InputError
from models.common.files import check_text, read_bytes
from models.fabric.matrix import Connections, Flow, Trigger, check_triggers

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
    "recv_done_trigger": (1, _MAX_ID),
    "prio": (0, _MAX_ID),
}
_KINDS = "oneshot, multishot or barrier count NUMBER"


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
    from a host to itself, double ids, counts that disagree with the header, triggers that are
    declared nowhere, that are not activated as often as their kind needs, or that start each other
    in a circle.
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
        self.triggers: dict[int, Trigger] = {}
        self.line = 0

    def error(self, field: str | None, value: object, reason: str, line: int | None = None):
        return InputError(self.file, line or self.line, field, value, reason)

    def number(self, field: str, text: str, low: int, high: int) -> int:
        number = parse_integer(text)
        if number is None or not low <= number <= high:
            raise self.error(field, text, f"must be an integer from {low} to {high}")
        return number

    def time(self, field: str, text: str, low: int, high: int) -> int:
        """A number that may have a fraction; rounded up."""
        number = None if parse_real(text) is None else Fraction(text)
        if number is None or not low <= number <= high:
            raise self.error(field, text, f"must be a number from {low} to {high}")
        return math.ceil(number)

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
        self.check_counts()
        matrix = Connections(
            self.header["Nodes"][0],
            tuple(self.flows),
            self.triggers,
            self.file,
            self.header["Connections"][1],
        )
        check_triggers(matrix)
        return matrix

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
        if len(words) < 4 or words[1] != "id":
            expected = f"must read 'trigger id NUMBER' and {_KINDS}"
            raise self.error("trigger", " ".join(words), expected)
        number = self.number("trigger id", words[2], 1, _MAX_ID)
        if number in self.triggers:
            raise self.error("trigger id", number, "must be declared once")
        kind = words[3:]
        if "barrier" in kind and len(kind) > 1:
            count = [word for word in kind if word not in ("barrier", "count")]
            if len(count) != 1 or kind not in (
                ["barrier", *count],
                ["barrier", "count", *count],
                ["count", *count, "barrier"],
            ):
                raise self.error("trigger", " ".join(kind), f"must be {_KINDS}")
            needs = self.number("barrier", count[0], 1, _MAX_ID)
        elif kind in (["oneshot"], ["multishot"]):
            needs = int(kind == ["oneshot"])
        else:
            raise self.error("trigger", " ".join(kind), f"must be {_KINDS}")
        self.triggers[number] = Trigger(needs, self.line)

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
        self.flows.append(
            Flow(
                source=source,
                destination=destination,
                size=fields["size"],
                start=fields.get("start"),
                trigger=fields.get("trigger"),
                sent=fields.get("send_done_trigger"),
                received=fields.get("recv_done_trigger"),
                line=self.line,
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
            number = self.time if name == "start" else self.number
            fields[name] = number(name, words[at + 1], *_FLOW_FIELDS[name])
        return fields

    def check_counts(self) -> None:
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
