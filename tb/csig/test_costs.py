"""The cost of CSIG: parts add up, nothing is left out unseen, targets are met."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from typing import Any

import pytest
from amaranth.back import rtlil
from amaranth.hdl import Module, Signal

import rtl.csig.replace
from models.common.check import bits_for
from models.csig.beat import COUNTER_BITS, COUNTERS, tag_bits
from models.csig.config import PRESETS, CsigConfig, preset
from netweave import main
from rtl.csig.hop import Hop
from rtl.toolchain import yosys_engine
from synth.claims_csig import (
    MOST_GATES,
    MOST_IN_A_STAGE,
    MTU,
    csig_claims,
    overhead,
    packets_a_cycle,
)
from synth.csig import UNIT, blocks, in_one_piece, memories, price_hop, price_preset
from synth.ge import GATES, Cost, price
from synth.measured import CSIG, CSIG_UNIT, GROWTH, HOP_BLOCK, PIECES, Numbers, committed
from synth.parts import TOTAL
from synth.records import COMMITTED, read_records, versions
from synth.yosys import map_to_gates


def test_the_parts_add_up_to_the_whole() -> None:
    """Mapped in one piece, the hop loses what no block behind uses; paths run through blocks."""
    config = preset("port-compact")
    *rows, total = price_hop(config)
    assert total.part == TOTAL
    assert total.cost == sum((row.cost for row in rows), Cost())
    whole = in_one_piece(config)
    assert 0.97 < total.cost.logic / whole.logic < 1.08
    assert 1 <= total.cost.flops / whole.flops < 1.08
    assert total.cost.depth <= whole.depth <= MOST_IN_A_STAGE
    assert {row.part for row in rows} >= {*UNIT, "tally", "tag queue", "read tag", "write tag"}


@pytest.mark.parametrize("name", ["port-compact", "port-wide-agent", "port", "bank-4", "bank-64"])
def test_memory_is_what_the_hardware_has(name: str) -> None:
    """Bits by arithmetic against the memories in the hop's RTLIL."""
    c = preset(name)
    rows, sets = max(2, c.ports), c.ports * 4 * 2  # four signals, two sets
    native = 31 if "wide" in c.formats else 15
    words = native if c.native else 7  # of the tags' queue
    bits = {
        "records": rows * (16 + 2 + 3 * 4),
        "locators": rows * c.locator_bits,
        "counters": rows * len(COUNTERS) * (COUNTER_BITS + 1),
        "storage": words * (tag_bits(c) + 1),
    }
    if c.native:
        bits["capacities"] = rows * c.available_bits
        if c.ports > 1:
            bits["windows"] = rows * 2 * c.available_bits
        if "compact" in c.formats:
            word = c.measure_bits + 1
            bits |= {"thresholds_0": sets * word, "codes": sets * 32 * 5}
            bits |= {f"thresholds_{n}": sets * 3 * word << n for n in (1, 3)}
        if "wide" in c.formats:
            bits["scales"] = sets * (52 + 83 + 6)
    if c.agent:
        value = sum({"compact": 5, "wide": 20}[format] + 1 for format in c.formats)
        bits["entries"] = 4 * c.ports * (value + c.time_bits)
    hop = Hop(c)
    found = memories(hop)
    assert bits_for(hop.latency + 2) == words.bit_length()
    assert found == bits
    records = read_records(COMMITTED / f"csig-{name}.json")
    assert sum(found.values()) == records_of(records)[TOTAL, "sram"]


def records_of(records: list[Any]) -> dict[tuple[str, str], float]:
    return {(r.block, r.metric): r.value for r in records}


@pytest.mark.parametrize("name", ["clock", "lookup", "meter", "quantize", "replace", "tally"])
def test_only_memories_are_left_out(name: str) -> None:
    """What Yosys leaves out of a block is what stands beside it as bits: no table of constants."""
    config = preset("bank-4")
    gates = tuple(gate for gate in GATES if gate != "NOT")
    text = rtlil.convert(blocks(config)[name], name="top", emit_src=False)
    cells = map_to_gates(text, gates, memories=False)["cells"].values()
    left = [cell["parameters"] for cell in cells if cell["type"] == "memory"]
    assert all(int(cell["WR_PORTS"], 2) for cell in left)
    bits = sorted(int(cell["WIDTH"], 2) * int(cell["SIZE"], 2) for cell in left)
    assert bits == sorted(memories(blocks(config)[name]).values())


