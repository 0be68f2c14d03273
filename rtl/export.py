"""Verilog files for use outside the house: a mechanism, and the lint waivers that belong to it."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from amaranth.hdl import Shape, UnusedElaboratable
from amaranth.lib import wiring

from models.csig import config as csig
from models.csig import tables
from models.csig.beat import (
    FLAGS,
    agent_use,
    agent_write,
    count_answer,
    count_read,
    table_write,
    tag_bits,
)
from models.csig.beat import packet as csig_packet
from models.csig.config import CsigConfig
from models.ofan import config as ofan
from models.ofan.config import OfanConfig
from models.symphony import config as symphony
from models.symphony.beat import order, packet, receipt
from models.symphony.config import SymphonyConfig
from models.symphony.settings import settings
from rtl.common.store import MODULES
from rtl.csig.hop import Hop
from rtl.ofan.engine import PointerEngine
from rtl.ofan.pipeline import Pipeline
from rtl.ofan.sorted_banked import SortedBanked
from rtl.ofan.switch import Switch
from rtl.symphony.marker import Marker
from rtl.symphony.tally import verdict_layout
from rtl.verilog import block_verilog, write_whole

WAIVERS = Path(__file__).with_name("netweave.vlt")
"""Verilator's waivers for every design of the house, each with its reason."""


def export_ofan(preset_name: str, folder: Path, storage: str | None = None) -> tuple[Path, Path]:
    """Write the Verilog of a preset of Ofan and the waivers into `folder`; return both paths.

    The first is `ofan_PRESET.v`, whose top module has the same name with `_` for `-`; the second
    `netweave.vlt`. The same preset gives the same bytes. With `storage` the pointers of its banks
    are held so, and the file is `ofan_PRESET-STORAGE.v` if that is not flip-flops. Raises
    `ValueError` for a preset that does not exist or storage that it cannot have, `OSError` if the
    folder cannot be written.
    """
    c = ofan.preset(preset_name)
    name = preset_name
    if storage is not None:
        c = replace(c, engine=replace(c.engine, storage=storage))
        name += f"-{storage}" if storage != "flops" else ""
    a, b = c.request_bits, c.answer_bits
    about = [
        f"Ofan for {c.lanes} lanes and {c.uplinks} uplinks, "
        f"{c.destinations} destinations x {c.size_classes} size classes.",
        *_pace(c),
        f"s_axis_tdata, m_axis_tdata: lane l at [l*{a} +: {a}] and [l*{b} +: {b}].",
    ]
    if c.engine.storage != "flops":
        about.append(
            f"{MODULES[c.engine.storage]}, at the end, simulates; put what your process has in "
            "its place."
        )
    return _export("ofan", name, folder, Switch, c, about)


def _pace(c: OfanConfig) -> list[str]:
    """Return lines that say when the packets of a batch leave."""
    latency = f"{latencies(c)['switch']} cycles from s_axis to m_axis"
    kind = c.engine.kind
    if not c.engine.banked:
        return [f"{latency}; one batch a cycle."]
    if kind == "sorted-banked":
        wait = "a batch waits a cycle for each further key that its fullest bank is asked for"
        bound = "in front of it or beside it in its batch"
    elif kind == "matched-banked":
        wait = "a packet waits while its bank serves another key, and all behind it wait"
        bound = "in front of it"
    else:
        wait = "a packet waits for its bank, and for its queue"
        bound = "in front of it"
    whole = kind == "sorted-banked" and c.pipes == 1
    leaves = "with all lanes of a batch" if whole else "with lanes of one or more batches"
    return [
        f"Engine {kind}, {c.engine.banks} banks"
        f"{f' in each of {c.pipes} pipes' if c.pipes > 1 else ''}: {latency} where nothing waits;",
        f"{wait},",
        f"at most as many cycles as there are packets {bound},",
        "refused answers and writes of masks not counted.",
        f"A beat of m_axis comes {leaves}: m_axis_tkeep says which have an answer; each lane's "
        "come in the order of its packets.",
    ]


def export_symphony(preset_name: str, folder: Path) -> tuple[Path, Path]:
    """Do the same for a preset of Symphony: `symphony_PRESET.v`."""
    c = symphony.preset(preset_name)
    latency = marker_latencies(c)["marker"]
    about = [
        f"Symphony for {c.jobs} jobs, {c.arithmetic} arithmetic.",
        f"{latency} cycles from s_axis to m_axis; one packet a cycle.",
        f"s_axis_tdata: {_places(packet(c))}.",
        f"m_axis_tdata: {_places(verdict_layout(c).members, without='gap')}; m_axis_tuser: gap.",
        f"s_ctrl_tdata: {_places(order(c))}; op 1 reads counters, 2 gives a slot, 3 takes it.",
        f"m_ctrl_tdata: {_places(receipt(c))}.",
        "Settings of the preset, for the ports set_NAME: "
        + ", ".join(f"{name} {code}" for name, code in settings(c).items())
        + ".",
    ]
    return _export("symphony", preset_name, folder, Marker, c, about)


