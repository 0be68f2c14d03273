"""Verilog that a simulator evaluates once a cycle, not twice, and that means the same.

At a rising edge, what counts is what the outputs have become of the inputs since the last one. To
see it, a driver evaluates the design with the clock low, looks, and evaluates it again for the
edge, which changes the outputs. `on_both_edges` puts the design into a module that looks for it:

```
             ┌────────────────── top ─────────────────┐
inputs ──────┤ registers move at every edge of `clk`, ├──►[reg at every edge]──► outputs, as they
clk ─────────┤ rising or falling                      │                          were at the edge
             └────────────────────────────────────────┘
```

So a driver sets the inputs, turns `clk` over, evaluates, and looks.
"""

from __future__ import annotations

import re

EDGE = "posedge clk"
BOTH = "posedge clk or negedge clk"

_PORT = re.compile(r"\b(input|output) (?:reg )?(\[\d+:0\] )?(\w+)(?=[,;)])")


def on_both_edges(verilog: str, top: str) -> str:
    """Return the design with every change of `clk` as an edge, and behind it a module
    `{top}_on_both_edges` with the ports of `top`, whose outputs are those of `top` at the edge.

    Args:
        verilog: a design with one clock, `clk`, whose rising edge alone counts; `top` names its
            ports as `rtl.verilog.to_verilog` writes them.

    Raises `ValueError` if something else than that edge counts.
    """
    others = set(re.findall(r"@ *\((.*?)\)", verilog)) - {EDGE, "*"}
    if others:
        raise ValueError(f"{EDGE} must be all that a design waits for, not {min(others)}")
    body = re.search(rf"^module {top} *\(.*?^endmodule", verilog, re.DOTALL | re.MULTILINE)
    assert body
    ports, kept, wires = [], [], []
    for way, width, name in _PORT.findall(body[0]):
        ports.append(f"{way} {'reg ' * (way == 'output')}{width}{name}")
        wires.append(f".{name}({name}{'_now' * (way == 'output')})")
        if way == "output":
            kept += [f"  wire {width}{name}_now;", f"  always @({BOTH}) {name} <= {name}_now;"]
    shell = [
        f"module {top}_on_both_edges ({', '.join(ports)});",
        *kept,
        f"  {top} inner ({', '.join(wires)});",
        "endmodule",
    ]
    return verilog.replace(EDGE, BOTH) + "\n" + "\n".join(shell) + "\n"
