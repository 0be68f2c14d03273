"""What `netweave sim csig` and `netweave trace csig` say of bad input, and that nothing is lost."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

import pytest

from models.csig import vectorized
from tb.csig.test_netweave_csig import GOOD, HEAD, PORTS, folder, run, sim, trace

assert folder  # the fixture


BAD_FILES = {
    "no column": ("t.csv", GOOD.replace(",value", ",v"), "t.csv:1: value: this column is missing"),
    "port": (
        "t.csv",
        GOOD.replace("1000,0", "1000,1"),
        "t.csv:3: port: must be a port .*, not '1'",
    ),
    "backwards": ("t.csv", GOOD.replace("1001", "999"), "t.csv:4: time_ns: must be 1000 or more"),
    "format": ("t.csv", GOOD.replace("wide", "long"), "t.csv:5: format: must be compact or wide"),
    "value": ("t.csv", GOOD.replace(",7,0", ",32,0"), "t.csv:3: value: must be at most 31 in a c"),
    "no rows": ("t.csv", HEAD + "\n", "t.csv:2: empty: there is no row below the header"),
    "syntax": ("p.toml", "[[port]", "p.toml:1: this is no TOML: Expected"),
    "codes": ("p.toml", PORTS.replace("6, 7]", "7, 6]"), "p.toml: port 0 compact.abw_c.codes: mu"),
    "bounds": ("p.toml", PORTS.replace("70, 85]", "85, 70]"), "p.toml: .*bounds: must rise, or ra"),
    "locator": ("p.toml", PORTS.replace("= 5", "= 200"), "p.toml: port 0 locator: .*, not '200'"),
    "window": ("p.toml", PORTS.replace("locator = 5", "locator = 5\nwindow_ns = 0"), ".*window_ns"),
    "point": ("p.toml", PORTS.replace("= 5", "= 5.0"), ".*locator: must be an int.*, not '5[.]0'"),
    "speed": ("p.toml", PORTS.replace("= 100", "= 0"), "p.toml: port 0 speed_gbps: .*, not '0'"),
    "twice": ("p.toml", PORTS + PORTS, "p.toml: port 0 id: must be different .*, not '0'"),
    "key": ("p.toml", PORTS.replace("speed_", "sped_"), ".* sped_gbps: .* did you mean speed_gbps"),
}
BAD_OPTIONS: dict[str, tuple[list[str], str]] = {
    "no trace": (sim(trace="no.csv"), "no.csv: no such file or directory"),
    "no ports": (sim(ports="no.toml"), "no.toml: no such file or directory"),
    "missing": (["sim", "csig"], "Missing option.*"),
    "layout": (sim(layout="old"), ".*--layout.*'old'.*"),
    "engine": (sim(engine="c"), ".*--engine.*'c'.*"),
    "nowhere": (sim(out="no/o.csv"), "no/o.csv: no such file or directory"),
    "onto the trace": (sim(out="t.csv"), "t.csv: cannot be replaced: it is an input"),
    "onto the ports": (sim(out="p.toml"), "p.toml: cannot be replaced: it is an input"),
    "hop": (trace(hop=6), "hop must be an integer from 1 to 5, not 6"),
    "hop text": (trace(hop="x"), ".*'--hop': must be an integer, not 'x'"),
    "hops": (trace(hops=65), "hops must be an integer from 1 to 64, not 65"),
    "load": (trace(load="0.5,x"), "load must be a number in decimals, not 'x'"),
    "speed 0": (trace(speed_gbps="0"), "speed_gbps must be an integer from 1 to 800, not 0"),
    "lists": (trace(load="1,1", delay_ns="1,2,3"), "load must have 1 value or 3, one a hop, not 2"),
    "signals": (trace(signals="abw,speed"), "signals must be one of abw, .*, not 'speed'"),
    "rate": (trace(rate_gbps="6"), "rate_gbps must be above 0, at most 5 Gb/s, .*, not 6"),
    "packets": (trace(packets=0), "packets must be an integer from 1 to 16777216, not 0"),
    "too many": (trace(packets=10**7), "packets must be at most 16777216 in all hops, not 4.*"),
    "same file": (trace(ports_out="o.csv"), "ports_out must be another file than out, not 'o.csv'"),
    "no hops": (trace(hops=0), "hops must be an integer from 1 to 64, not 0"),
    "uec hops": (trace(hops=64, layout="uec"), "hops must be at most 63 in layout uec, not 64"),
    "no load": (trace(load="0"), "load must be above 0 at each hop of a path, not 0"),
}


def refused(words: list[str], said: str, capfd: Any) -> None:
    """Exit code 2, one line that says it, and the output of an earlier run as it was."""
    Path("o.csv").write_text("old")
    before = {name: Path(name).read_bytes() for name in sorted(os.listdir())}
    assert run(*words) == 2
    out, err = capfd.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert re.match(rf"netweave: {said}", err), err
    assert {name: Path(name).read_bytes() for name in sorted(os.listdir())} == before


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(folder: Path, capfd: Any, name: str) -> None:
    file, text, said = BAD_FILES[name]
    (folder / "t.csv").write_text(GOOD)
    (folder / "p.toml").write_text(PORTS)
    (folder / file).write_text(text)
    refused(sim(), said, capfd)


@pytest.mark.parametrize("name", BAD_OPTIONS)
def test_bad_options(folder: Path, capfd: Any, name: str) -> None:
    words, said = BAD_OPTIONS[name]
    (folder / "t.csv").write_text(GOOD)
    (folder / "p.toml").write_text(PORTS)
    refused(words, said, capfd)


def test_what_fails_while_it_runs_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "t.csv").write_text(GOOD)
    (folder / "p.toml").write_text(PORTS)

    def fail(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(vectorized, "answer", fail)
    assert run(*sim()) == 130
    assert sorted(os.listdir()) == ["p.toml", "t.csv"]
