"""Which inputs an output hangs on within one cycle, read from the netlist."""

from __future__ import annotations

import json

from amaranth.back import rtlil
from amaranth.lib import wiring

from rtl.toolchain import run_yosys

_SCRIPT = """
read_rtlil design.il
hierarchy -top top
proc
flatten
opt_clean
write_json design.json
"""


def combinational_inputs(component: wiring.Component, output: str) -> set[str]:
    """Return the input ports from which a path without a register leads to the port `output`.

    Registers end a path, and so do memories, which must be read at a clock edge.
    """
    text = rtlil.convert(component, name="top", emit_src=False)
    made = run_yosys(_SCRIPT, {"design.il": text}, ["design.json"])
    module = json.loads(made["design.json"])["modules"]["top"]
    behind: dict[int, list[int]] = {}
    for cell in module["cells"].values():
        kind, directions = cell["type"], cell["port_directions"]
        if kind.startswith("$memrd"):
            assert int(cell["parameters"]["CLK_ENABLE"], 2), "a memory is read without a clock"
        if "dff" in kind or kind.startswith("$mem"):
            continue
        ends = {
            way: [
                bit
                for port, bits in cell["connections"].items()
                if directions[port] == way
                for bit in bits
                if isinstance(bit, int)
            ]
            for way in ("input", "output")
        }
        for bit in ends["output"]:
            behind[bit] = ends["input"]
    seen: set[int] = set()
    left = [bit for bit in module["ports"][output]["bits"] if isinstance(bit, int)]
    while left:
        bit = left.pop()
        if bit not in seen:
            seen.add(bit)
            left += behind.get(bit, [])
    return {
        name
        for name, port in module["ports"].items()
        if port["direction"] == "input" and seen & set(port["bits"])
    }
