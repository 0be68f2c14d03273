"""Two circuits made comparable: cut at their registers and at what is left out of both.

What a register holds becomes an input of both, what it will hold next an output; what a memory or a
submodule answers an input, what it is asked an output. Registers are known by their names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from synth.ge import FLOPS


def _is_output(cell: Mapping[str, Any], port: str) -> bool:
    """Whether a cell drives what is at its port; Yosys says so of all but `memory`."""
    return cell.get("port_directions", {"RD_DATA": "output"}).get(port) == "output"


class Circuit:
    """A flat module as `write_json` describes it, and what its nets are."""

    def __init__(self, module: Mapping[str, Any]) -> None:
        self.ports: dict[str, Any] = module["ports"]
        self.cells: dict[str, Any] = module["cells"]
        self.flops: dict[int, dict[str, list[Any]]] = {}
        """Connections of each flip-flop, by the net that it drives."""
        self.driven: set[Any] = {"0", "1"}
        self.read: set[Any] = set()
        for name, cell in self.cells.items():
            connections = cell["connections"]
            if cell["type"] in FLOPS:
                if connections["C"] != self.ports["clk"]["bits"]:
                    raise ValueError(f"{name} has another clock than clk")
                self.flops[connections["Q"][0]] = connections
            for port, bits in connections.items():
                (self.driven if _is_output(cell, port) else self.read).update(bits)
        for port in self.ports.values():
            (self.driven if port["direction"] == "input" else self.read).update(port["bits"])
        self.names: dict[tuple[str, int], Any] = {}
        """The net behind each bit of a name that the RTL gives."""
        self.starts: dict[Any, str] = {"0": "0", "1": "1"}
        """What a net is at the start, where that is not open."""
        for name, net in module["netnames"].items():
            start = net["attributes"].get("init", "")
            for index, bit in enumerate(net["bits"]):
                if not net["hide_name"]:
                    self.names[name, index] = bit
                if index < len(start) and start[-1 - index] in "01":
                    self.starts[bit] = start[-1 - index]


def _in_order(circuit: Circuit, box: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return what a box is connected to; the read ports of a memory, which Yosys puts in any order,
    by the name of what they read."""
    connections: dict[str, list[Any]] = box["connections"]
    alike = all(
        len(set(box["parameters"].get(f"RD_{what}", "0"))) <= 1
        for what in ("CLK_ENABLE", "TRANSPARENCY_MASK", "COLLISION_X_MASK")
    )
    if box["type"] != "memory" or not alike:
        return connections
    count = int(box["parameters"]["RD_PORTS"], 2)
    called = {bit: name for name, bit in sorted(circuit.names.items(), reverse=True)}

    def part(port: str, number: int) -> list[Any]:
        width = len(connections[port]) // count
        return connections[port][width * number : width * (number + 1)]

    order = sorted(range(count), key=lambda n: called.get(part("RD_DATA", n)[0], ("", n)))
    return {
        port: [bit for n in order for bit in part(port, n)] if port.startswith("RD_") else bits
        for port, bits in connections.items()
    }


