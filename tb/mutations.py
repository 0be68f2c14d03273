"""Breaks the hardware on purpose, one line at a time, and sees that a test fails each time.

`python -m tb.mutations [--only NAME] [--jobs N]` applies each entry of `tb.mutants` in a copy of
the sources below build/, runs its test there and prints a table; the exit code is 1 if a fault
survives.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table

from rtl.verilog import BUILD
from tb.mutants import MUTANTS, Mutant

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("cli", "models", "rtl", "synth", "tb", "netweave.py", "pyproject.toml")
LONGEST = 300
"""Seconds after which a test counts as failed: some faults make hardware wait for ever."""

# A change that is no hardware any more proves nothing about the test that stumbles over it.
_BROKEN = re.compile(
    r"^E +(?:\w+\.)*((?:Name|Type|Attribute|Syntax|Import|Index|Key)Error.*)", re.M
)
_REASON = re.compile(r"^E +(\S.*)", re.M)


@dataclass(frozen=True)
class Outcome:
    """What came of a fault: `status` is caught, survived or invalid; `said` is the test's word."""

    mutant: Mutant
    status: str
    seconds: float
    said: str


def apply(mutant: Mutant, root: Path) -> None:
    """Make the change in the tree `root`; raises `ValueError` if its text is not there once."""
    path = root / mutant.file
    text = path.read_text()
    if text.count(mutant.old) != 1:
        raise ValueError(
            f"{mutant.name}: {mutant.file} must have {mutant.old!r} once, not "
            f"{text.count(mutant.old)} times"
        )
    path.write_text(text.replace(mutant.old, mutant.new))


def try_out(mutant: Mutant) -> Outcome:
    """Run the fault's test against it, in a copy of the sources."""
    begun = time.monotonic()
    (BUILD / "mutations").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=BUILD / "mutations", prefix=f"{mutant.name}-") as folder:
        for name in SOURCES:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(
                    source, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy(source, folder)
        apply(mutant, Path(folder))
        code, text = _pytest(mutant.test, Path(folder))
    broken, reason = _BROKEN.search(text), _REASON.search(text)
    said = reason[1] if reason else (text.strip().splitlines() or ["no output"])[-1]
    if code not in (0, 1) or broken:
        status, said = "invalid", broken[1] if broken else said
    else:
        status = "caught" if code else "survived"
    return Outcome(mutant, status, time.monotonic() - begun, said)


def _pytest(test: str, folder: Path) -> tuple[int, str]:
    """Run one test in `folder`; return pytest's code (1 also when it takes too long) and output."""
    environment = {name: text for name, text in os.environ.items() if "PYTEST" not in name}
    environment |= {
        "NETWEAVE_MUTATION": "1",
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", test]
    running = subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        text = running.communicate(timeout=LONGEST)[0]
        return running.returncode, text
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
        running.communicate()
        return 1, f"no end after {LONGEST} s"


def main(arguments: list[str] | None = None) -> int:
    """Try the faults and print what came of them; return 0 if all were caught."""
    parser = argparse.ArgumentParser(prog="python -m tb.mutations", description=__doc__)
    parser.add_argument("--only", metavar="NAME", help="faults whose name starts so")
    parser.add_argument("--jobs", type=int, default=1, help="tests at a time (default 1)")
    options = parser.parse_args(arguments)
    chosen = [mutant for mutant in MUTANTS if mutant.name.startswith(options.only or "")]
    if not chosen:
        parser.error(f"--only must be the start of a fault's name, not {options.only!r}")
    table = Table("fault", "outcome", "s", "test", "said")
    with ThreadPoolExecutor(options.jobs) as pool:
        tried = pool.map(try_out, chosen)
        outcomes = list(track(tried, "trying faults", total=len(chosen)))
    for outcome in outcomes:
        table.add_row(
            outcome.mutant.name,
            outcome.status,
            f"{outcome.seconds:.1f}",
            outcome.mutant.test,
            outcome.said[:60],
        )
    caught = sum(outcome.status == "caught" for outcome in outcomes)
    Console().print(table)
    print(f"{caught} of {len(outcomes)} caught")
    return int(caught < len(outcomes))


if __name__ == "__main__":
    sys.exit(main())
