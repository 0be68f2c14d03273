"""Switching activity of a mapped netlist: how often each of its nets toggles under given traffic.

64 streams of traffic run at once, one a bit of a machine word: a gate is one word operation for
all of them. Zero delay: a net changes at most once a cycle, so glitches are not seen. A flip-flop
counts by what it drives; clock pins and clock gates are not nets here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit

from synth.ge import FLOP_GE, FLOPS, GATES

STREAMS = 64

_OPERATIONS = {
    gate: number
    for number, gate in enumerate(
        ("NOT", "NAND", "NOR", "AND", "OR", "XOR", "XNOR", "MUX", "AOI3", "OAI3", "AOI4", "OAI4")
    )
}
_ONES = np.uint64(2**64 - 1)


@dataclass(frozen=True, kw_only=True)
class Activity:
    """How much of a netlist toggles."""

    gates: float
    """GE of its gates and flip-flops, a flip-flop at 4 GE."""
    weighted: float
    """Toggles a cycle of all cells' outputs, each times the GE of its cell."""
    kinds: dict[str, tuple[int, float]]
    """Of each kind of cell: how many there are, and toggles of one a cycle."""

    @property
    def by_gates(self) -> float:
        """Toggles a cycle, averaged over gate equivalents: what the paper calls activity."""
        return self.weighted / self.gates

    @property
    def by_nets(self) -> float:
        """Toggles a cycle, averaged over the nets that cells drive."""
        cells = sum(count for count, _ in self.kinds.values())
        return sum(count * rate for count, rate in self.kinds.values()) / cells


class Simulation:
    """A flat mapped netlist, ready to run.

    Args:
        module: as `synth.yosys.map_to_gates` returns it, memories mapped, nothing left out.
        fixed: values of input ports that never change; other inputs but `clk` are driven.

    Raises `ValueError` on a cell that is no gate and no flip-flop, and on a combinational loop.
    """

    def __init__(self, module: Mapping[str, Any], fixed: Mapping[str, int]) -> None:
        nets: dict[Any, int] = {"0": 0, "1": 1, "x": 2}

        def net(bit: Any) -> int:
            return nets.setdefault(bit, len(nets))

        ports = module["ports"]
        taken = {"clk", *fixed}
        self.inputs = {
            name: len(port["bits"])
            for name, port in ports.items()
            if port["direction"] == "input" and name not in taken
        }
        """Bits of each input that is driven."""
        self.outputs = {
            name: np.array([net(bit) for bit in port["bits"]])
            for name, port in ports.items()
            if port["direction"] == "output"
        }
        self._driven = np.array([net(b) for name in self.inputs for b in ports[name]["bits"]])
        known = {
            net(bit): value >> index & 1
            for name, value in fixed.items()
            for index, bit in enumerate(ports[name]["bits"])
        }
        flops, gates = [], []
        self._kinds: defaultdict[str, list[int]] = defaultdict(list)
        for name, cell in module["cells"].items():
            pins = {port: net(bits[0]) for port, bits in cell["connections"].items()}
            kind = cell["type"].removeprefix("$_").removesuffix("_")
            if cell["type"] in FLOPS:
                flops.append((pins["D"], pins.get("E", 1), pins["Q"]))
                self._kinds["flip-flop"].append(pins["Q"])
            elif kind in GATES:
                sources = [pins.get(port, 0) for port in ("A", "B", "S" if kind == "MUX" else "C")]
                gates.append((_OPERATIONS[kind], *sources, pins.get("D", 0), pins["Y"]))
                self._kinds[kind].append(pins["Y"])
            else:
                raise ValueError(f"cell {name} of type {cell['type']} is no gate")
        self._flops = np.array(flops, dtype=np.int64).reshape(-1, 3)
        self._gates = _in_order(np.array(gates, dtype=np.int64).reshape(-1, 6))
        self._start = np.zeros(len(nets), dtype=np.uint64)
        self._start[1] = _ONES
        for number, value in known.items():
            self._start[number] = _ONES * np.uint64(value)
        for wire in module["netnames"].values():
            start = wire["attributes"].get("init", "")
            for index, bit in enumerate(wire["bits"]):
                if index < len(start) and start[-1 - index] == "1" and bit in nets:
                    self._start[nets[bit]] = _ONES

    def run(
        self, offers: Mapping[str, np.ndarray], *, ready: str | None = None, idle: int = 0
    ) -> tuple[Activity, np.ndarray]:
        """Run all streams; return the activity, and the outputs' words for `words`.

        Args:
            offers: bits [stream, cycle, bit] of each input; what comes last is repeated.
            ready: the output that says whether an offer is taken; a stream that waits for it
                offers the same again, and is late from then on. None: all are taken.
            idle: cycles at first in which all inputs are 0 and nothing is counted.
        """
        gate = self.outputs[ready][0] if ready else 1
        bits = np.concatenate([offers[name] for name in self.inputs], axis=2)
        watched = np.concatenate(list(self.outputs.values()))
        toggles, seen = _run(
            self._gates,
            self._flops,
            self._start.copy(),
            self._driven,
            np.ascontiguousarray(bits, dtype=np.uint8),
            gate,
            watched,
            idle,
        )
        rates = toggles / (bits.shape[0] * bits.shape[1])
        kinds = {
            kind: (len(nets), float(rates[nets].mean()))
            for kind, nets in sorted(self._kinds.items())
        }
        weights = {**GATES, "flip-flop": FLOP_GE["paper"]}
        return Activity(
            gates=sum(weights[kind] * count for kind, (count, _) in kinds.items()),
            weighted=sum(weights[kind] * count * rate for kind, (count, rate) in kinds.items()),
            kinds=kinds,
        ), seen

    def words(self, seen: np.ndarray, output: str) -> np.ndarray:
        """Return the words of one output, [cycle, bit]: a bit a stream in each."""
        before = 0
        for name, nets in self.outputs.items():
            if name == output:
                return seen[:, before : before + len(nets)]
            before += len(nets)
        raise ValueError(f"there is no output {output}")


