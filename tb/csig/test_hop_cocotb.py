"""The generated Verilog of the hop under cocotb: presets and odd shapes against the model."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from models.csig.beat import (
    FLAGS,
    agent_use,
    agent_write,
    count_answer,
    count_read,
    packet,
    table_write,
    tag_bits,
)
from models.csig.config import CsigConfig, preset
from rtl.csig.hop import Hop
from rtl.verilog import block_verilog
from tb.coverage import kind, load, told
from tb.csig.hop_bins import TESTS, bins
from tb.simulator import CocotbError, run_cocotb

MODULE = "tb.csig.cocotb_hop"

CONFIGS: dict[str, tuple[CsigConfig, int]] = {
    # name: (configuration, packets of one test)
    "port-compact": (preset("port-compact"), 600),
    "port": (preset("port"), 600),
    "port-wide-agent": (preset("port-wide-agent"), 600),
    "bank-4": (preset("bank-4"), 600),
    "bank-64": (preset("bank-64"), 600),
    "three-ports": (
        CsigConfig(
            ports=3,
            clocks=2,
            layout="uec",
            update_discarded=True,
            time_bits=24,
            bytes_bits=11,
            delay_bits=8,
            queue_bits=9,
            longest_window_ns=1000,
            tpid_compact=0x88B5,
            tpid_wide=0x9900,
        ),
        600,
    ),
    "two-wide": (
        CsigConfig(
            ports=2,
            clocks=3,
            formats=("wide",),
            layout="uec",
            sources="native",
            time_bits=64,
            delay_bits=30,
            queue_bits=30,
            bytes_bits=16,
        ),
        600,
    ),
}

FAULTY = "port"
"""Runs in the wrapper that has faults, without one."""


def verilog(config: CsigConfig, name: str = "hop") -> str:
    return block_verilog(Hop, config, name)


def parameters(name: str, config: CsigConfig, packets: int, **more: Any) -> dict[str, Any]:
    return {
        "run": f"hop-{name}",
        "config": config,
        "latency": latency(config),
        "packets": packets,
        "seed": 1,
        "resets": 6,
        **more,
    }


@cache
def latency(config: CsigConfig) -> int:
    return Hop(config).latency


@pytest.mark.parametrize("name", CONFIGS)
def test_hop(name: str) -> None:
    config, packets = CONFIGS[name]
    given = parameters(name, config, packets)
    run_cocotb("hop", faulty(config) if name == FAULTY else verilog(config), MODULE, given)
    counted = load()[given["run"]]
    assert list(counted) == [bin.name for bin in bins(config, given["latency"])]
    assert all(counted.values())


def names(config: CsigConfig) -> set[str]:
    return {kind(bin.name) for bin in bins(config, 1)}


def test_configurations_reach_every_bin() -> None:
    """Each bin that exists for some configuration exists for one that is run here."""
    here = {name for config, _ in CONFIGS.values() for name in names(config)}
    ever = {
        name
        for formats in (("compact",), ("wide",), ("compact", "wide"))
        for layout in ("draft", "uec")
        for sources in ("native", "agent", "both")
        for ports in (1, 3, 4)
        for clocks in (1, 2)
        for discarded in (False, True)
        for name in names(
            CsigConfig(
                formats=formats,
                layout=layout,
                sources=sources,
                ports=ports,
                clocks=clocks,
                update_discarded=discarded,
            )
        )
    }
    assert ever <= here


def test_the_page_tells_every_bin() -> None:
    page = (Path(__file__).parents[2] / "docs" / "verification.md").read_text()
    rows = told(page, "Functional coverage of the hop")
    counted = {
        (bin.test, kind(bin.name), bin.meaning)
        for config, _ in CONFIGS.values()
        for bin in bins(config, 1)
    }
    assert counted <= rows
    assert {row for row in rows if row[0] in TESTS} == counted


FAULTS = {
    0: ("pauses", "^nothing$"),
    # number in faulty_hop.v: (scene in which the bench must see it, what it says)
    1: ("pauses", "answer 60: not there"),
    2: ("pauses", "answer 61:|s_axis_tready is 0 though nothing holds it"),
    3: ("pauses", "answer 60: not there"),
    4: ("pauses", "changed before it was taken"),
    5: ("pauses", "m_axis_tvalid fell before it was taken"),
    6: ("pauses", "answer 60: (tag is|changed)"),
    7: ("pauses", "answer 60: (stale is|changed)"),
    8: ("traffic", "s_axis_tready is 0 though nothing holds it"),
    9: ("resets", "tvalid is 1 in reset|no answer is due|latency -?[0-9]+, not|tag is|tready"),
    10: ("counts", "reading 3: is"),
    11: ("counts", "reading [0-9]+: changed before it was taken"),
    12: ("counts", "reading [0-9]+: m_count_tvalid fell before it was taken"),
    13: ("counts", "reading 3: not there"),
    14: ("counts", "s_count_tready is 0 though nothing holds it"),
    15: ("pauses", "stale is 1, not 0"),
    16: ("tables", "s_table_tready is 0 for a word of no table"),
    17: ("traffic", "s_axis_tready is 0 though nothing holds it|latency"),
    18: ("clock", "tag is|stale is|s_axis_tready is 1 before edges are counted"),
    19: ("clock", "tag is|s_axis_tready is 1 before edges are counted"),
    20: ("pauses", "m_agent showed"),
    21: ("pauses", "m_agent showed"),
    22: ("pauses", "m_agent showed"),
}


def test_faults_are_seen() -> None:
    config, _ = CONFIGS[FAULTY]
    given = parameters("faults", config, 300, faults=FAULTS)
    run_cocotb("hop", faulty(config), "tb.csig.cocotb_faults", given)


def faulty(c: CsigConfig) -> str:
    """A hop in a wrapper that has faults."""
    sizes = {
        "S_BITS": sum(packet(c).values()),
        "TIME_BITS": c.time_bits,
        "M_BITS": tag_bits(c) + len(FLAGS),
        "TABLE_BITS": sum(table_write(c).values()),
        "AGENT_BITS": sum(agent_write(c).values()),
        "USE_BITS": sum(agent_use(c).values()),
        "READ_BITS": sum(count_read(c).values()),
        "COUNT_BITS": sum(count_answer(c).values()),
    }
    outside = Path(__file__).with_name("faulty_hop.v").read_text()
    for size, number in sizes.items():
        outside = re.sub(rf"\b{size}\b(?=[-{{\]])", str(number), outside)
    return f"{outside}\n{verilog(c, 'inner')}"


def test_missing_bin_is_named() -> None:
    config, _ = CONFIGS["port-compact"]
    given = parameters("too-short", config, 0, scratch=True)
    said = "hop-too-short: not covered by pauses: .*stall longer than latency"
    with pytest.raises(CocotbError, match=said):
        run_cocotb("hop", verilog(config), MODULE, given, "pauses")
