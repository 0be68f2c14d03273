"""Engines that a process takes from the disk do not mix up their functions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
RUN = """
import sys
from models.fabric import engine, reference
from models.fabric.config import FabricConfig
from models.fabric.result import differences
from models.fabric.traffic import permutation

MIXED = {"scheme": "ar", "mix": "edges", "mix_scheme": "pofan4"}
for name in sys.argv[1:]:
    config = FabricConfig(radix=8, **({"scheme": name} if name != "mix" else MIXED))
    flows = permutation(config, 0, 8)
    print(differences(engine.simulate(config, flows), reference.simulate(config, flows)))
"""


def test_a_mix_and_its_second_scheme_in_one_process() -> None:
    """Two processes make an engine each if it is not kept yet, and a third one loads both."""
    for names in (["mix"], ["pofan4"], ["mix", "pofan4"]):
        words = [sys.executable, "-c", RUN, *names]
        done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
        assert done.stdout.split() == ["[]"] * len(names)
