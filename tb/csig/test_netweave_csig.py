"""CSIG's commands: what they do, and what they say of every bad input."""

from __future__ import annotations

import os
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import netweave
from models.csig import vectorized
from models.csig.config import PRESETS, CsigConfig
from models.csig.path import Path as Route
from models.csig.path import hop_traces, joined
from models.csig.ports import read_ports
from models.csig.setup import Agent, Setup
from models.csig.stops import FACTS, Stop
from models.csig.toml import text_of
from models.csig.trace import read_trace, write_trace
from models.csig.vectorized import answer
from tb.csig.golden import serve
from tb.csig.traffic import random_setup, random_trace

HEAD = "time_ns,port,bytes,delay_ns,queue_bytes,format,signal,value,locator"
ROWS = (
    "0,0,10000,0,0,compact,1,31,0",
    "1000,0,64,0,0,compact,1,7,0",
    "1001,0,64,0,0,compact,1,2,0",
    "1002,0,64,0,0,wide,0,1048575,0",
    "1003,0,64,0,0,compact,5,3,9",
    "1004,0,64,0,0,compact,1,,",
)
GOOD = "\n".join([HEAD, *ROWS, ""])
PORTS = """
[[port]]
id = 0
speed_gbps = 100
locator = 5
[port.compact.abw_c]
bounds = [5, 10, 25, 40, 55, 70, 85]
codes = [0, 1, 2, 3, 4, 5, 6, 7]
[port.wide.abw]
base = 0
shift = 18
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder, so that messages can name files without a path."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> int:
    return netweave.main([str(word) for word in words])


def words_of(start: tuple[str, ...], given: dict[str, Any]) -> list[str]:
    words = list(start)
    for name, value in given.items():
        words += [f"--{name.replace('_', '-')}", *([] if value is True else [str(value)])]
    return words


def sim(**options: Any) -> list[str]:
    plain = {"trace": "t.csv", "ports": "p.toml", "out": "o.csv", "engine": "model"}
    return words_of(("sim", "csig"), plain | options)


def trace(**options: Any) -> list[str]:
    return words_of(("trace", "csig"), {"out": "o.csv"} | options)


def test_sim_compares_and_replaces(folder: Path, capfd: Any) -> None:
    """80,000 of 100,000 bits are used in window 0: 20 % are left, range 2, 2.5 GB/s."""
    (folder / "t.csv").write_text(GOOD)
    (folder / "p.toml").write_text(PORTS)
    assert run(*sim()) == 0
    assert (folder / "o.csv").read_text().splitlines() == [
        HEAD + ",replaced",
        "0,0,10000,0,0,compact,1,7,5,1",
        "1000,0,64,0,0,compact,1,2,5,1",
        "1001,0,64,0,0,compact,1,2,0,0",
        f"1002,0,64,0,0,wide,0,{2_500_000_000 >> 18},5,1",
        "1003,0,64,0,0,compact,5,3,9,0",
        "1004,0,64,0,0,compact,1,,,0",
    ]
    out, err = capfd.readouterr()
    assert out == ""
    assert re.fullmatch(
        r"netweave: 6 packets, 3 replaced, 0 stripped, 1 of unknown types, 0 without a software "
        r"value that holds; model: [\d,]+ packets/s\n",
        err,
    )
    assert sorted(os.listdir()) == ["o.csv", "p.toml", "t.csv"]


def test_sim_tells_the_age_of_software_values(folder: Path, capfd: Any) -> None:
    """Values are in the table at 500 and at 1,000; the tag at 1,450 finds one 450 ns old."""
    rows = "".join(f"{time},0,64,0,0,compact,1,31,0\n" for time in (10, 600, 999, 1450))
    (folder / "t.csv").write_text(f"{HEAD}\n{rows}")
    agent = "\n[port.agent]\nperiod_ns = 500\n"
    (folder / "p.toml").write_text(PORTS.replace("= 5\n", '= 5\nsource = "agent"\n') + agent)
    assert run(*sim()) == 0
    assert "oldest software value that a tag asked for: 499 ns\n" in capfd.readouterr().err


def test_strip_leaves_value_and_locator_empty(folder: Path) -> None:
    (folder / "t.csv").write_text(GOOD)
    (folder / "p.toml").write_text(PORTS.replace("locator = 5", 'locator = 5\naction = "strip"'))
    assert run(*sim()) == 0
    rows = (folder / "o.csv").read_text().splitlines()[1:]
    assert all(row.endswith(",,,0") for row in rows)
    assert run(*sim(trace="o.csv", out="again.csv")) == 0
    assert (folder / "again.csv").read_bytes() == (folder / "o.csv").read_bytes()


def test_both_engines_agree_with_the_golden_model(folder: Path) -> None:
    """UEC's layout, D with and without leave; compact tags, of which codes are exact."""
    rng = np.random.default_rng(3)
    config = CsigConfig(layout="uec", sources="native", formats=("compact",))
    setup = Setup(ports=random_setup(config, rng, "update").ports)
    packets = random_trace(config, setup, 3000, rng)
    packets = packets[packets.format == 0]
    write_trace(folder / "t.csv", packets)
    (folder / "p.toml").write_text(text_of(_decimal(setup)))
    setup = read_ports(folder / "p.toml", config)
    for discarded in (True, False):
        options = {"layout": "uec"} | ({"update_discarded": True} if discarded else {})
        expected = serve(setup.config(layout="uec", update_discarded=discarded), setup, packets)
        for engine in ("model", "rtl") if discarded else ("model",):
            assert run(*sim(engine=engine, **options)) == 0
            rows = [line.split(",") for line in (folder / "o.csv").read_text().splitlines()[1:]]
            found = [(int(r[7] or -1), int(r[8] or -1), r[-1] == "1") for r in rows]
            assert found == [row[:3] for row in expected]
            assert len({row[2] for row in found}) == 2


