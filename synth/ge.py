"""Gate equivalents of a block: Yosys and ABC map it to simple gates, this file weighs them.

One GE is a two-input NAND, four transistors. What a gate, a flip-flop and an enable weigh stands
here and nowhere else; docs/costs.md shows it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Elaboratable

from synth.yosys import digest, keep, map_to_gates, recall

GATES: dict[str, float] = {
    "NOT": 0.5,
    "NAND": 1.0,
    "NOR": 1.0,
    "AND": 1.5,
    "OR": 1.5,
    "AOI3": 1.5,
    "OAI3": 1.5,
    "AOI4": 2.0,
    "OAI4": 2.0,
    "XOR": 2.5,
    "XNOR": 2.5,
    "MUX": 3.0,
}
"""GE of each gate that may be used: transistors of its static CMOS cell, divided by 4."""

FLOP_GE = {"paper": 4.0, "Nangate45": 5.67}
"""GE of one flip-flop: the Ofan paper's convention, and DFF_X1 / NAND2_X1 of Nangate45."""

CLOCK_GATE_GE = 4.5
"""GE of one clock gate: a latch (3) and an AND (1.5)."""

ENABLE_MUX_GE = GATES["MUX"]
"""GE of an enable made of a multiplexer instead, for one flip-flop."""

ABC_GATES = tuple(gate for gate in GATES if gate != "NOT")
"""The gates that ABC is told of; it always has an inverter."""

FLOPS = ("$_DFF_P_", "$_DFFE_PP_")
"""The flip-flops of a mapped netlist: without and with an enable."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a block costs, in parts that add up."""

    logic: float = 0.0
    """Combinational gates, GE."""
    gating: float = 0.0
    """Clock gates of registers with an enable, GE."""
    flops: int = 0
    """Flip-flops of pipeline and control, bits."""
    storage: int = 0
    """Flip-flops that hold pointers and tables, bits."""
    rom: int = 0
    """Bits of read-only tables; their gates are in `logic`."""
    sram: int = 0
    """Bits of memories with one read and one write port, not of flip-flops; in no total."""
    depth: int = 0
    """Gates in a row on the longest path between registers, inputs and outputs."""

    def total(self, convention: str = "paper") -> float:
        """Return GE of everything, a flip-flop and a storage bit at `FLOP_GE[convention]`."""
        return self.logic + self.gating + FLOP_GE[convention] * (self.flops + self.storage)

    def times(self, count: int) -> Cost:
        """Return the cost of `count` such blocks side by side."""
        return Cost(
            logic=self.logic * count,
            gating=self.gating * count,
            flops=self.flops * count,
            storage=self.storage * count,
            rom=self.rom * count,
            sram=self.sram * count,
            depth=self.depth,
        )

    def __add__(self, other: Cost) -> Cost:
        """Return the cost of both blocks, with registers between them."""
        return Cost(
            logic=self.logic + other.logic,
            gating=self.gating + other.gating,
            flops=self.flops + other.flops,
            storage=self.storage + other.storage,
            rom=self.rom + other.rom,
            sram=self.sram + other.sram,
            depth=max(self.depth, other.depth),
        )


@dataclass(frozen=True)
class Priced:
    """What a price was made of."""

    text: str
    """RTLIL."""
    boxes: tuple[str, ...]
    """Modules that were left out."""
    memories: bool
    """Whether memories were mapped."""


watchers: list[Callable[[Priced], None]] = []
"""Hear of everything that is priced (`synth.equal.prove_priced`)."""


def price(
    component: Elaboratable,
    *,
    ports: Any = None,
    boxes: Mapping[str, int] | None = None,
    memories: bool = True,
    storage: int = 0,
) -> Cost:
    """Map a component to gates and count them; the answer is kept for the next run.

    Args:
        component: what to price; its top module's name becomes `top`.
        ports: its ports, if it is no `wiring.Component`.
        boxes: submodules to leave out, by name of the instance (`sort`, `bank_3`), and the gates in
            a row inside each from its inputs to its outputs (0 if it has registers there).
        memories: whether its memories are mapped too, not left out.
        storage: how many of its flip-flops are storage, bits.

    Raises `ValueError` if there is no such submodule, `rtl.toolchain.ToolError` if Yosys fails.
    """
    text, kinds = as_rtlil(component, ports, boxes or ())
    left_out = {kind: (boxes or {})[box] for kind, box in kinds.items()}
    for told in watchers:
        told(Priced(text, tuple(left_out), memories))
    choices = repr((sorted(left_out.items()), memories, sorted(GATES.items())))
    name = digest(text, choices)
    kept = recall(name)
    if kept is None:
        module = map_to_gates(text, ABC_GATES, boxes=tuple(left_out), memories=memories)
        cost = cost_of(module, left_out if memories else left_out | {"memory": 0})
        keep(name, asdict(cost))
    else:
        cost = Cost(**kept)
    return replace(cost, flops=cost.flops - storage, storage=storage)


