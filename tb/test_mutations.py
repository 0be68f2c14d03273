"""The mutation list holds, and the faults that stand for each file of the hardware are caught."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tb.mutants import MUTANTS, Mutant
from tb.mutations import ROOT, apply, main, try_out

FIRST_OF_EACH_FILE = {mutant.file: mutant for mutant in reversed(MUTANTS)}.values()
"""What CI tries; `python -m tb.mutations` tries all."""


def test_there_is_a_fault_for_each_file_of_the_hardware() -> None:
    files = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("rtl/*/*.py")}
    assert {mutant.file for mutant in MUTANTS} == {f for f in files if "__init__" not in f}
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_text_stands_once(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    assert mutant.old != mutant.new


def test_every_test_exists() -> None:
    files = sorted({mutant.test.partition("::")[0] for mutant in MUTANTS})
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run([*command, *files], cwd=ROOT, capture_output=True, text=True, check=False)
    there = {line for line in done.stdout.splitlines() if "::" in line}
    assert {mutant.test for mutant in MUTANTS} <= there, done.stdout[-1000:]


def test_a_change_that_does_not_fit_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\nx = 1\n")
    with pytest.raises(ValueError, match="m: a.py must have 'x = 1' once, not 2 times"):
        apply(Mutant("m", "a.py", "x = 1", "x = 2", "t"), tmp_path)


def test_unknown_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["--only", "nonsense"])
    assert "--only must be the start of a fault's name, not 'nonsense'" in capsys.readouterr().err


@pytest.mark.parametrize("mutant", FIRST_OF_EACH_FILE, ids=lambda mutant: mutant.name)
def test_fault_is_caught(mutant: Mutant) -> None:
    outcome = try_out(mutant)
    assert outcome.status == "caught", outcome.said


def test_no_fault_is_not_caught() -> None:
    """The same run without a change passes: it is the change that the tests fail on."""
    outcome = try_out(Mutant("none", "rtl/common/modulo.py", "while shift:", "while shift:",
                             "tb/formal/test_arithmetic.py::test_modulo"))  # fmt: skip
    assert outcome.status == "survived"


def test_a_change_that_is_no_hardware_is_not_caught() -> None:
    outcome = try_out(Mutant("broken", "rtl/common/modulo.py", "while shift:", "while shifted:",
                             "tb/formal/test_arithmetic.py::test_modulo"))  # fmt: skip
    assert outcome.status == "invalid"
    assert "NameError" in outcome.said