class Pair:
    """The RTL (`gold`) and the netlist (`gate`), cut at registers and at cells of types `left_out`.

    Raises `ValueError` naming what only one side has.
    """

    def __init__(self, gold: Circuit, gate: Circuit, left_out: set[str]) -> None:
        self._gold, self._gate, self._left_out = gold, gate, left_out
        self.held: dict[Any, Any] = {}
        """The RTL's net of each register of the netlist."""
        self.starts_differ: list[str] = []
        self._unread: list[Any] = []
        """Registers that the netlist does without."""
        self._replaced: dict[Any, Any] = {}
        """What stands for a register of the RTL that mapping found constant or twice there."""
        self._answers: list[tuple[Any, Any]] = []
        self._checks: list[tuple[str, Any, Any]] = []
        self._coming: dict[Any, Any] = {}
        """What each register of the netlist will hold next."""
        self._holds: dict[str, Any] = {}
        """Multiplexers of registers with an enable."""
        if not gate.read <= gate.driven:
            raise ValueError(f"net {min(gate.read - gate.driven, key=str)} of the netlist is open")
        self._free = 1 + max(bit for bit in gate.driven if isinstance(bit, int))
        for bit, flop in gate.flops.items():
            self._coming[bit] = self._next(bit, flop)
        self._match_registers()
        self._match_boxes()

    @property
    def compared(self) -> int:
        """How many pairs of nets are compared."""
        outputs = [p["bits"] for p in self._gate.ports.values() if p["direction"] == "output"]
        return sum(map(len, outputs)) + len(self._checks)

    def label(self, port: str, index: int) -> str:
        """Return the name of an output of the miter."""
        return self._checks[index][0] if port == "check" else f"{port}[{index}]"

    def _match_registers(self) -> None:
        gold, gate = self._gold, self._gate
        met = set()
        for (name, index), bit in gold.names.items():
            twin = gate.names.get((name, index))
            if bit not in gold.flops or bit in met or twin not in gate.driven:
                continue  # no register; or known by another name; or swept, since nobody reads it
            met.add(bit)
            label = f"{name}[{index}]"
            if twin not in gate.flops and twin not in ("0", "1"):
                raise ValueError(f"register {label} is not a register of the netlist")
            if twin in ("0", "1") or twin in self.held:
                self._replaced[bit] = self.held.get(twin, twin)
            else:
                self.held[twin] = bit
            if gold.starts.get(bit) not in (None, gate.starts.get(twin)):
                self.starts_differ.append(label)
            coming = self._coming.get(twin, twin)
            self._checks.append((label, gold.flops[bit]["D"][0], coming))
        self._unread = [bit for bit in gold.flops if bit not in met]
        if len(self.held) != len(gate.flops):
            odd = next(bit for bit in gate.flops if bit not in self.held)
            names = [f"{name}[{at}]" for (name, at), bit in gate.names.items() if bit == odd]
            raise ValueError(f"register {[*names, odd][0]} is not a register of the RTL")

    def _match_boxes(self) -> None:
        both = {
            side: {n: c for n, c in side.cells.items() if c["type"] in self._left_out}
            for side in (self._gold, self._gate)
        }
        for name, box in (both[self._gold] | both[self._gate]).items():
            found = [cells.get(name, {}).get("parameters") for cells in both.values()]
            if found != [box["parameters"]] * 2:
                raise ValueError(f"{name} is not the same in RTL and netlist")
            asked = {side: _in_order(side, cells[name]) for side, cells in both.items()}
            for port, bits in asked[self._gold].items():
                pairs = list(zip(bits, asked[self._gate][port], strict=True))
                if _is_output(box, port):
                    self._answers += pairs
                else:
                    self._checks += [(f"{name}.{port}[{n}]", *pair) for n, pair in enumerate(pairs)]

    def _next(self, bit: int, flop: dict[str, list[Any]]) -> Any:
        if "E" not in flop:
            return flop["D"][0]
        (made,) = self._new(1)
        self._holds[f"hold{made}"] = {
            "type": "$_MUX_",
            "parameters": {},
            "attributes": {},
            "port_directions": {"A": "input", "B": "input", "S": "input", "Y": "output"},
            "connections": {"A": [bit], "B": flop["D"], "S": flop["E"], "Y": [made]},
        }
        return made

    def _new(self, count: int) -> list[int]:
        """Return so many nets that the netlist does not have."""
        self._free += count
        return list(range(self._free - count, self._free))

    def modules(self) -> dict[str, Any]:
        """Return the two combinational modules `gold` and `gate`, alike in their ports."""
        gold = self._cut(
            self._gold,
            [bit for bit, _ in self._answers] + list(self.held.values()) + self._unread,
            [bit for _, bit, _ in self._checks],
        )
        gate = self._cut(
            self._gate,
            [bit for _, bit in self._answers] + list(self.held) + self._new(len(self._unread)),
            [bit for _, _, bit in self._checks],
        )
        gate["cells"] |= self._holds
        return {"gold": gold, "gate": gate}

    def _cut(self, circuit: Circuit, known: list[Any], checks: list[Any]) -> dict[str, Any]:
        change = self._replaced if circuit is self._gold else {}
        ports = {
            name: port | {"bits": [change.get(bit, bit) for bit in port["bits"]]}
            for name, port in circuit.ports.items()
        }
        if known:
            ports["known"] = {"direction": "input", "bits": known}
        if checks:
            bits = [change.get(bit, bit) for bit in checks]
            ports["check"] = {"direction": "output", "bits": bits}
        cells = {
            name: cell
            | {
                "connections": {
                    port: [change.get(bit, bit) for bit in bits]
                    for port, bits in cell["connections"].items()
                }
            }
            for name, cell in circuit.cells.items()
            if cell["type"] not in (*FLOPS, *self._left_out)
        }
        return {"attributes": {}, "ports": ports, "cells": cells, "netnames": {}}
