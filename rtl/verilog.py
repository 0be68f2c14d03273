"""Verilog from an Amaranth component: the same bytes on every run and with every hash seed."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import amaranth
from amaranth.back import rtlil
from amaranth.lib import wiring

from rtl.common.store import models_of
from rtl.sharing import share_modules
from rtl.toolchain import run_yosys, yosys_version

BUILD = Path(__file__).resolve().parents[1] / "build"
"""Where everything that is made goes; may be deleted at any time."""

_ATTRIBUTES = ("generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding")
_STRIP = " ".join(f"-remove {name}" for name in _ATTRIBUTES)

# What `amaranth.back.verilog` does, but for any of the three engines, without the line that names
# the compiler (and its path) with which Yosys was built, and with the clock enables of registers
# as enables, not as multiplexers in front of them: a simulator runs that almost twice as fast.
# No `opt_expr` (`-noopt`): an AND with a constant would come apart into assignments of single
# bits, slow to simulate and hard to read. A memory that is written has no initial value, which
# would be a line a word: it is swept after a reset. π backwards goes inline into Ofan's `Masks`,
# beside the condition under which its answer is kept: `tb.gated` skips it where all uplinks are
# valid.
_SCRIPT = f"""
read_rtlil design.il
proc -norom -noopt
memory_collect
setparam -set INIT 1'x t:$mem_v2 r:WR_PORTS>0 %i
opt_clean
opt_dff -simple-dffe
flatten *.masks
hierarchy -auto-top
opt_clean
attrmap {_STRIP}
attrmap -modattr {_STRIP}
write_verilog -norename design.v
"""


def to_verilog(component: wiring.Component, name: str) -> str:
    """Return the Verilog of `component`, its top module called `name`.

    The text holds no date, path or tool version. Ports have the names of the signature's members
    (`__` between nested ones), clock and reset of the `sync` domain are `clk` and `rst`. Models of
    memories that are no flip-flops stand behind it (rtl/common/store.v).
    Raises `rtl.toolchain.ToolError` if Yosys is missing or fails.
    """
    text = rtlil.convert(component, name=name, emit_src=False)
    made = run_yosys(_SCRIPT, {"design.il": text}, ["design.v"])["design.v"]
    verilog = share_modules(made.partition("*/")[2].lstrip())
    return verilog + models_of(verilog)


def block_verilog(block: Callable[[Any], wiring.Component], config: Any, name: str) -> str:
    """Return `to_verilog(block(config), name)`, from build/verilog if it was made before.

    Elaborating a large block takes Amaranth longer than Yosys needs for its Verilog (12 s against
    4 s for `edge-k64`), so the answer is kept by what it follows from: the block, the config's
    `repr`, every source file of `models` and `rtl`, and the tools' versions.
    """
    made_of = [yosys_version(), amaranth.__version__, _SCRIPT, name, repr(config), _sources()]
    made_of += [block.__module__, block.__qualname__]
    digest = hashlib.sha256("\0".join(made_of).encode()).hexdigest()
    kept = BUILD / "verilog" / f"{name}-{digest[:20]}.v"
    if not kept.exists():
        write_whole(kept, to_verilog(block(config), name))
    return kept.read_text()


@cache
def _sources() -> str:
    root = Path(__file__).resolve().parents[1]
    patterns = ("models/**/*.py", "rtl/**/*.py", "rtl/**/*.v")
    files = sorted(file for pattern in patterns for file in root.glob(pattern))
    return "\0".join(f"{file.relative_to(root)}\0{file.read_text()}" for file in files)


def write_whole(path: Path, text: str) -> None:
    """Write `text` beside `path` and rename, so that nobody ever reads half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as beside:
        whole = Path(beside) / path.name
        whole.write_text(text)
        whole.replace(path)