def as_rtlil(
    component: Elaboratable, ports: Any = None, boxes: Iterable[str] = ()
) -> tuple[str, dict[str, str]]:
    """Return a component as RTLIL text with top module `top`, and the instance that each module
    stands for that is to be left out.

    Raises `ValueError` if there is no such submodule.
    """
    extra = {} if ports is None else {"ports": ports}
    text = rtlil.convert(component, name="top", emit_src=False, **extra)
    kinds: dict[str, str] = {}
    for box in boxes:
        # A signal of the same name makes Amaranth put a number behind the module's.
        found = re.search(rf"^module \\(top\.{re.escape(box)}(?:\$\d+)?)$", text, re.MULTILINE)
        if found is None:
            raise ValueError(f"{box} is no submodule of {type(component).__name__}")
        kinds[found[1]] = box
    return text, kinds


def cost_of(module: dict[str, Any], boxes: Mapping[str, int] | None = None) -> Cost:
    """Count a mapped module; `boxes` gives the gates in a row inside cells that are left out.

    Every enable is a clock gate, or a multiplexer a flip-flop where that is less.
    Raises `ValueError` naming a cell that has no weight.
    """
    boxes = boxes or {}
    logic, flops = 0.0, 0
    enables: Counter[int] = Counter()
    for name, cell in module["cells"].items():
        kind = cell["type"].removeprefix("$_").removesuffix("_")
        if kind in GATES:
            logic += GATES[kind]
        elif cell["type"] in FLOPS:
            flops += 1
            for bit in cell["connections"].get("E", ()):
                enables[bit] += 1
        elif cell["type"] not in boxes:
            raise ValueError(f"cell {name} of type {cell['type']} has no weight in synth/ge.py")
    gating = sum(min(CLOCK_GATE_GE, ENABLE_MUX_GE * bits) for bits in enables.values())
    return Cost(logic=logic, gating=gating, flops=flops, depth=logic_depth(module, boxes))


def logic_depth(module: dict[str, Any], boxes: Mapping[str, int] | None = None) -> int:
    """Return the most gates in a row between registers, inputs and outputs of a mapped module.

    Every gate counts one, an inverter too; a box counts what `boxes` says, and ends the path if
    that is 0. Raises `ValueError` on a combinational loop.
    """
    boxes = boxes or {}
    waiting: dict[str, int] = {}
    readers: defaultdict[int, list[str]] = defaultdict(list)
    outputs: dict[str, list[int]] = {}
    weight: dict[str, int] = {}
    for name, cell in module["cells"].items():
        weight[name] = 0 if cell["type"] in FLOPS else boxes.get(cell["type"], 1)
        if not weight[name]:
            continue
        directions = cell["port_directions"]
        inputs: set[int] = set()
        outputs[name] = []
        for port, bits in cell["connections"].items():
            if directions[port] == "input":
                inputs |= {bit for bit in bits if isinstance(bit, int)}
            else:
                outputs[name] += bits
        waiting[name] = len(inputs)
        for bit in inputs:
            readers[bit].append(name)
    driven = {bit for bits in outputs.values() for bit in bits}
    arrival: dict[int, int] = dict.fromkeys((bit for bit in readers if bit not in driven), 0)
    begin: dict[str, int] = dict.fromkeys(waiting, 0)
    ready = list(arrival)
    longest = done = 0
    while ready:
        bit = ready.pop()
        for name in readers[bit]:
            begin[name] = max(begin[name], arrival[bit])
            waiting[name] -= 1
            if not waiting[name]:
                done += 1
                end = begin[name] + weight[name]
                longest = max(longest, end)
                for out in outputs[name]:
                    arrival[out] = end
                    ready.append(out)
    stuck = sum(count > 0 for count in waiting.values())
    if stuck:
        raise ValueError(f"{stuck} gates are in or behind a combinational loop")
    return longest
