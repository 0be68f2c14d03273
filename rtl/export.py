"""Verilog files for use outside the house: a switch, and the lint waivers that belong to it."""

from __future__ import annotations

import gc
import warnings
from pathlib import Path

from amaranth.hdl import UnusedElaboratable

from models.ofan.config import OfanConfig, preset
from rtl.ofan.switch import Switch
from rtl.verilog import block_verilog, write_whole

WAIVERS = Path(__file__).with_name("netweave.vlt")
"""Verilator's waivers for every design of the house, each with its reason."""


def export_ofan(preset_name: str, folder: Path) -> tuple[Path, Path]:
    """Write the Verilog of a preset and its waivers into `folder`; return both paths.

    The first is `ofan_PRESET.v`, whose top module has the same name with `_` for `-`; the second
    `netweave.vlt`. The same preset gives the same bytes. Raises `ValueError` for a preset that does
    not exist, `OSError` if the folder cannot be written.
    """
    config = preset(preset_name)
    module = f"ofan_{preset_name.replace('-', '_')}"
    verilog = folder / f"ofan_{preset_name}.v"
    waivers = folder / WAIVERS.name
    text = _header(module, config) + block_verilog(Switch, config, module)
    write_whole(waivers, WAIVERS.read_text())
    write_whole(verilog, text)
    return verilog, waivers


def _header(module: str, c: OfanConfig) -> str:
    a, b = c.request_bits, c.answer_bits
    lines = [
        f"{module}, made by netweave: Ofan for {c.lanes} lanes and {c.uplinks} uplinks, "
        f"{c.destinations} destinations x {c.size_classes} size classes.",
        f"{latencies(c)['switch']} cycles from s_axis to m_axis; one batch a cycle.",
        f"s_axis_tdata, m_axis_tdata: lane l at [l*{a} +: {a}] and [l*{b} +: {b}].",
        f"Lint: verilator --lint-only -Wall {WAIVERS.name} ofan_PRESET.v",
    ]
    return "".join(f"// {line}\n" for line in lines) + "\n"


def latencies(config: OfanConfig) -> dict[str, int]:
    """Return the latency in cycles of the `switch` and of each of its blocks by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedElaboratable)
        switch = Switch(config)
        blocks = switch.pipelines[0].blocks
        found = {"switch": switch.latency, **{name: b.latency for name, b in blocks.items()}}
        del switch, blocks
        gc.collect()  # Amaranth warns when an unused component is deleted
    return found
