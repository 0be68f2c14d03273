"""Work that is broken off leaves nothing half-written."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tb.test_netweave import ROOT, make_trace


def test_interrupt_leaves_nothing_half_written(tmp_path: Path) -> None:
    """Ctrl-C in the middle of work that would take minutes."""
    words = make_trace(radix=64, permutation=65536, packets=4000, out=tmp_path / "o.csv")
    line = [sys.executable, str(ROOT / "netweave.py"), *words]
    process = subprocess.Popen(
        line,
        stderr=subprocess.PIPE,
        text=True,
        # A test run in the background has SIGINT ignored, and its children would inherit that.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    until = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert [path.name for path in tmp_path.iterdir()] != []
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_kill_leaves_nothing_half_written(tmp_path: Path, number: signal.Signals) -> None:
    words = make_trace(radix=64, permutation=65536, packets=4000, out=tmp_path / "o.csv")
    line = [sys.executable, str(ROOT / "netweave.py"), *words]
    # A test run that a terminal's end must not end has SIGHUP ignored.
    process = subprocess.Popen(line, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
    until = time.monotonic() + 60
    while not list(tmp_path.iterdir()) and time.monotonic() < until:
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) != []
    process.send_signal(number)
    assert process.wait(timeout=60) == 143
    assert list(tmp_path.iterdir()) == []
