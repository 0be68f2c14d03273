"""Run a cocotb test module on generated Verilog, from pytest, with the simulator `SIM` names.

    def test_sort() -> None:
        verilog = block_verilog(Sort, config, "sort")
        run_cocotb("sort", verilog, "tb.ofan.cocotb_sort", {"config": config})

The module, which runs inside the simulator's own Python, gets the mapping back from
`bench_parameters()`. A failing cocotb test fails the pytest test under its own name.
"""

from __future__ import annotations

import base64
import fcntl
import hashlib
import os
import pickle
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from rtl.toolchain import ToolError
from tb.tools import (
    chosen_simulator,
    require,
    require_libpython,
    require_version,
    shared_runtime,
    verilator,
    verilator_environment,
)

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "cocotb"
_PARAMETERS = "NETWEAVE_BENCH"
_LOG_TAIL = 40

_VERILATOR_FLAGS = [
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "-Wno-fatal"),
    # Small pieces, so that two compilers share the work.
    *("--output-split", "5000", "--output-split-cfuncs", "500"),
    # cocotb needs the ports only; every internal signal public would cost most of the speed.
    "--no-public-flat-rw",
]
_OPTIMIZE = {"OPT_FAST": "-O1", "OPT_SLOW": "-O0", "OPT_GLOBAL": "-O2"}


class CocotbError(AssertionError):
    """A cocotb test failed, or the simulation ended before it was done."""


def bench_parameters() -> dict[str, Any]:
    """Return the mapping that `run_cocotb` was given; called by the cocotb module."""
    return pickle.loads(base64.b64decode(os.environ[_PARAMETERS]))


def waves_wanted() -> bool:
    """Whether the environment asks for a waveform: `WAVES=1`."""
    return os.environ.get("WAVES", "0") not in ("", "0")


def run_cocotb(
    name: str,
    verilog: str,
    module: str,
    parameters: Mapping[str, Any] | None = None,
    testcase: str | None = None,
) -> None:
    """Run the cocotb tests of `module` (all, or `testcase`) on the top module `name`.

    The model is built under build/cocotb once for a text of Verilog, simulator and flags.
    Raises `CocotbError` naming each failing test with the end of the log, and
    `rtl.toolchain.ToolError` in one line if a tool is missing.
    """
    simulator = chosen_simulator()
    require_libpython()
    with _environment(simulator, parameters or {}):
        runner, build = _built(simulator, name, verilog)
        run = Path(tempfile.mkdtemp(prefix="run-", dir=build))
        results, log = run / "results.xml", run / "log.txt"
        # The results, or that there are none, say more than the exit code.
        with suppress(RuntimeError, SystemExit):
            runner.test(
                test_module=module,
                hdl_toplevel=name,
                hdl_toplevel_lang="verilog",
                testcase=testcase,
                build_dir=build,
                test_dir=run,
                results_xml=str(results),
                log_file=log,
                waves=waves_wanted(),
            )
        failed = _failures(results)
        _report_waves(run, build)
        if failed:
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-_LOG_TAIL:])
            raise CocotbError(f"{module}: {'; '.join(failed)}\n{tail}\n(whole log: {log})")
        if not waves_wanted():
            shutil.rmtree(run)


def _failures(results: Path) -> list[str]:
    if not results.exists():
        return ["the simulation ended without a result"]
    cases = list(ElementTree.parse(results).iter("testcase"))
    failed = []
    for case in cases:
        for problem in (*case.findall("failure"), *case.findall("error")):
            kind, text = problem.get("type", "error"), problem.get("message", "")
            failed.append(f"{case.get('name')} failed: {kind}: {text}")
    return failed if cases else ["no cocotb test was run"]


def _report_waves(run: Path, build: Path) -> None:
    for folder in (run, build):
        for file in (*folder.glob("*.vcd"), *folder.glob("*.fst")):
            print(f"waveform: {file}")


@contextmanager
def _environment(simulator: str, parameters: Mapping[str, Any]) -> Iterator[None]:
    """The process's environment as the runner, which copies it, should see it."""
    before, path = dict(os.environ), list(sys.path)
    if simulator == "icarus":
        require(["iverilog", "vvp"])
        require_version("iverilog")
        environment = dict(os.environ)
    else:
        environment = verilator_environment(simulator == "verilator-system", _OPTIMIZE)
    environment[_PARAMETERS] = base64.b64encode(pickle.dumps(dict(parameters))).decode()
    environment["WAVES"] = str(int(waves_wanted()))
    environment.pop("PYTEST_CURRENT_TEST", None)  # cocotb would end the process on a failure
    os.environ.clear()
    os.environ.update(environment)
    sys.path.insert(0, str(ROOT))
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
        sys.path[:] = path


def _built(simulator: str, name: str, verilog: str) -> tuple[Any, Path]:
    """Return (cocotb's runner, the directory where the model is built and up to date)."""
    import cocotb
    from cocotb_tools.runner import get_runner

    icarus = simulator == "icarus"
    flags = [] if icarus else _VERILATOR_FLAGS
    system = simulator == "verilator-system"
    version = require_version("iverilog") if icarus else verilator(system)[1]
    tools = "\0".join((version, cocotb.__version__, sys.prefix, *_OPTIMIZE.values()))
    build = BUILD / f"{name}-{_digest(tools, verilog, str(waves_wanted()), *flags)}"
    build.mkdir(parents=True, exist_ok=True)
    runner = get_runner("icarus" if icarus else "verilator")
    with (build / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = build / "done"
        if not done.exists():
            sources = [build / f"{name}.v"]
            sources[0].write_text(verilog)
            if not icarus:
                sources.insert(0, build / "ports.vlt")
                sources[0].write_text(_public_ports(name, verilog))
            store = BUILD / f"runtime-{_digest(tools, str(waves_wanted()))}"
            with shared_runtime(store, build):
                _build(runner, name, sources, flags, build)
            done.touch()
    return runner, build


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:20]


def _build(runner: Any, name: str, sources: list[Path], flags: list[str], build: Path) -> None:
    log = build / "build.log"
    try:
        runner.build(
            sources=sources,
            hdl_toplevel=name,
            build_args=flags,
            build_dir=build,
            always=True,
            timescale=("1ns", "1ps"),
            waves=waves_wanted(),
            log_file=log,
        )
    except (RuntimeError, SystemExit) as error:
        tail = "\n".join(log.read_text(errors="replace").splitlines()[-_LOG_TAIL:])
        raise ToolError(f"building {name} failed: {error}\n{tail}") from None


def _public_ports(name: str, verilog: str) -> str:
    """Return the Verilator control file that makes the ports of module `name` visible."""
    header = re.search(rf"^module {name} ?\(([^)]*)\);", verilog, re.MULTILINE)
    if header is None:
        raise ValueError(f"no module {name!r} in the Verilog")
    ports = [port.strip() for port in header[1].split(",")]
    lines = [f'public_flat_rw -module "{name}" -var "{port}"' for port in ports if port]
    return "\n".join(("`verilator_config", *lines, ""))
