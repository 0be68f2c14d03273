"""Netlists against their RTL: what is equal is proved, and what was changed is found by name."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from amaranth.hdl import Elaboratable, Module, Signal, unsigned
from amaranth.lib import memory, wiring
from amaranth.lib.wiring import In, Out
from typer.testing import CliRunner

import netweave
from models.csig.config import CsigConfig
from models.ofan.config import preset
from models.symphony.config import SymphonyConfig
from rtl.csig.replace import Replace
from rtl.ofan.combine import Combine
from rtl.ofan.masks import Masks
from rtl.ofan.order import Uplink
from rtl.ofan.slots import Slots
from rtl.ofan.update import Advance, Update
from rtl.symphony.measure import Measure
from synth.equal import Proof, compare, prove_equal, prove_priced
from synth.ge import ABC_GATES, as_rtlil
from synth.ofan import price_switch
from synth.yosys import map_to_gates

K64, K12 = preset("edge-k64"), preset("edge-k12")
Netlist = dict[str, Any]


@pytest.mark.parametrize(
    ("component", "boxes"),
    [
        (Combine(K64), ()),
        (Advance(K64), ()),
        (Uplink(K64), ()),
        (Update(K12), [f"advance_{lane}" for lane in range(K12.lanes)]),
        (Masks(K12), [f"positions{lane}" for lane in range(K12.lanes)]),
        (Slots(preset("edge-k12-queued")), ()),
        (Measure(SymphonyConfig()), ()),
        (Replace(CsigConfig()), ()),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Elaboratable) else "",
)
def test_mapped_blocks_are_equal_to_their_rtl(component: Elaboratable, boxes: list[str]) -> None:
    proof = prove_equal(component, boxes=boxes, memories=False)
    assert proof.equal
    assert proof.compared > proof.registers


class Counter(wiring.Component):
    """Counts in steps of `by` where `go` is 1; `seen` goes up once and stays; words behind it."""

    def __init__(self) -> None:
        super().__init__(
            {"go": In(1), "by": In(3), "count": Out(4), "seen": Out(1), "word": Out(4)}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        start = Signal(4, init=5, reset_less=True, name="total")
        with m.If(self.go):
            m.d.sync += [start.eq(start + self.by), self.seen.eq(1)]
        m.d.comb += self.count.eq(start)
        m.submodules.words = words = memory.Memory(shape=unsigned(4), depth=4, init=[])
        read, write = words.read_port(), words.write_port()
        m.d.comb += [
            read.addr.eq(self.by),
            read.en.eq(1),
            write.addr.eq(start),
            write.data.eq(start),
            write.en.eq(self.go),
            self.word.eq(read.data),
        ]
        return m


def first(netlist: Netlist, kind: str) -> dict[str, Any]:
    return next(cell for cell in netlist["cells"].values() if cell["type"] == kind)


def another_gate(netlist: Netlist) -> None:
    cell = next(c for c in netlist["cells"].values() if c["type"] in ("$_XOR_", "$_XNOR_"))
    cell["type"] = {"$_XOR_": "$_XNOR_", "$_XNOR_": "$_XOR_"}[cell["type"]]


def no_enable(netlist: Netlist) -> None:
    flop = first(netlist, "$_DFFE_PP_")
    flop["type"] = "$_DFF_P_"
    del flop["connections"]["E"], flop["port_directions"]["E"]


def another_start(netlist: Netlist) -> None:
    for net in netlist["netnames"].values():
        if net["attributes"].get("init") == "0101":
            net["attributes"]["init"] = "0100"


def another_address(netlist: Netlist) -> None:
    cell = first(netlist, "memory")
    cell["connections"]["WR_ADDR"].reverse()


@pytest.mark.parametrize(
    ("change", "found"),
    [
        (another_gate, "count["),
        (no_enable, "count["),
        (another_start, "count[0]"),
        (another_address, "words.WR_ADDR["),
    ],
)
def test_one_change_of_a_netlist_is_found(change: Callable[[Netlist], None], found: str) -> None:
    text, _ = as_rtlil(Counter())
    netlist = map_to_gates(text, ABC_GATES, memories=False)
    proof = compare(text, netlist, memories=False)
    assert proof.equal
    assert proof.registers == 5
    changed = copy.deepcopy(netlist)
    change(changed)
    proof = compare(text, changed, memories=False)
    assert not proof.equal
    assert any(name.startswith(found) for name in proof.differs)


def test_memories_that_are_mapped_are_compared_bit_by_bit() -> None:
    text, _ = as_rtlil(Counter())
    netlist = map_to_gates(text, ABC_GATES)
    proof = compare(text, netlist)
    assert proof.equal
    assert proof.registers == 5 + 4 + 4 * 4  # the read port's register, and the words


@pytest.mark.parametrize("kind", ["$_NAND_", "$_NOR_", "$_AOI3_", "$_MUX_", "$_DFFE_PP_"])
def test_no_gate_of_a_real_block_can_be_changed_unseen(kind: str) -> None:
    text, _ = as_rtlil(Combine(K12))
    netlist = map_to_gates(text, ABC_GATES, memories=False)
    cell = first(netlist, kind)
    pin = "D" if "DFF" in kind else "A"
    cell["connections"][pin] = ["1"] if cell["connections"][pin] != ["1"] else ["0"]
    assert not compare(text, netlist, memories=False).equal


def test_a_register_that_the_rtl_does_not_have_is_named() -> None:
    text, _ = as_rtlil(Counter())
    netlist = map_to_gates(text, ABC_GATES, memories=False)
    net = netlist["netnames"].pop("total")
    netlist["netnames"]["other"] = net
    for name in [n for n, v in netlist["netnames"].items() if v["bits"] == net["bits"]]:
        if name != "other":
            del netlist["netnames"][name]
    with pytest.raises(ValueError, match=r"^register other\[\d\] is not a register of the RTL$"):
        compare(text, netlist, memories=False)


def test_a_net_that_nothing_drives_is_named() -> None:
    text, _ = as_rtlil(Counter())
    netlist = map_to_gates(text, ABC_GATES, memories=False)
    first(netlist, "$_DFFE_PP_")["connections"]["D"] = [99_999]
    with pytest.raises(ValueError, match="^net 99999 of the netlist is open$"):
        compare(text, netlist, memories=False)


def test_answers_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    found = prove_equal(Uplink(K12))
    monkeypatch.setattr("synth.equal.map_to_gates", None)
    assert prove_equal(Uplink(K12)) == found == Proof(registers=0, compared=3)


def test_all_that_a_price_is_made_of_is_proved() -> None:
    config = preset("edge-k4", masks=0)
    proofs = list(prove_priced(lambda told: price_switch(config, told)))
    assert {part for part, _ in proofs} >= {"sort", "combine", "unsort", "π", "update: forwarding"}
    assert all(proof.equal for _, proof in proofs)


@pytest.mark.parametrize(("differs", "code"), [((), 0), (("count[3]",), 1)])
def test_the_command_fails_where_a_netlist_is_not_equal(
    differs: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = Proof(registers=1, compared=2, differs=differs)
    monkeypatch.setattr("synth.equal.prove_text", lambda *block: found)
    result = CliRunner().invoke(netweave.app, ["prove", "ofan", "--preset", "edge-k4"])
    assert result.exit_code == code
    assert ("no: count[3]" in result.output) == bool(differs)
