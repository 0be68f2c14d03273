"""The prover itself: what is wrong is disproved, in the first cycle in which it shows."""

from __future__ import annotations

import pytest
from amaranth.hdl import Signal

from tb.formal.bench import Bench
from tb.formal.prove import Disproved, prove, read_vcd, table

pytestmark = pytest.mark.formal


def counting() -> Bench:
    """A counter that is 5 in cycle 6 first: cycle 0 is the reset, so it is 0 in cycle 1."""
    bench = Bench()
    count = Signal(4, name="count_register")
    bench.m.d.sync += count.eq(count + 1)
    bench.check("never_5", bench.see("count", count) != 5)
    return bench


def test_depth_is_the_number_of_cycles_looked_at() -> None:
    prove(counting(), "counter-6", depth=6, induction=False)
    with pytest.raises(Disproved, match="counter-7: a counterexample is") as found:
        prove(counting(), "counter-7", depth=7, induction=False)
    rows = {line.split()[0]: line.split()[1:] for line in str(found.value).splitlines()[1:]}
    assert rows["cycle"] == ["0", "1", "2", "3", "4", "5", "6"]
    assert rows["count"][1:] == ["0", "1", "2", "3", "4", "5"]
    assert rows["rst"] == ["1", "0", "0", "0", "0", "0", "0"]
    assert rows["check_never_5"] == ["1"] * 6 + ["FAILS"]


def test_induction_finds_the_same() -> None:
    with pytest.raises(Disproved, match="counter-induction: a counterexample is") as found:
        prove(counting(), "counter-induction", depth=9)
    assert str(found.value).splitlines()[1].split()[-1] == "6"


def test_failed_induction_is_no_proof() -> None:
    """True in every run, where the value stays 0; not from 1, which never comes."""
    bench = Bench()
    value = Signal(4, name="value_register")
    bench.m.d.sync += value.eq(value + value)
    bench.check("not_4", bench.see("value", value) != 4)
    with pytest.raises(Disproved, match="the induction step fails from"):
        prove(bench, "counter-step", depth=2)


@pytest.mark.parametrize("register", [False, True])
def test_a_wrong_claim_is_disproved_with_and_without_registers(register: bool) -> None:
    bench = Bench()
    value = bench.free(4, "value")
    bench.check("not_5", (bench.past(value, "value") if register else value) != 5)
    with pytest.raises(Disproved, match=r"check_not_5 .*FAILS"):
        prove(bench, "claim", depth=3, induction=False)


def test_registers_power_up_with_any_value() -> None:
    bench = Bench()
    value = Signal(4, name="value_register", reset_less=True)
    bench.m.d.sync += value.eq(value)
    bench.check("zero", bench.see("value", value) == 0)
    with pytest.raises(Disproved, match=r"check_zero .*FAILS"):
        prove(bench, "power-up", depth=2, induction=False)


def test_table_of_a_waveform() -> None:
    text = """$scope module top $end
$var wire 1 n0 clk $end
$var wire 8 n1 \\bus $end
$var wire 1 n2 check_bus $end
$scope module inner $end
$var wire 1 n3 hidden $end
$upscope $end
$upscope $end
$enddefinitions $end
#0
1n0
b00011111 n1
1n2
#5
0n0
#10
1n0
bxxxx0000 n1
0n2
#15
"""
    assert read_vcd(text) == {
        "clk": ["1", "1"],
        "bus": ["1f", "x"],
        "check_bus": ["1", "0"],
    }
    assert table(text, ["check_bus", "bus"]).splitlines() == [
        "cycle      0     1",
        "bus       1f     x",
        "check_bus  1 FAILS",
    ]
