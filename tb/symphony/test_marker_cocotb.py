"""The generated Verilog of the marker under cocotb: presets and odd shapes against the model."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from models.symphony.beat import VERDICT, order, packet, receipt
from models.symphony.coin import gap_bits
from models.symphony.config import SymphonyConfig, preset
from models.symphony.settings import setting_bits
from rtl.symphony.marker import Marker
from rtl.verilog import block_verilog
from tb.coverage import kind, load, told
from tb.simulator import CocotbError, run_cocotb
from tb.symphony.blocks import SMALL as WIDTHS
from tb.symphony.marker_bins import TESTS, bins

MODULE = "tb.symphony.cocotb_marker"


def small(**changes: Any) -> SymphonyConfig:
    """Narrow fields, short windows."""
    return SymphonyConfig(**{**WIDTHS, **changes})


SMALL: dict[str, tuple[SymphonyConfig, int]] = {
    # name: (configuration, packets of one test)
    "log-64": (preset("log-64"), 2000),
    "five-jobs": (
        small(
            jobs=5,
            arithmetic="exact",
            psn_window_ns=70,
            k=0.1,
            tau=0.3,
            alpha_max=5,
            n_sample=3,
            time_timeout=9,
        ),
        2000,
    ),
    "plain": (
        small(
            jobs=130,
            step_wrap="plain",
            step_packets=5,
            k=0.3,
            n_sample=0,
            counter_bits=0,
            mantissa_bits=3,
            fraction_bits=4,
            time_timeout=1,
        ),
        2000,
    ),
    "one-job": (
        small(
            jobs=1,
            k=1,
            alpha_max=2,
            tau=0.5,
            n_warmup=0,
            n_sample=1,
            time_bits=64,
            window_ns=16,
            counter_bits=8,
            time_timeout=2,
        ),
        2000,
    ),
}
LARGE: dict[str, tuple[SymphonyConfig, int]] = {
    "log-16k": (preset("log-16k"), 3000),
    "exact-16k": (preset("exact-16k"), 3000),
    "log-1k": (preset("log-1k"), 500),
    "exact-1k": (preset("exact-1k"), 500),
}
CONFIGS = LARGE | SMALL
FAULTY = "five-jobs"
"""Runs in the wrapper that has faults, and without one."""

OTHERS: dict[str, dict[str, Any]] = {
    # hardware made for: what is put on its settings
    "log-64": {
        "k": 0.013,
        "tau": 0.75,
        "window_ns": 77_777,
        "n_warmup": 5,
        "n_sample": 20,
        "alpha_max": 77,
        "kmin": 1_000,
        "kmax": 9_000,
        "pmax": 0.7,
    },
    "five-jobs": {"k": 0.09, "window_ns": 64, "psn_window_ns": 40, "n_sample": 2, "alpha_max": 4},
}


def verilog(config: SymphonyConfig, name: str = "marker") -> str:
    return block_verilog(Marker, config, name)


def text(name: str) -> str:
    """Return the Verilog of a configuration by name."""
    config, _ = CONFIGS[name]
    return faulty(config) if name == FAULTY else verilog(config)


def parameters(name: str, config: SymphonyConfig, packets: int, **more: Any) -> dict[str, Any]:
    return {
        "run": f"marker-{name}",
        "config": config,
        "latency": latency(config),
        "packets": packets,
        "seed": 1,
        "resets": 10,
        **more,
    }


@cache
def latency(config: SymphonyConfig) -> int:
    return Marker(config).latency


@pytest.mark.parametrize("name", CONFIGS)
def test_marker(name: str) -> None:
    config, packets = CONFIGS[name]
    given = parameters(name, config, packets, resets=5 if name in LARGE else 10)
    run_cocotb("marker", text(name), MODULE, given)
    counted = load()[given["run"]]
    reachable = [bin.name for bin in bins(config, given["latency"])]
    assert list(counted) == reachable
    assert all(counted.values())


@pytest.mark.parametrize("name", OTHERS)
def test_other_settings(name: str) -> None:
    """Hardware made for one configuration does what another asks for, by its inputs alone."""
    made, packets = CONFIGS[name]
    asked = replace(made, **OTHERS[name])
    assert asked.tau_scale == made.tau_scale
    given = parameters(f"{name}-other", asked, packets, scratch=True)
    run_cocotb("marker", text(name), MODULE, given, "traffic")


def test_configurations_reach_every_bin() -> None:
    """Each bin that exists for some configuration exists for one that is run here."""
    here = {name for config, _ in CONFIGS.values() for name in names(config)}
    changes: list[dict[str, Any]] = [
        {"step_wrap": wrap, "counter_bits": bits, "psn_window_ns": window, "jobs": jobs}
        for wrap in ("serial", "plain")
        for bits in (0, 8)
        for window in (None, 100)
        for jobs in (1, 5, 64)
    ]
    ever = {name for change in changes for name in names(SymphonyConfig(**change))}
    assert ever <= here


def names(config: SymphonyConfig) -> set[str]:
    return {kind(bin.name) for bin in bins(config, 1)}


def test_the_page_tells_every_bin() -> None:
    page = (Path(__file__).parents[2] / "docs" / "verification.md").read_text()
    rows = told(page, "Functional coverage of the marker")
    counted = {
        (bin.test, kind(bin.name), bin.meaning)
        for config, _ in CONFIGS.values()
        for bin in bins(config, 1)
    }
    assert counted <= rows
    assert {row for row in rows if row[0] in TESTS} == counted


@pytest.mark.skipif(shutil.which("iverilog") is None, reason="iverilog is not installed")
def test_icarus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIM", "icarus")
    config, _ = SMALL["five-jobs"]
    given = parameters("icarus", config, 400, scratch=True)
    run_cocotb("marker", verilog(config), MODULE, given, "orders")


FAULTS = {
    0: ("orders", "^nothing$"),
    # number in faulty_marker.v: (scene in which the bench must see it, what it says)
    1: ("traffic", "answer 60: not there"),
    2: ("traffic", "answer 61:|s_axis_tready is 0 though nothing holds it"),
    3: ("traffic", "answer 60: not there"),
    4: ("pauses", "changed before it was taken"),
    5: ("pauses", "m_axis_tvalid fell before it was taken"),
    6: ("traffic", "answer 60: ecn is"),
    7: ("traffic", "answer 60: gap is"),
    8: ("traffic", "s_axis_tready is 0 though nothing holds it"),
    9: (
        "resets",
        "tvalid is 1 in reset|no answer is due|latency -?[0-9]+, not|an order goes first",
    ),
    10: ("traffic", "symphony is|red is"),
    11: ("orders", "s_(ctrl|axis)_tready is 0 though nothing holds it"),
    12: ("orders", "receipt 5: is"),
    13: ("orders", "receipt [0-9]+: changed before it was taken"),
    14: ("orders", "receipt [0-9]+: m_ctrl_tvalid fell before it was taken"),
    15: ("orders", "s_axis_tready is 1 though an order goes first"),
    16: ("orders", "receipt 5: not there"),
    17: ("orders", "an order is taken before the last one's receipt"),
}


def test_faults_are_seen() -> None:
    config, _ = SMALL[FAULTY]
    given = parameters("faults", config, 400, faults=FAULTS)
    run_cocotb("marker", faulty(config), "tb.symphony.cocotb_faults", given)


def faulty(config: SymphonyConfig) -> str:
    """A marker in a wrapper that has faults."""
    c = config
    sizes = {
        "S_BITS": sum(packet(c).values()),
        "TIME_BITS": c.time_bits,
        "RANDOM_BITS": c.random_bits,
        "C_BITS": sum(order(c).values()),
        "M_BITS": len(VERDICT) + 1,
        "U_BITS": gap_bits(c),
        "R_BITS": sum(receipt(c).values()),
    }
    outside = Path(__file__).with_name("faulty_marker.v").read_text()
    for size, number in sizes.items():
        outside = re.sub(rf"\b{size}\b(?=[-\]])", str(number), outside)
    ports = {f"set_{name}": bits for name, bits in setting_bits(c).items()}
    filled = {
        "PORTS": ", ".join(ports),
        "DECLARED": "\n".join(f"  input [{bits - 1}:0] {name};" for name, bits in ports.items()),
        "CONNECTED": ", ".join(f".{name}({name})" for name in ports),
    }
    for word, text in filled.items():
        outside = re.sub(rf"\b{word}\b", text, outside)
    return f"{outside}\n{verilog(c, 'inner')}"


def test_missing_bin_is_named() -> None:
    config, _ = SMALL["one-job"]
    given = parameters("too-short", config, 0, scratch=True)
    said = "marker-too-short: not covered by pauses: .*stall longer than latency"
    with pytest.raises(CocotbError, match=said):
        run_cocotb("marker", verilog(config), MODULE, given, "pauses")
