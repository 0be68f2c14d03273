"""Ports files: what is read, and what is said of everything that is wrong."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.common.errors import InputError
from models.csig.config import CsigConfig
from models.csig.port import Port, check_ports
from models.csig.ports import read_ports
from models.csig.setup import Agent, Setup
from tb.csig.golden import PERCENT

ISSUE = """
[[port]]
id = 0
speed_gbps = 100
locator = 5
action = "update"              # pass | strip | update
window_ns = 1000
source = "native"              # native | agent
[port.compact.abw_c]
bounds = [5, 10, 25, 40, 55, 70, 85]
codes = [0, 1, 2, 3, 4, 5, 6, 7]
[port.wide.abw]
base = 0
shift = 18
"""
PLAIN = "[[port]]\nid = 3\nspeed_gbps = 40\nlocator = 9\n"


def read(folder: Path, text: str, **options: Any) -> Setup:
    file = folder / "p.toml"
    file.write_text(text)
    return read_ports(file, CsigConfig(**options))


def test_the_example_of_the_issue(tmp_path: Path) -> None:
    setup = read(tmp_path, ISSUE)
    (port,) = setup.ports
    assert (port.id, port.speed_gbps, port.locator, port.action) == (0, 100, 5, "update")
    assert (port.window_ns, port.source) == (1000, "native")
    assert port.compact == {"abw_c": PERCENT}
    assert port.wide["abw"].code(100 * 10**9 // 8) == 100 * 10**9 // 8 >> 18
    assert setup.config() == CsigConfig(sources="native")


def test_defaults_and_all_that_may_stand(tmp_path: Path) -> None:
    text = (
        PLAIN
        + '[[port]]\nid = 1\nspeed_gbps = 800\nlocator = 0\nwindow_ns = 200000\naction = "strip"\n'
        + '[port.source]\nabw = "agent"\n[port.agent]\nperiod_ns = 50_000\ndelay_ns = 7\n'
        + "[port.compact.delay]\nbounds = [-1, 0.1, 1e3]\ncodes = [0, 0, 9, 31]\n"
        + "[port.compact.queue]\nbounds = []\ncodes = [4]\n[port.wide.delay]\nbase=2.5\nshift=48\n"
        + '[[port]]\nid = 2\nspeed_gbps = 1\nlocator = 2\nsource = "agent"\n'
    )
    setup = read(tmp_path, text)
    one, two, three = setup.ports
    assert three == Port(id=3, speed_gbps=40, locator=9)
    assert one.origin("abw") == "agent"
    assert one.origin("queue") == "native"
    assert one.compact["delay"].bounds == (-1, Fraction(1, 10), 1000)
    assert one.wide["delay"].base == Fraction(5, 2)
    assert setup.agent(1) == Agent(period_ns=50_000, delay_ns=7, timeout_ns=150_000)
    assert two.source == "agent"
    assert setup.agent(2) == Agent(period_ns=100_000, delay_ns=0, timeout_ns=300_000)
    config = setup.config(layout="uec")
    assert (config.ports, config.clocks, config.sources) == (4, 2, "both")
    assert (config.longest_window_ns, config.layout) == (200_000, "uec")
    check_ports(config, list(setup.ports))


COMPACT = PLAIN + "[port.compact.delay]\n"
BAD = {
    "nothing": ("", r": port: there is no \[\[port\]\]"),
    "one table": ("[port]\nid = 0\n", r": port: must be tables \[\[port\]\], not 'a table'"),
    "a number": ("port = 3\n", r": port: must be tables \[\[port\]\], not '3'"),
    "syntax": ("[[port]]\nid = \n", ":2: this is no TOML: Invalid value"),
    "cut off": ("[[port]]\nid = 1\nx = [1,", ":3: this is no TOML: .*end of document"),
    "binary": ("id = \0", ":1: NUL byte: this is not a text file"),
    "other key": ("speed = 1\n" + PLAIN, ": speed: there is no such key; there are port"),
    "nearest key": (PLAIN + "windows_ns = 5\n", "3 windows_ns: .* did you mean window_ns\\?"),
    "odd key": (PLAIN + '"a\\nb" = 5\n', r"3 'a\\nb': there is no such key"),
    "signal": (PLAIN + "[port.wide.abwc]\n", "port 3 wide.abwc: .*; did you mean abw_c\\?"),
    "agent key": (PLAIN + "[port.agent]\nperiod = 5\n", "agent.period: .* mean period_ns\\?"),
    "no id": ("[[port]]\nspeed_gbps = 1\n", r"\[\[port\]\] no. 1 id: this key is missing"),
    "id": ("[[port]]\nid = 64\n", r"no. 1 id: must be an integer from 0 to 63, not '64'"),
    "id text": ('[[port]]\nid = "a"\n', "no. 1 id: must be an integer from 0 to 63, not 'a'"),
    "id twice": (PLAIN + PLAIN, "port 3 id: must be different for each port, not '3'"),
    "no speed": ("[[port]]\nid = 0\nlocator = 1\n", "port 0 speed_gbps: this key is missing"),
    "speed 0": ("[[port]]\nid=0\nspeed_gbps=0\n", "speed_gbps: must be .* 1 to 800, not '0'"),
    "speed": ("[[port]]\nid=0\nspeed_gbps=2.5\n", "speed_gbps: must be an integer.*, not '2.5'"),
    "no locator": ("[[port]]\nid=0\nspeed_gbps=1\n", "port 0 locator: this key is missing"),
    "locator": (PLAIN.replace("9", "128"), "locator: must fit the 7 bits of .* draft, not '128'"),
    "far locator": (PLAIN.replace("9", "65536"), "locator: .* 0 to 65535, not '65536'"),
    "action": (PLAIN + 'action = "drop"\n', "action: .* pass, strip, update, not 'drop'"),
    "action 1": (PLAIN + "action = true\n", "action: must be one of .*, not 'true'"),
    "window 0": (PLAIN + "window_ns = 0\n", "3 window_ns: must be .* 100 to 1048575, not '0'"),
    "window true": (PLAIN + "window_ns = true\n", "window_ns: must be .*, not 'true'"),
    "source": (PLAIN + 'source = "me"\n', "port 3 source: .* native, agent, not 'me'"),
    "source of": (PLAIN + 'source = {abw = "x"}\n', "source.abw: .* native, agent, not 'x'"),
    "source signal": (PLAIN + 'source = {abv = "agent"}\n', "source.abv: .* mean abw\\?"),
    "compact": (PLAIN + "compact = 7\n", "port 3 compact: must be a table, not '7'"),
    "compact of": (PLAIN + "compact = {abw = 7}\n", "compact.abw: must be a table, not '7'"),
    "no bounds": (COMPACT + "codes = [1]\n", "compact.delay.bounds: this key is missing"),
    "no codes": (COMPACT + "bounds = [1]\n", "compact.delay.codes: this key is missing"),
    "bounds": (COMPACT + "bounds = 1\n", "bounds: must be an array, not '1'"),
    "bound text": (COMPACT + "bounds = ['x']\n", "bounds: must be a number from .*, not 'x'"),
    "bound far": (COMPACT + "bounds = [1e19]\n", "bounds: must be .*, not '1e19'"),
    "bound inf": (COMPACT + "bounds = [inf]\n", "bounds: must be a number.*, not 'inf'"),
    "bound nan": (COMPACT + "bounds = [nan]\n", "bounds: must be a number.*, not 'nan'"),
    "bound 1e999": (COMPACT + "bounds = [1e999999999]\n", "bounds: must be.*, not 'inf'"),
    "digits": (COMPACT + f"bounds = [{'9' * 5000}]\n", ": this is no TOML: Exceeds the limit"),
    "overlap": (
        COMPACT + "bounds = [1, 2.5, 2]\ncodes = [0, 1, 2, 3]\n",
        "delay.bounds: must rise, or ranges overlap: 2.5 is before, not '2'",
    ),
    "same bound": (COMPACT + "bounds = [2, 2]\ncodes = [0, 1, 2]\n", "must rise, .*, not '2'"),
    "codes fall": (
        COMPACT + "bounds = [1, 2]\ncodes = [0, 5, 4]\n",
        "port 3 compact.delay.codes: must not fall: 5 is before, not '4'",
    ),
    "code": (COMPACT + "bounds = []\ncodes = [32]\n", "codes: .* 0 to 31, not '32'"),
    "codes count": (COMPACT + "bounds = [1]\ncodes = [1]\n", "codes: must be 2, .*, not '1'"),
    "ranges": (COMPACT + f"bounds = {list(range(32))}\ncodes=[1]\n", "at most 31, not '32'"),
    "base": (PLAIN + "[port.wide.abw]\nbase=-1\nshift=0\n", "wide.abw.base: .*, not '-1'"),
    "shift": (PLAIN + "[port.wide.abw]\nbase=1\nshift=49\n", "shift: .* 0 to 48, not '49'"),
    "no shift": (PLAIN + "[port.wide.abw]\nbase=1\n", "wide.abw.shift: this key is missing"),
    "period": (PLAIN + "[port.agent]\nperiod_ns = 0\n", "agent.period_ns: .*, not '0'"),
    "timeout": (PLAIN + "[port.agent]\ntimeout_ns = -1\n", "agent.timeout_ns: .*, not '-1'"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path: Path, name: str) -> None:
    text, said = BAD[name]
    with pytest.raises(InputError, match=said) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith(str(tmp_path / "p.toml"))
    assert len(str(caught.value).splitlines()) == 1


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none.toml: no such file or directory"):
        read_ports(tmp_path / "none.toml")


def test_deep_nesting(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="p.toml"):
        read(tmp_path, "x = " + "[" * 100_000)


def test_too_many_windows(tmp_path: Path) -> None:
    ports = [
        PLAIN.replace("id = 3", f"id = {n}") + f"window_ns = {100 + min(n, 8)}\n" for n in range(20)
    ]
    assert len(read(tmp_path, "".join(ports[:8])).windows) == 8
    with pytest.raises(
        InputError,
        match="window_ns: must have at most 8 different values in all ports, not '.100, 101",
    ):
        read(tmp_path, "".join(ports))


@pytest.mark.parametrize(
    ("locator", "quantizers", "layout", "good"),
    [
        (127, "[port.compact.abw]\nbounds=[]\ncodes=[0]\n", "draft", True),
        (128, "[port.compact.abw]\nbounds=[]\ncodes=[0]\n", "draft", False),
        (63, "[port.compact.abw]\nbounds=[]\ncodes=[0]\n", "uec", True),
        (64, "[port.compact.abw]\nbounds=[]\ncodes=[0]\n", "uec", False),
        (65535, "[port.wide.abw]\nbase=0\nshift=0\n", "draft", True),
        (32768, "[port.wide.abw]\nbase=0\nshift=0\n", "uec", False),
        (32767, "[port.wide.abw]\nbase=0\nshift=0\n", "uec", True),
        (
            300,
            "[port.wide.abw]\nbase=0\nshift=0\n[port.compact.abw]\nbounds=[]\ncodes=[0]\n",
            "draft",
            False,
        ),
    ],
)
def test_a_locator_fits_each_format_that_the_port_updates(
    tmp_path: Path, locator: int, quantizers: str, layout: str, good: bool
) -> None:
    text = PLAIN.replace("locator = 9", f"locator = {locator}") + quantizers
    if good:
        setup = read(tmp_path, text, layout=layout)
        check_ports(setup.config(layout=layout), list(setup.ports))
        return
    with pytest.raises(InputError, match=f"port 3 locator: .* {layout}, not '{locator}'"):
        read(tmp_path, text, layout=layout)
    kinds = {f: {"abw": object()} for f in ("compact", "wide") if f in quantizers}
    port = Port(id=3, speed_gbps=1, locator=locator, **kinds)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=f"locator must be an integer .*, not {locator}$"):
        check_ports(CsigConfig(layout=layout, ports=4), [port])


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused_in_one_line(tmp_path_factory: Any, text: str) -> None:
    file = tmp_path_factory.getbasetemp() / "any.toml"
    file.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(InputError) as caught:  # none of them is a whole port
        read_ports(file)
    assert len(str(caught.value).splitlines()) == 1


@given(st.decimals(-1000, 1000, places=4), st.decimals(-1000, 1000, places=3))
def test_numbers_are_exact(tmp_path_factory: Any, first: Any, second: Any) -> None:
    file = tmp_path_factory.getbasetemp() / "exact.toml"
    low, high = first, second + 2001  # bounds that are equal are refused
    file.write_text(
        PLAIN + f"[port.compact.abw]\nbounds = [{low:f}, {high:f}]\ncodes = [0, 1, 2]\n"
    )
    (port,) = read_ports(file).ports
    assert port.compact["abw"].bounds == (Fraction(low), Fraction(high))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"period_ns": 99}, "period_ns must be an integer from 100 to 1048575, not 99"),
        ({"delay_ns": -1}, "delay_ns must be .*, not -1"),
        ({"timeout_ns": 2**30 + 1}, f"timeout_ns must be .*, not {2**30 + 1}"),
    ],
)
def test_bad_agents(fields: dict[str, int], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Agent(**fields)
