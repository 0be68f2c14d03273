"""One flat netlist of a whole engine, joined from those of its blocks."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from amaranth.hdl import Elaboratable

from synth.ge import ABC_GATES, as_rtlil
from synth.yosys import digest, keep, map_to_gates, recall


def whole_netlist(component: Elaboratable, apart: str) -> dict[str, Any]:
    """Map a component with all its memories, and return one flat netlist.

    The submodules whose paths (`file`, `file.bank_3`) match the pattern `apart` are mapped each by
    itself, those that are alike once, and put back. Raises `rtl.toolchain.ToolError` if Yosys
    fails.
    """
    text, _ = as_rtlil(component)
    paths = re.findall(rf"^module \\(top\.(?:{apart}))$", text, re.MULTILINE)
    alike: dict[str, str] = {}
    made: dict[str, dict[str, Any]] = {}
    for path in sorted({*paths, "top"}, reverse=True):
        boxes = [name for name in made if name.rpartition(".")[0] == path]
        kind = alike.setdefault(_without_names(text, path), path)
        if kind == path:
            found = _mapped(text, path, tuple(boxes))
            made[path] = joined(found, {box: made[box] for box in boxes})
        else:
            names = dict(zip(_ports(text, kind), _ports(text, path), strict=True))
            ports = {names[name]: port for name, port in made[kind]["ports"].items()}
            made[path] = {**made[kind], "ports": ports}
    return made["top"]


def _mapped(text: str, path: str, boxes: tuple[str, ...]) -> dict[str, Any]:
    text = text.replace("module \\top\n", "module \\outside\n") if path != "top" else text
    text = text.replace(f"module \\{path}\n", "module \\top\n")
    name = digest("netlist", text, repr((boxes, ABC_GATES)))
    found = recall(name)
    if found is None:
        found = map_to_gates(text, ABC_GATES, boxes=boxes)
        keep(name, found)
    return found


def _without_names(text: str, path: str) -> str:
    """Return the text of a module and of all below it, without what Amaranth numbers."""
    pattern = rf"^module \\{re.escape(path)}[.\n].*?^end$"
    body = "".join(re.findall(pattern, text, re.MULTILINE | re.DOTALL))
    return re.sub(r"\$\d+", "", body.replace(path, ""))


def _ports(text: str, path: str) -> list[str]:
    """Return the ports of a module in order."""
    body = re.search(rf"^module \\{re.escape(path)}\n(.*?)^end$", text, re.MULTILINE | re.DOTALL)
    assert body is not None
    found = re.findall(r"^  wire width \d+ (?:in|out)put (\d+) +\\(\S+)$", body[1], re.MULTILINE)
    return [name for _, name in sorted(found, key=lambda port: int(port[0]))]


def joined(shell: Mapping[str, Any], inner: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return a netlist with other netlists in place of its boxes; `inner` has one for each type."""
    nets = [b for c in shell["cells"].values() for bits in c["connections"].values() for b in bits]
    nets += [bit for port in shell["ports"].values() for bit in port["bits"]]
    free = 1 + max(bit for bit in nets if isinstance(bit, int))
    same: dict[Any, Any] = {}
    cells: dict[str, Any] = {}
    names: dict[str, Any] = dict(shell["netnames"])
    for name, cell in shell["cells"].items():
        box = inner.get(cell["type"])
        if box is None:
            cells[name] = cell
            continue
        here: dict[Any, Any] = {"0": "0", "1": "1", "x": "x"}
        for way in ("input", "output"):
            for port, pins in box["ports"].items():
                if pins["direction"] == way:
                    for bit, outer in zip(pins["bits"], cell["connections"][port], strict=True):
                        if bit in here:  # fed through, constant, or driven twice
                            same[outer] = here[bit]
                        else:
                            here[bit] = outer
        for part, inside in box["cells"].items():
            connections = {}
            for port, bits in inside["connections"].items():
                connections[port] = [here.setdefault(bit, free + len(here)) for bit in bits]
            cells[f"{name}.{part}"] = {**inside, "connections": connections}
        for wire, net in box["netnames"].items():
            bits = [here.get(bit, "x") for bit in net["bits"]]
            names[f"{name}.{wire}"] = {**net, "bits": bits}
        free += len(here) + 1

    def final(bit: Any) -> Any:
        while bit in same:
            bit = same[bit]
        return bit

    def resolved(holder: Mapping[str, Any]) -> dict[str, Any]:
        return {**holder, "bits": [final(bit) for bit in holder["bits"]]}

    for name, cell in cells.items():
        connections = {p: [final(b) for b in bits] for p, bits in cell["connections"].items()}
        cells[name] = {**cell, "connections": connections}
    return {
        **shell,
        "ports": {name: resolved(port) for name, port in shell["ports"].items()},
        "cells": cells,
        "netnames": {name: resolved(net) for name, net in names.items()},
    }
