"""A trace through the Verilog: what is told of it, and that it is the golden model's answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from models.common.errors import InputError
from models.csig.config import CsigConfig
from models.csig.ports import read_ports
from models.csig.trace import read_trace
from netweave import app
from tb.csig.cosim import cosim
from tb.csig.golden import serve

PORTS = """
[[port]]
id = 0
speed_gbps = 10
locator = 5
[port.compact.abw_c]
bounds = [5, 10, 25, 40, 55, 70, 85]
codes = [0, 1, 2, 3, 4, 5, 6, 7]
[port.wide.delay]
base = 0
shift = 2
[[port]]
id = 3
speed_gbps = 1
locator = 6
source = "agent"
[port.compact.queue]
bounds = [100, 1000, 5000]
codes = [3, 9, 20, 31]
[port.agent]
period_ns = 700
delay_ns = 50
timeout_ns = 900
"""
HEAD = "time_ns,port,bytes,delay_ns,queue_bytes,format,signal,value,locator\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    trace, ports = tmp_path / "trace.csv", tmp_path / "ports.toml"
    rows, time = [], 0
    for number in range(240):
        time += (0, 0, 40, 90, 350)[number * 7 % 5] + (number in (80, 200)) * 10**7
        tag = ("compact,1,31,0", "compact,3,4,1", "wide,2,3,2", "compact,6,1,3", "wide,0,,")
        delay, queue = number * 37 % 200, number * 91 % 900
        rows.append(f"{time},{number % 2 * 3},{900 + number},{delay},{queue},{tag[number % 5]}\n")
    trace.write_text(HEAD + "".join(rows))
    ports.write_text(PORTS)
    return trace, ports


def test_a_trace(files: tuple[Path, Path]) -> None:
    trace, ports = files
    told = cosim(trace, ports, stall=0.2, idle=0.2, seed=1)
    setup = read_ports(ports, CsigConfig())
    rows = serve(setup.config(), setup, read_trace(trace, setup.config(), setup))
    assert (told.packets, told.replaced) == (240, sum(row[2] for row in rows))
    assert told.replaced > 40
    assert told.writes > 10
    assert told.cycles > 240 / 0.8
    assert "bins; not hit: " in told.coverage


def test_the_command(files: tuple[Path, Path]) -> None:
    trace, ports = files
    run = CliRunner().invoke(app, ["cosim", "csig", "--trace", str(trace), "--ports", str(ports)])
    assert run.exit_code == 0, run.output
    assert "240 packets, " in run.output
    assert "no difference from the golden model" in run.output


def test_bad_files_and_rates(files: tuple[Path, Path]) -> None:
    trace, ports = files
    with pytest.raises(ValueError, match=r"stall must be from 0 to 0.95, not 1.5"):
        cosim(trace, ports, stall=1.5, idle=0, seed=0)
    trace.write_text(HEAD + "5,7,64,0,0,compact,1,1,1\n")
    with pytest.raises(InputError, match="port"):
        cosim(trace, ports, stall=0, idle=0, seed=0)
