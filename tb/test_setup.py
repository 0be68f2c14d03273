"""What setup.sh says on a machine that lacks what only Debian has."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = Path(__file__).parents[1] / "setup.sh"
PROGRAMS = ("g++", "make", "perl", "git")


def run_setup(tmp_path: Path, *programs: str) -> subprocess.CompletedProcess[str]:
    """Run setup.sh where the PATH has `programs` (which succeed at everything) and no others."""
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "dirname").symlink_to(str(shutil.which("dirname")))
    for program in programs:
        (folder / program).write_text("#!/bin/sh\nexit 0\n")
        (folder / program).chmod(0o755)
    return subprocess.run(
        [SETUP, "base"],
        env={"PATH": str(folder), "PYTHON": os.environ.get("PYTHON", "no-such-python")},
        capture_output=True,
        text=True,
        check=False,
    )


def test_everything_that_is_missing_is_named_in_one_line(tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("PYTHON", raising=False)
    done = run_setup(tmp_path)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr == (
        "netweave: missing: python3 >= 3.11 with venv and libpython, g++, make, perl, git. "
        "Install with: apt-get install "
        "python3 python3-venv libpython3-dev g++ make perl git\n"
    )


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_missing_program_is_named_alone(tmp_path, monkeypatch, program: str) -> None:
    monkeypatch.setenv("PYTHON", sys.executable)
    others = [other for other in PROGRAMS if other != program]
    done = run_setup(tmp_path, *others)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"netweave: missing: {program}. Install with: apt-get install {program}\n"
