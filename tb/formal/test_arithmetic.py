"""Proofs of the combinational pieces, for all inputs, against what they are said to be."""

from __future__ import annotations

import pytest
from amaranth.hdl import Array, Const, Module, Mux, Signal

from models.ofan.config import OfanConfig
from models.ofan.order import pi
from rtl.common.modulo import modulo
from rtl.common.select import Rank, Select
from rtl.ofan.order import Positions, Uplink
from tb.formal.bench import Bench
from tb.formal.naive import below, total
from tb.formal.prove import prove

pytestmark = pytest.mark.formal

WIDTHS = range(1, 9)


def test_rank_and_select() -> None:
    bench = Bench()
    for w in WIDTHS:
        rank, select = Rank(w), Select(w)
        bench.m.submodules[f"rank{w}"], bench.m.submodules[f"select{w}"] = rank, select
        mask = bench.free(w, f"mask{w}")
        position = bench.free(range(w), f"position{w}")
        index = bench.free(range(w), f"index{w}")
        bench.assume(position < w)
        bench.m.d.comb += [
            rank.mask.eq(mask), rank.position.eq(position),
            select.mask.eq(mask), select.index.eq(index),
        ]  # fmt: skip
        bench.check(f"rank{w}", rank.count == below(mask, position))
        found = mask.bit_select(select.position, 1) & (select.position < w)
        found &= below(mask, select.position) == index
        bench.check(f"select{w}", (index >= total(list(mask))) | found)
    prove(bench, "rank-select", depth=2, induction=False)


def test_modulo() -> None:
    bench = Bench()
    for w in WIDTHS:
        value = bench.free(range(5 * w), f"value{w}")
        modulus = bench.free(range(w + 1), f"modulus{w}")
        bench.assume((value < 5 * w) & (modulus > 0) & (modulus <= w))
        fixed = modulo(bench.m, value, w, bound=5 * w, least=w, name=f"fixed{w}")
        bench.check(f"fixed{w}", fixed == Mux(value < w, value, value % w))
        varied = modulo(bench.m, value, modulus, bound=5 * w, least=1, name=f"varied{w}")
        bench.check(f"varied{w}", varied == value % modulus)
        once = modulo(bench.m, value, modulus, bound=5 * w, least=1, once=True, name=f"once{w}")
        bench.check(f"once{w}", (value >= 2 * modulus) | (once == value % modulus))
    prove(bench, "modulo", depth=2, induction=False)


@pytest.mark.parametrize("w", [4, 6])
def test_pi_is_a_permutation_and_positions_its_inverse(w: int) -> None:
    config = OfanConfig(lanes=1, uplinks=w, destinations=16 * w + 1)
    bench = Bench()
    m: Module = bench.m
    key = bench.free(config.key_bits, "key")
    bench.assume(key < config.keys)
    first, second = (bench.free(config.uplink_bits, name) for name in ("first", "second"))
    bench.assume((first < w) & (second < w))
    for name, position in (("pi_first", first), ("pi_second", second)):
        m.submodules[name] = uplink = Uplink(config)
        m.d.comb += [uplink.key.eq(key), uplink.position.eq(position)]
    one, two = m.submodules.pi_first.uplink, m.submodules.pi_second.uplink
    bench.check("an_uplink", one < w)
    bench.check("one_to_one", (first == second) | (one != two))
    assert config.order is not None
    table = Array(
        Array(Const(pi(config.order, w, k, i), config.uplink_bits) for i in range(w))
        for k in range(config.keys)
    )
    equation = Signal(config.uplink_bits)
    m.d.comb += equation.eq(table[key][first])
    bench.check("equation_18", one == equation)
    m.submodules.positions = positions = Positions(config)
    uplinks = bench.free(w, "uplinks")
    m.d.comb += [positions.key.eq(key), positions.uplinks.eq(uplinks)]
    led = positions.positions.bit_select(first, 1)
    bench.check("positions", led == uplinks.bit_select(one, 1))
    prove(bench, f"pi-{w}", depth=2, induction=False)