def _decimal(setup: Setup) -> Setup:
    """Round bounds, so that they can be written in decimals."""
    ports = []
    for port in setup.ports:
        compact = {}
        for name, q in port.compact.items():
            bounds = tuple(Fraction(round(bound * 2), 2) + n for n, bound in enumerate(q.bounds))
            compact[name] = replace(q, bounds=bounds)
        ports.append(replace(port, compact=compact))
    return Setup(ports=tuple(ports))


def test_agents_and_long_times(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[CsigConfig] = []
    same = vectorized.answer

    def spy(config: CsigConfig, *rest: Any) -> Any:
        seen.append(config)
        return same(config, *rest)

    monkeypatch.setattr(vectorized, "answer", spy)
    (folder / "p.toml").write_text(PORTS + "[port.source]\nabw_c = 'agent'\n[port.agent]\n")
    for time, bits in ((10**6, 32), (2**32, 64)):
        (folder / "t.csv").write_text(f"{HEAD}\n{time},0,64,0,0,compact,1,31,0\n")
        assert run(*sim()) == 0
        assert (folder / "o.csv").read_text().splitlines()[1].endswith(",7,5,1")
        assert (seen[-1].time_bits, seen[-1].sources) == (bits, "both")
    (folder / "p.toml").write_text(PORTS)
    assert run(*sim()) == 0
    assert (seen[-1].time_bits, seen[-1].sources) == (32, "native")
    assert read_ports(folder / "p.toml").agent(0) == Agent()


def test_parquet_by_suffix(folder: Path) -> None:
    pytest.importorskip("pyarrow")
    (folder / "t.csv").write_text(GOOD)
    (folder / "p.toml").write_text(PORTS)
    assert run(*sim(out="o.parquet")) == 0
    assert run(*sim(trace="o.parquet", out="again.csv")) == 0
    assert run(*sim()) == 0
    expected = (folder / "o.csv").read_text().splitlines()
    again = (folder / "again.csv").read_text().splitlines()
    assert [line.rsplit(",", 1)[0] for line in again] == [
        line.rsplit(",", 1)[0] for line in expected
    ]


def test_trace_of_the_five_hops(folder: Path, capfd: Any) -> None:
    """The README's two commands; the last hop's tags name the bottlenecks of the facts."""
    assert run(*trace(ports_out="p.toml")) == 0
    said = capfd.readouterr().err
    assert said.startswith(
        "netweave: 41,855 packets of all hops of 5, 1,000 of the flow at 5 Gb/s,"
    )
    setup = read_ports("p.toml")
    assert setup == Route().setup()
    made = read_trace("o.csv", setup.config(), setup)
    assert made.columns().keys() == joined(hop_traces(Route())).columns().keys()
    assert run(*sim(trace="o.csv", out="tags.csv")) == 0
    rows = [line.split(",") for line in (folder / "tags.csv").read_text().splitlines()[1:]]
    last = [row for row in rows if row[1] == "4" and row[7]]
    locators = {signal: {row[8] for row in last if row[6] == signal} for signal in "0123"}
    assert locators == {"0": {"5"}, "1": {"1"}, "2": {"3"}, "3": {"3"}}


def test_what_leaves_one_hop_goes_into_the_next(folder: Path) -> None:
    common = {"packets": 50, "format": "wide", "jitter_ns": 900, "seed": 3, "other_bytes": 9000}
    for hop in (2, 3):
        assert run(*trace(hop=hop, out=f"{hop}.csv", ports_out="p.toml", **common)) == 0
    assert run(*sim(trace="2.csv", out="left.csv")) == 0
    tags = [
        [row.split(",")[7:9] for row in (folder / name).read_text().splitlines()[1:]]
        for name in ("left.csv", "3.csv")
    ]
    left, into = ([tag for tag in part if tag[0]] for part in tags)
    assert left == into
    assert len(left) == 50


def test_every_option_reaches_the_path(folder: Path) -> None:
    options = {
        "hops": 2,
        "speed_gbps": "100,40",
        "load": "0.5",
        "delay_ns": "7,8",
        "queue_bytes": "300",
        "packets": 9,
        "packet_bytes": 200,
        "rate_gbps": "2.5",
        "other_bytes": 600,
        "signals": "queue,abw",
        "format": "wide",
        "layout": "uec",
        "source": "agent",
        "window_ns": 3000,
        "link_ns": 77,
        "jitter_ns": 5,
        "seed": 6,
    }
    assert run(*trace(ports_out="p.toml", **options)) == 0
    stops = tuple(
        Stop(speed_gbps=c, load=Fraction(1, 2), delay_ns=d, queue_bytes=300)
        for c, d in ((100, 7), (40, 8))
    )
    route = Route(
        stops=stops,
        packets=9,
        packet_bytes=200,
        rate_gbps=Fraction(5, 2),
        other_bytes=600,
        signals=("queue", "abw"),
        format="wide",
        layout="uec",
        source="agent",
        window_ns=3000,
        link_ns=77,
        jitter_ns=5,
        seed=6,
    )
    assert len(FACTS) == 5
    write_trace(folder / "expected.csv", joined(hop_traces(route)))
    assert (folder / "o.csv").read_bytes() == (folder / "expected.csv").read_bytes()
    assert read_ports("p.toml") == route.setup()
    assert answer(route.config(), route.setup(), joined(hop_traces(route))).stale.any()


@pytest.mark.parametrize("words", [["sim", "csig", "--help"], ["trace", "csig", "--help"]])
def test_help(words: list[str]) -> None:
    assert CliRunner().invoke(netweave.app, words, env={"COLUMNS": "200"}).exit_code == 0


def test_presets_are_listed() -> None:
    result = CliRunner().invoke(netweave.app, ["presets"], env={"COLUMNS": "200"})
    assert all(name in result.output for name in PRESETS)
