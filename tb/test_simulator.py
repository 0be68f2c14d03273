"""The simulator choice, what is said when a tool is missing, and how cocotb's verdict arrives."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rtl.toolchain import ToolError
from rtl.verilog import to_verilog
from tb import simulator, tools
from tb.simulator import CocotbError, run_cocotb
from tb.test_verilog import Counter
from tb.tools import chosen_simulator, require, require_libpython, require_version, shared_runtime

MODULE = "tb.cocotb_counter"


@pytest.fixture(scope="module")
def counter() -> str:
    return to_verilog(Counter(12), "counter")


def test_passing_module(counter: str) -> None:
    run_cocotb("counter", counter, MODULE, {"width": 12, "steps": [1, 2, 3]})


def test_failure_names_the_test(counter: str) -> None:
    with pytest.raises(CocotbError) as error:
        run_cocotb("counter", counter, MODULE, {"width": 11, "steps": [2047, 1]}, "counts")
    first = str(error.value).splitlines()[0]
    assert first.startswith(f"{MODULE}: counts failed: AssertionError: total")


def test_one_testcase_alone(counter: str) -> None:
    run_cocotb("counter", counter, MODULE, {"width": 11, "steps": [2047, 1]}, "resets")


def test_no_such_testcase(counter: str) -> None:
    with pytest.raises(CocotbError, match="no cocotb test was run|without a result"):
        run_cocotb("counter", counter, MODULE, {"width": 12, "steps": [1]}, "nothing_like_it")


def test_import_error_is_a_failure(counter: str) -> None:
    with pytest.raises(CocotbError, match="without a result|failed"):
        run_cocotb("counter", counter, "tb.no_such_module", {})


def test_waves(
    counter: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WAVES", "1")
    run_cocotb("counter", counter, MODULE, {"width": 12, "steps": [1, 2]})
    said = capsys.readouterr().out
    (line,) = [line for line in said.splitlines() if line.startswith("waveform: ")]
    assert Path(line.removeprefix("waveform: ")).stat().st_size > 0


def test_built_once(counter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_cocotb("counter", counter, MODULE, {"width": 12, "steps": [4]})

    def build(*_: object) -> None:
        raise AssertionError("built again")

    monkeypatch.setattr(simulator, "_build", build)
    run_cocotb("counter", counter, MODULE, {"width": 12, "steps": [5]})
    with pytest.raises(AssertionError, match="built again"):
        run_cocotb("counter", counter + "// other\n", MODULE, {"width": 12, "steps": [5]})


def test_verilog_that_does_not_compile(counter: str) -> None:
    broken = counter.replace("endmodule", "assign nothing = ;\nendmodule")
    with pytest.raises(ToolError, match="^building counter failed"):
        run_cocotb("counter", broken, MODULE, {})


def test_environment_is_left_alone(counter: str) -> None:
    before = dict(os.environ)
    run_cocotb("counter", counter, MODULE, {"width": 12, "steps": [6]})
    assert dict(os.environ) == before


def test_unknown_simulator(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIM", "questa")
    with pytest.raises(ToolError, match="^SIM must be one of verilator, .*, not 'questa'$"):
        chosen_simulator()


def test_missing_programs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ToolError) as error:
        require(["g++", "make", "vvp", "iverilog"])
    assert str(error.value) == (
        "g++, make, vvp, iverilog not found on the PATH; "
        "run: sudo apt-get install g++ make iverilog"
    )


def test_missing_libpython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("find_libpython.find_libpython", lambda: None)
    with pytest.raises(ToolError, match="^libpython .* run: sudo apt-get install libpython3-dev$"):
        require_libpython()


@pytest.mark.parametrize(
    ("program", "says", "version"),
    [
        ("verilator", "Verilator 5.006 2023-01-22", None),
        ("verilator", "Verilator 5.036 2025-04-27", "verilator 5.036"),
        ("iverilog", "Icarus Verilog version 10.3 (stable)", None),
        ("iverilog", "Icarus Verilog version 11.0 (stable)", "iverilog 11.0"),
    ],
)
def test_age_of_system_simulators(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, program: str, says: str, version: str | None
) -> None:
    tools.require_version.cache_clear()
    script = tmp_path / program
    script.write_text(f"#!/bin/sh\necho '{says}'\n")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    if version:
        assert require_version(program) == version
    else:
        with pytest.raises(ToolError, match=f"^{program} on the PATH is .* or later is needed"):
            require_version(program)
    tools.require_version.cache_clear()


def test_runtime_is_lent_and_kept(tmp_path: Path) -> None:
    store, first, second = tmp_path / "store", tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()
    with shared_runtime(store, first):
        (first / "verilated.o").write_text("object")
        (first / "Vtop.o").write_text("design")
    with shared_runtime(store, second):
        assert [file.name for file in second.iterdir()] == ["verilated.o"]
    assert [file.name for file in store.iterdir()] == ["verilated.o"]