def export_csig(preset_name: str, folder: Path) -> tuple[Path, Path]:
    """Do the same for a preset of CSIG: `csig_PRESET.v`."""
    c = csig.preset(preset_name)
    sources = ["measured here"] * c.native + ["written by an agent"] * c.agent
    about = [
        f"CSIG for {c.ports} port{'s' * (c.ports > 1)}, {' and '.join(c.formats)} tags, values "
        f"{' or '.join(sources)}.",
        f"{hop_latencies(c)['hop']} cycles from s_axis to m_axis; one packet a cycle.",
        "clk, rst: one clock; reset is synchronous and active high. A beat moves at an edge of clk "
        "at which tvalid and tready are 1.",
        f"s_axis_tdata, s_axis_tvalid, s_axis_tready: {_places(csig_packet(c))}.",
        "s_time: ns, running on by itself, taken with the packet.",
        "m_axis_tdata, m_axis_tvalid, m_axis_tready: "
        f"{_places({'tag': tag_bits(c), **dict.fromkeys(FLAGS, 1)})}.",
        "s_table_tdata, s_table_tvalid, s_table_tready: "
        f"{_places(table_write(c))}; kind {_kinds()}.",
        "s_count_tdata, s_count_tvalid, s_count_tready: "
        f"{_places(count_read(c))}; reads a port's counters.",
        f"m_count_tdata, m_count_tvalid, m_count_tready: {_places(count_answer(c))}.",
    ]
    if c.agent:
        about += [
            f"s_agent_tdata, s_agent_tvalid, s_agent_tready: {_places(agent_write(c))}.",
            f"m_agent_tdata, m_agent_tvalid: {_places(agent_use(c))}; a packet asks for a value, "
            "for one cycle, and no tready.",
        ]
    about += [
        f"set_window_{n}: length of the windows of clock {n}, ns, held still."
        for n in range(c.window_clocks)
    ]
    return _export("csig", preset_name, folder, Hop, c, about)


def _kinds() -> str:
    """Return what the numbers of kinds of writes mean."""
    names = ("LEVEL", "CODE", "SCALE", "SWAP", "RECORD", "CAPACITY", "EDGE")
    return ", ".join(f"{getattr(tables, name)} {name.lower()}" for name in names)


def _places(fields: Mapping[str, Any], without: str = "") -> str:
    """Return where each field stands, from bit 0."""
    places, start = [], 0
    for name, shape in fields.items():
        width = Shape.cast(shape).width
        if width and name != without:
            end = f"[{start + width - 1}:{start}]" if width > 1 else f"[{start}]"
            places.append(f"{name} {end}")
        start += width
    return ", ".join(places)


def _export(
    mechanism: str,
    preset_name: str,
    folder: Path,
    block: Callable[[Any], wiring.Component],
    config: Any,
    about: list[str],
) -> tuple[Path, Path]:
    module = f"{mechanism}_{preset_name.replace('-', '_')}"
    verilog = folder / f"{mechanism}_{preset_name}.v"
    waivers = folder / WAIVERS.name
    lint = f"Lint: verilator --lint-only -Wall {WAIVERS.name} {verilog.name}"
    first, *rest = about
    lines = [f"{module}, made by netweave: {first}", *rest, lint]
    head = "".join(f"// {line}\n" for line in lines) + "\n"
    text = head + block_verilog(block, config, module)
    write_whole(waivers, WAIVERS.read_text())
    write_whole(verilog, text)
    return verilog, waivers


def latencies(config: OfanConfig) -> dict[str, int]:
    """Return the latency in cycles of Ofan's `switch` and of each of its blocks by name.

    Engines without a sorter are one block.
    """
    return _latencies("switch", Switch, config, lambda switch: _blocks(switch.pipelines[0]))


def _blocks(engine: PointerEngine) -> Mapping[str, Any]:
    return engine.blocks if isinstance(engine, Pipeline | SortedBanked) else {}


def marker_latencies(config: SymphonyConfig) -> dict[str, int]:
    """Return the latency in cycles of Symphony's `marker` and of each of its blocks by name."""
    return _latencies("marker", Marker, config, lambda marker: marker.blocks)


def hop_latencies(config: CsigConfig) -> dict[str, int]:
    """Return the latency in cycles of CSIG's `hop` and of each of its blocks by name."""
    return _latencies("hop", Hop, config, lambda hop: hop.blocks)


def _latencies(
    name: str,
    block: Callable[[Any], Any],
    config: Any,
    blocks_of: Callable[[Any], Mapping[str, Any]],
) -> dict[str, int]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnusedElaboratable)
        top = block(config)
        blocks = blocks_of(top)
        found = {name: top.latency, **{part: b.latency for part, b in blocks.items()}}
        del top, blocks
        gc.collect()  # Amaranth warns when an unused component is deleted
    return found
