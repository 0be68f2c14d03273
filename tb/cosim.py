"""What the commands `netweave cosim` of all mechanisms share."""

from __future__ import annotations

import gc
import json
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rtl.verilog import block_verilog
from tb.simulator import CocotbError, run_cocotb


def rate(name: str, value: float) -> float:
    """Return the share of cycles `value` if it is from 0 to 0.95; raises `ValueError` if not."""
    if not 0 <= value <= 0.95:
        raise ValueError(f"{name} must be from 0 to 0.95, not {value}")
    return value


def latency_of(block: Callable[[Any], Any], config: Any) -> int:
    """Return a block's latency, without Amaranth's warning of a component left unused."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        latency = block(config).latency
        gc.collect()  # the warning comes when the component goes
    return latency


def told_by(
    block: Callable[[Any], Any], name: str, module: str, given: dict[str, Any]
) -> dict[str, Any]:
    """Run the cocotb module on the Verilog of `block(given["config"])`; return what it wrote, as
    JSON, into the file `given["result"]`. Raises `CocotbError` at the first difference."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        verilog = block_verilog(block, given["config"], name)
        run_cocotb(name, verilog, module, {**given, "result": str(result)})
        return json.loads(result.read_text())


def first_line(error: CocotbError) -> str:
    """Return the line of a failed run that names the first difference."""
    return str(error).splitlines()[0].partition("AssertionError: ")[2] or str(error).splitlines()[0]