def test_a_table_that_yosys_makes_of_a_case_is_gates() -> None:
    def table() -> Module:
        m = Module()
        with m.Switch(place):
            for n, entry in enumerate(entries):
                with m.Case(n):
                    m.d.comb += word.eq(entry)
        return m

    rng = random.Random(1)
    entries = [rng.getrandbits(16) for _ in range(64)]
    place, word = Signal(6), Signal(16)
    apart = price(table(), ports=[place, word], memories=False)
    assert apart == price(table(), ports=[place, word])
    assert apart.logic > 100


def test_the_targets() -> None:
    """The issue's bounds, for the records of the release: 5 kGE hold at 4 GE a flip-flop."""
    numbers = Numbers(committed())
    assert numbers.add(CSIG_UNIT, "total, paper", *UNIT)[0] <= MOST_GATES
    for name in PRESETS:
        assert numbers.deepest(name)[0] <= MOST_IN_A_STAGE
    for name in PIECES:
        assert numbers.add(name, "depth", HOP_BLOCK)[0] <= MOST_IN_A_STAGE
    found = {c.what: c for c in csig_claims(numbers)}
    for what, verdict in {
        "compact unit of a port, 4 GE a flip-flop": "yes",
        "compact unit of a port, 5.67 GE a flip-flop": "no, × 1.04",
        "compare-and-replace alone, compact": "yes",
        "quantizer of 32 ranges alone, compact": "yes",
        "compare-and-replace, packets of one port back to back": "yes",
    }.items():
        assert found[what].verdict == verdict, what


def test_a_hop_that_waits_is_not_at_line_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """The row can fail: with a stage that lets no packet in behind another it says a half."""
    assert packets_a_cycle() == 1
    stages = rtl.csig.replace.Stages

    def slow(m: Module, i: Any, o: Any, depth: int) -> Any:
        rests = Signal()
        m.d.sync += rests.eq(i.valid & i.ready)
        return stages(m, i, o, depth=depth, enabled=~rests)

    monkeypatch.setattr(rtl.csig.replace, "Stages", slow)
    assert packets_a_cycle() == pytest.approx(0.5, abs=0.01)


def test_the_overhead_of_a_tag() -> None:
    """Less than 0.2 % at 4 KB and 9 KB, exactly."""
    tags = {"compact": 4, "wide": 8}
    for format, size in tags.items():
        for mtu in MTU.values():
            assert overhead(format, mtu) == pytest.approx(float(100 * Fraction(size, mtu)))
            assert Fraction(size, mtu) < Fraction(2, 1000)
    goodput = {c.what: c for c in csig_claims(Numbers(committed()))}[
        "goodput that a wide tag takes at 4 KB"
    ]
    assert goodput.counted == pytest.approx(100 * 8 / 4134)


def test_ports_share_what_they_can() -> None:
    numbers = Numbers(committed())
    units = {n: numbers.add(name, "total, paper", *UNIT)[0] for n, name in GROWTH.items()}
    assert list(GROWTH) == [1, 2, 4, 8, 16, 32, 64]
    totals, shares = list(units.values()), [total / n for n, total in units.items()]
    assert totals == sorted(totals) and shares == sorted(shares, reverse=True)
    assert units[64] < 1.5 * units[1]


def test_software_s_values_need_less() -> None:
    numbers = Numbers(committed())
    for name in ("port-compact", "port-wide"):
        native, agent = (
            numbers.add(which, "total, paper", *UNIT)[0] for which in (name, f"{name}-agent")
        )
        assert agent < 0.2 * native


def test_the_committed_records_are_of_this_rtl() -> None:
    """A change of the RTL must come with new records."""
    for name in ("port-compact", "port-compact-agent"):
        kept = read_records(COMMITTED / f"csig-{name}.json")
        if (kept[0].engine, kept[0].versions) != (yosys_engine(), versions()):
            pytest.skip(f"the records were made with {kept[0].versions}")
        assert price_preset(name, preset(name)) == kept, "run: python -m synth.release"
    assert all((COMMITTED / f"csig-{name}.json").exists() for name in {**PRESETS, **CSIG})


def test_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["synth", "csig", "--preset", "port-compact", "--json"]) == 0
    records = json.loads(capsys.readouterr().out)
    assert {r["block"] for r in records} >= {*UNIT, "quantize: memory", "tag queue", TOTAL}
    assert main(["synth", "csig", "--preset", "port-compact"]) == 0
    assert "CSIG port-compact" in capsys.readouterr().out
    assert main(["synth", "csig", "--preset", "port-5"]) == 2
    assert capsys.readouterr().err.startswith("netweave: preset must be one of ")


def test_one_port_needs_no_memory_of_windows() -> None:
    assert "windows" not in memories(blocks(CsigConfig())["meter"])
