"""Signals are data: a fifth line, and nothing else, makes hardware that knows five."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import models.csig.signals

END = ')\n"""Available bandwidth'
FIFTH = '    Signal(number=4, name="waiting", keep="max", unit="ns", measure="delay"),\n'

CHILD = """
import sys, types
module = types.ModuleType("models.csig.signals")
sys.modules["models.csig.signals"] = module
exec(sys.stdin.read(), vars(module))

import numpy as np
from models.csig.config import CsigConfig
from models.csig.vectorized import VectorizedHop
from tb.csig import traffic
from tb.csig.replay import Replay

traffic.LARGEST["waiting"] = 12_000
rng = np.random.default_rng(5)
config = CsigConfig(ports=4, formats=("compact",))
setup = traffic.random_setup(config, rng, "update")
trace = traffic.random_trace(config, setup, 20_000, rng)
written = traffic.random_writes(config, setup, trace, rng)
with Replay(config, setup) as hop:
    got = hop.run(trace, written)
assert got.differences(VectorizedHop(config, setup).serve(trace, written)) == {}
print([int(got.replaced[trace.signal == signal].sum()) for signal in range(8)])
"""


def test_a_fifth_signal_is_one_more_line() -> None:
    text = Path(models.csig.signals.__file__).read_text()
    changed = text.replace(END, FIFTH + END)
    assert changed != text
    child = [sys.executable, "-c", CHILD]
    done = subprocess.run(
        child, input=changed, capture_output=True, text=True, env=dict(os.environ), check=False
    )
    assert done.returncode == 0, done.stderr
    replaced = json.loads(done.stdout)
    assert all(replaced[:5]) and not any(replaced[5:])