def _in_order(gates: np.ndarray) -> np.ndarray:
    """Return the gates so that each stands behind those it reads."""
    makers = {int(gate[5]): number for number, gate in enumerate(gates)}
    level = np.zeros(len(gates), dtype=np.int64)
    readers: defaultdict[int, list[int]] = defaultdict(list)
    waiting = [0] * len(gates)
    for number, gate in enumerate(gates):
        for source in {int(net) for net in gate[1:5]}:
            if source in makers:
                readers[makers[source]].append(number)
                waiting[number] += 1
    ready = [number for number, count in enumerate(waiting) if not count]
    for number in ready:
        for reader in readers[number]:
            level[reader] = max(level[reader], level[number] + 1)
            waiting[reader] -= 1
            if not waiting[reader]:
                ready.append(reader)
    if len(ready) < len(gates):
        raise ValueError(f"{len(gates) - len(ready)} gates are in or behind a combinational loop")
    return gates[np.lexsort((gates[:, 0], level))]


@njit(cache=True)
def _ones(word):  # pragma: no cover
    word = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _run(gates, flops, now, driven, offers, ready, watched, idle):  # pragma: no cover
    streams, cycles, _ = offers.shape
    toggles = np.zeros(len(now), np.int64)
    seen = np.zeros((idle + cycles, len(watched)), np.uint64)
    at = np.zeros(streams, np.int64)
    coming = np.zeros(len(flops), np.uint64)
    for cycle in range(idle + cycles):
        counts = cycle >= idle
        if counts:
            for index in range(len(driven)):
                word = np.uint64(0)
                for stream in range(streams):
                    bit = offers[stream, at[stream], index]
                    word |= np.uint64(bit) << np.uint64(stream)
                toggles[driven[index]] += _ones(word ^ now[driven[index]])
                now[driven[index]] = word
        for number in range(len(gates)):
            kind = gates[number, 0]
            a, b = now[gates[number, 1]], now[gates[number, 2]]
            if kind == 0:
                word = ~a
            elif kind == 1:
                word = ~(a & b)
            elif kind == 2:
                word = ~(a | b)
            elif kind == 3:
                word = a & b
            elif kind == 4:
                word = a | b
            elif kind == 5:
                word = a ^ b
            elif kind == 6:
                word = ~(a ^ b)
            else:
                c, d = now[gates[number, 3]], now[gates[number, 4]]
                if kind == 7:
                    word = a ^ ((a ^ b) & c)
                elif kind == 8:
                    word = ~((a & b) | c)
                elif kind == 9:
                    word = ~((a | b) & c)
                elif kind == 10:
                    word = ~((a & b) | (c & d))
                else:
                    word = ~((a | b) & (c | d))
            net = gates[number, 5]
            if counts:
                toggles[net] += _ones(word ^ now[net])
            now[net] = word
        for index in range(len(watched)):
            seen[cycle, index] = now[watched[index]]
        if counts:
            for stream in range(streams):
                taken = (now[ready] >> np.uint64(stream)) & np.uint64(1)
                if taken and at[stream] < cycles - 1:
                    at[stream] += 1
        for number in range(len(flops)):
            held = now[flops[number, 2]]
            enable = now[flops[number, 1]]
            coming[number] = held ^ ((held ^ now[flops[number, 0]]) & enable)
        for number in range(len(flops)):
            net = flops[number, 2]
            if counts:
                toggles[net] += _ones(coming[number] ^ now[net])
            now[net] = coming[number]
    return toggles, seen
