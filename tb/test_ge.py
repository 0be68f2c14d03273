"""Gate equivalents of circuits whose cost is known by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from amaranth.hdl import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from synth.ge import GATES, Cost, cost_of, logic_depth, price
from synth.memory import LARGEST_MAPPED, mapped, memory_cost, rom


def nand(m: Module) -> list[Signal]:
    a, b, y = Signal(), Signal(), Signal()
    m.d.comb += y.eq(~(a & b))
    return [a, b, y]


def full_adder(m: Module) -> list[Signal]:
    a, b, carry, total = Signal(), Signal(), Signal(), Signal(2)
    m.d.comb += total.eq(a + b + carry)
    return [a, b, carry, total]


def flop(m: Module) -> list[Signal]:
    a, q = Signal(), Signal(reset_less=True)
    m.d.sync += q.eq(a)
    return [a, q]


def counter(m: Module) -> list[Signal]:
    q = Signal(2, reset_less=True)
    m.d.sync += q.eq(q + 1)
    return [q]


def counter_with_reset(m: Module) -> list[Signal]:
    q = Signal(2)
    m.d.sync += q.eq(q + 1)
    return [q]


def enabled(bits: int) -> Callable[[Module], list[Signal]]:
    def build(m: Module) -> list[Signal]:
        a, enable, q = Signal(bits), Signal(), Signal(bits, reset_less=True)
        with m.If(enable):
            m.d.sync += q.eq(a)
        return [a, enable, q]

    return build


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (nand, Cost(logic=1, depth=1)),
        (full_adder, Cost(logic=2 * GATES["XOR"] + GATES["MUX"], depth=2)),
        (flop, Cost(flops=1)),
        (counter, Cost(logic=GATES["NOT"] + GATES["XOR"], flops=2, depth=1)),
        (enabled(1), Cost(flops=1, gating=3.0)),
        (enabled(8), Cost(flops=8, gating=4.5)),
    ],
    ids=["nand", "full adder", "flop", "2-bit counter", "1-bit enable", "8-bit enable"],
)
def test_known_circuits(build: Callable[[Module], list[Signal]], expected: Cost) -> None:
    m = Module()
    assert price(m, ports=build(m)) == expected


def test_a_synchronous_reset_is_gates() -> None:
    costs = []
    for build in (counter, counter_with_reset):
        m = Module()
        costs.append(price(m, ports=build(m)))
    assert costs[1].flops == costs[0].flops
    assert costs[1].logic > costs[0].logic


def test_totals_by_both_conventions() -> None:
    cost = Cost(logic=10, gating=4.5, flops=3, storage=7, depth=4)
    assert cost.total() == cost.total("paper") == 10 + 4.5 + 40
    assert cost.total("Nangate45") == pytest.approx(10 + 4.5 + 56.7)


def test_costs_add_up_and_multiply() -> None:
    cost = Cost(logic=1, gating=2, flops=3, storage=4, rom=5, depth=6)
    three = Cost(logic=3, gating=6, flops=9, storage=12, rom=15, depth=6)
    assert cost.times(3) == three
    assert cost + cost + cost == three
    assert (cost + Cost(depth=9)).depth == 9


class Inner(wiring.Component):
    def __init__(self) -> None:
        super().__init__({"a": In(4), "b": In(4), "y": Out(4)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.y.eq(self.a + self.b)
        return m


class Outer(wiring.Component):
    """An inverter before and behind Inner, in two instances side by side."""

    def __init__(self) -> None:
        super().__init__({"a": In(8), "b": In(8), "y": Out(8)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for lane in range(2):
            m.submodules[f"inner_{lane}"] = inner = Inner()
            part = slice(4 * lane, 4 * lane + 4)
            m.d.comb += [
                inner.a.eq(~self.a[part]),
                inner.b.eq(self.b[part]),
                self.y[part].eq(~inner.y),
            ]
        return m


def test_what_is_left_out_costs_nothing_but_depth() -> None:
    shell = price(Outer(), boxes={"inner_0": 5, "inner_1": 7})
    assert shell == Cost(logic=16 * GATES["NOT"], depth=1 + 7 + 1)
    registered = price(Outer(), boxes={"inner_0": 0, "inner_1": 0})
    assert registered.depth == 1


def test_a_box_that_is_not_there_is_named() -> None:
    with pytest.raises(ValueError, match=r"^inner_2 is no submodule of Outer$"):
        price(Outer(), boxes={"inner_0": 5, "inner_2": 5})


def module(*cells: tuple[str, str, dict[str, list[int]]]) -> dict:
    return {
        "cells": {
            name: {
                "type": kind,
                "connections": connections,
                "port_directions": {
                    port: "output" if port in "YQ" else "input" for port in connections
                },
            }
            for name, kind, connections in cells
        }
    }


def test_depth_takes_the_longest_way() -> None:
    """1 → g1 → 2 → g2 → 3, and g3 joins 1 and 3; a flip-flop ends a path and begins one."""
    found = module(
        ("g1", "$_NOT_", {"A": [1], "Y": [2]}),
        ("g2", "$_NOT_", {"A": [2], "Y": [3]}),
        ("g3", "$_AND_", {"A": [1], "B": [3], "Y": [4]}),
        ("ff", "$_DFF_P_", {"C": [0], "D": [4], "Q": [5]}),
        ("g4", "$_NOT_", {"A": [5], "Y": [6]}),
    )
    assert logic_depth(found) == 3
    assert cost_of(found) == Cost(logic=3.0, flops=1, depth=3)


def test_a_loop_is_found() -> None:
    found = module(
        ("g1", "$_AND_", {"A": [1], "B": [3], "Y": [2]}),
        ("g2", "$_NOT_", {"A": [2], "Y": [3]}),
    )
    with pytest.raises(ValueError, match="^2 gates are in or behind a combinational loop$"):
        logic_depth(found)


def test_a_cell_without_weight_is_named() -> None:
    found = module(("odd", "$_TBUF_", {"A": [1], "E": [2], "Y": [3]}))
    with pytest.raises(ValueError, match=r"^cell odd of type \$_TBUF_ has no weight"):
        cost_of(found)


def quiet(what: str) -> None:
    """Hear of progress and say nothing."""


@pytest.mark.parametrize(("reads", "writes"), [(1, 1), (3, 1), (2, 2)])
def test_the_parts_of_a_memory_add_up_to_the_whole(reads: int, writes: int) -> None:
    parts = memory_cost(16, 3, reads, writes, quiet)
    assert parts.fit is None
    whole = mapped(16, 3, reads, writes)
    total = parts.storage + parts.read + parts.write
    assert total.logic == pytest.approx(whole.logic)
    assert replace(total, logic=whole.logic) == whole
    assert parts.read.logic >= reads * 3 * 15  # each path selects one of 16 words of 3 bits


def test_a_fitted_memory_comes_with_its_errors() -> None:
    entries = 512
    assert entries * 2 * (20 + 1) > LARGEST_MAPPED
    parts = memory_cost(entries, 2, 20, 1, quiet)
    assert parts.fit is not None
    assert abs(parts.fit.held_out_error) < 0.05
    assert parts.fit.rms_error <= parts.fit.max_error < 0.1
    assert "left-out 1,024 x 2 bits" in parts.fit.text()
    one, two = (mapped(entries, 2, reads, 1).logic for reads in (1, 2))
    expected = one + 19 * (two - one)
    assert parts.read.logic + parts.write.logic == pytest.approx(expected, rel=0.05)


def test_a_constant_rom_is_nearly_free_and_a_random_one_is_not() -> None:
    assert rom([3] * 32, 2).logic == 0
    assert rom([n * 7 % 4 ^ n // 5 % 4 for n in range(32)], 2).logic > 10
    assert rom([3] * 32, 2).rom == 64
