"""The generated Verilog of the switch under cocotb: presets and odd shapes against the model."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from models.ofan.config import OfanConfig, preset
from models.ofan.engine import Engine
from rtl.ofan.masks import write_layout
from rtl.ofan.switch import Switch
from rtl.verilog import block_verilog
from tb.coverage import kind, load, told
from tb.ofan.switch_coverage import TESTS, bins
from tb.simulator import CocotbError, run_cocotb

MODULE = "tb.ofan.cocotb_switch"


def queued(**fields: Any) -> Engine:
    return Engine(kind="queued-banked", **fields)


SMALL: dict[str, tuple[OfanConfig, int]] = {
    # name: (configuration, batches of one test)
    "edge-k8": (preset("edge-k8"), 1000),
    "edge-k12": (preset("edge-k12"), 1000),
    "agg-k12": (preset("agg-k12"), 1000),
    "pofan4-k16": (preset("pofan4-k16"), 600),
    "pofan1-k8": (preset("edge-k8", pipe_lanes=1), 400),
    "five-uplinks": (
        OfanConfig(lanes=5, uplinks=5, destinations=9, size_classes=3, ranks_per_stage=1),
        800,
    ),
    "one-of-all": (OfanConfig(lanes=1, uplinks=1, destinations=1, size_classes=1, masks=1), 600),
    "more-lanes-than-uplinks": (
        OfanConfig(lanes=8, uplinks=3, destinations=6, masks=1, network="best"),
        800,
    ),
    "no-masks": (
        OfanConfig(lanes=7, uplinks=7, destinations=20, masks=0, order="plain", init="zero"),
        800,
    ),
    "table": (
        OfanConfig(
            lanes=5,
            uplinks=6,
            destinations=13,
            masks=2,
            lookup="table",
            host_bits=3,
            network="odd-even-merge",
            ranks_per_stage=2,
        ),
        800,
    ),
    "aligned": (
        replace(preset("agg-k8"), lookup="aligned", host_bits=2, pipe_lanes=2, masks=3),
        800,
    ),
    "edge-k12-queued": (preset("edge-k12-queued"), 800),
    "queued-own-queues": (
        OfanConfig(
            lanes=5, uplinks=3, destinations=9, size_classes=3, masks=2, engine=queued(banks=2)
        ),
        600,
    ),
    "queued-one-of-all": (
        OfanConfig(
            lanes=1,
            uplinks=1,
            destinations=1,
            size_classes=1,
            masks=1,
            engine=queued(banks=1, depth=1),
        ),
        400,
    ),
    "queued-four-waves": (
        OfanConfig(
            lanes=8, uplinks=3, destinations=6, masks=0, engine=queued(banks=2, queues=2, depth=2)
        ),
        600,
    ),
    "queued-deep": (
        OfanConfig(
            lanes=4, uplinks=7, destinations=7, masks=3, engine=queued(banks=2, queues=2, depth=4)
        ),
        600,
    ),
    "queued-pipes": (
        OfanConfig(lanes=6, uplinks=4, destinations=5, pipe_lanes=2, engine=queued(banks=4)),
        600,
    ),
    "queued-table": (
        OfanConfig(
            lanes=4,
            uplinks=6,
            destinations=13,
            masks=2,
            lookup="table",
            host_bits=3,
            engine=queued(banks=4, queues=4, depth=3),
        ),
        600,
    ),
    "queued-aligned": (
        replace(
            preset("agg-k8"),
            lookup="aligned",
            host_bits=2,
            pipe_lanes=2,
            masks=3,
            engine=queued(banks=2),
        ),
        600,
    ),
    "matched-groups": (
        OfanConfig(
            lanes=6,
            uplinks=5,
            destinations=7,
            masks=2,
            engine=Engine(kind="matched-banked", banks=2, group=3),
        ),
        500,
    ),
    "matched-pipes": (
        OfanConfig(
            lanes=6,
            uplinks=4,
            destinations=5,
            pipe_lanes=2,
            masks=2,
            engine=Engine(kind="matched-banked", banks=2, group=2, depth=1),
        ),
        500,
    ),
    "sorted-banked": (
        OfanConfig(
            lanes=5,
            uplinks=3,
            destinations=6,
            masks=2,
            engine=Engine(kind="sorted-banked", banks=2),
        ),
        500,
    ),
    "sorted-banked-pipes": (
        OfanConfig(
            lanes=4,
            uplinks=6,
            destinations=5,
            pipe_lanes=2,
            masks=2,
            engine=Engine(kind="sorted-banked", banks=2, depth=1),
        ),
        500,
    ),
}
# Full size where a size may matter: one pipe and several. What lies between is of the same code,
# and a compiler needs minutes for it.
LARGE: dict[str, tuple[OfanConfig, int]] = {
    "edge-k64": (preset("edge-k64"), 3000),
    "edge-k64-queued": (preset("edge-k64-queued"), 1500),
    "pofan4-k64-queued": (preset("pofan4-k64-queued"), 500),
}
CONFIGS = SMALL | LARGE


@cache
def latency_of(config: OfanConfig) -> int:
    """Making a large switch takes a second, and several tests ask."""
    return Switch(config).latency


def parameters(name: str, config: OfanConfig, batches: int, **more: Any) -> dict[str, Any]:
    return {
        "run": name,
        "config": config,
        "latency": latency_of(config),
        "batches": batches,
        "seed": 1,
        "resets": 8,
        **more,
    }


# The largest first, so that two workers end at about the same time.
@pytest.mark.parametrize("name", [*LARGE, *SMALL])
def test_switch(name: str) -> None:
    config, batches = CONFIGS[name]
    given = parameters(name, config, batches)
    run_cocotb("switch", block_verilog(Switch, config, "switch"), MODULE, given)
    counted = load()[name]
    reachable = [bin.name for bin in bins(config, given["latency"])]
    assert list(counted) == reachable
    assert all(counted.values())


def test_configurations_reach_every_bin() -> None:
    """Each bin that exists for some configuration exists for one that is run here."""

    def names(config: OfanConfig, latency: int) -> set[str]:
        return {kind(bin.name) for bin in bins(config, latency)}

    ever = [
        replace(config, masks=masks, lookup=lookup)
        for config, _ in CONFIGS.values()
        for masks in (0, 1)
        for lookup in ("none", "table", "aligned")
    ]
    here = set[str]().union(*(names(config, latency_of(config)) for config, _ in CONFIGS.values()))
    assert set[str]().union(*(names(config, 1) for config in ever)) <= here
    assert {"w odd", "w even", "w no power of two", "group larger than w"} <= here


def test_the_page_tells_every_bin() -> None:
    page = (Path(__file__).parents[2] / "docs" / "verification.md").read_text()
    rows = told(page, "Functional coverage of the switch")
    counted = {
        (bin.test, kind(bin.name), bin.meaning)
        for config, _ in CONFIGS.values()
        for bin in bins(config, latency_of(config))
    }
    assert counted <= rows
    assert {row for row in rows if row[0] in TESTS} == counted


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="iverilog is not installed")
def test_icarus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIM", "icarus")
    config, _ = SMALL["edge-k8"]
    given = parameters("edge-k8-icarus", config, 400)
    run_cocotb("switch", block_verilog(Switch, config, "switch"), MODULE, given)


FAULTS = {
    # number in faulty_switch.v: (cocotb test that must see it, what it says of the engine `sorted`,
    # of `queued-banked`)
    1: ("traffic", "answer 120: not there", "answers leave of lanes 0x0, not"),
    2: (
        "pauses",
        r"answer 121: (lane|m_axis_tkeep)",
        "tready is 0, not 1|uplink is|none is due|leave of lanes",
    ),
    3: ("pauses", "answer 120: not there", "answers leave of lanes 0x0, not"),
    4: ("pauses", "m_axis changed before it was taken", "m_axis changed before it was taken"),
    5: ("pauses", "m_axis_tvalid fell before", "m_axis_tvalid fell before it was taken"),
    6: ("traffic", "answer 120: lane 0, .* uplink is", "uplink is"),
    7: (
        "traffic",
        "answer 120: m_axis_tkeep is",
        "though none is due|m_axis_tkeep is|leave of lanes",
    ),
    8: ("traffic", "s_axis_tready is 0 though nothing holds it", "s_axis_tready is 0, not 1"),
    9: ("failures", "uplink is", "uplink is|though a write is offered"),
    10: (
        "resets",
        "m_axis_tvalid is 1 in reset|no answer is due|latency -?[0-9]+, not 14",
        "m_axis_tvalid is 1 in reset|though none is due|answers leave of lanes",
    ),
}


@pytest.mark.parametrize("fault", [0, *FAULTS])
@pytest.mark.parametrize("engine", ["sorted", "queued-banked"])
def test_faults_are_seen(engine: str, fault: int) -> None:
    config = OfanConfig(
        lanes=3, uplinks=4, destinations=4, masks=2, engine=Engine(kind=engine, banks=2)
    )
    sizes = {
        "S_BITS": config.lanes * config.request_bits,
        "M_BITS": config.lanes * config.answer_bits,
        "W_BITS": write_layout(config).size,
        "LANES": config.lanes,
    }
    outside = Path(__file__).with_name("faulty_switch.v").read_text()
    for size, number in sizes.items():
        outside = re.sub(rf"\b{size}\b(?=[-\]])", str(number), outside)
    verilog = f"{outside}\n{block_verilog(Switch, config, 'inner')}"
    given = parameters(f"fault-{engine}-{fault}", config, 400, fault=fault, scratch=True)
    if not fault:
        run_cocotb("switch", verilog, MODULE, given)
        return
    test, *said = FAULTS[fault]
    with pytest.raises(CocotbError, match=said[config.engine.banked]):
        run_cocotb("switch", verilog, MODULE, given, test)


def test_missing_bin_is_named() -> None:
    config, _ = SMALL["one-of-all"]
    given = parameters("too-short", config, 0, scratch=True)
    said = "too-short: not covered by pauses: .*stall longer than latency"
    with pytest.raises(CocotbError, match=said):
        run_cocotb("switch", block_verilog(Switch, config, "switch"), MODULE, given, "pauses")
