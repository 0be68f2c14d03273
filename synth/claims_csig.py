"""CSIG's paper and its cost, beside what was counted (the seed's "Key idea" and "Evaluation").

The paper gives shares of a packet and no gates. The bounds in gates are what this house set out to
reach; `first try` is what parts came to when they were sketched before the issue was written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from amaranth.sim import Simulator

from models.csig.config import MOST_SPEED_GBPS
from models.csig.tag import FORMATS, size
from rtl.csig.hop import Hop
from synth.claim import Claim
from synth.csig import COMPARE_AND_REPLACE, UNIT
from synth.ge import FLOP_GE
from synth.measured import CSIG, CSIG_UNIT, GROWTH, HOP_BLOCK, PIECES, Numbers
from synth.parts import TOTAL

IDEA, EVALUATION = "Key idea", "Evaluation"

MTU = {"4 KB": 4096, "9 KB": 9000}
"""Bytes of a packet; 9 KB are the 9,000 of jumbo frames, 9,216 would be a little less overhead."""

AROUND_A_FRAME = 38
"""Bytes of Ethernet around an MTU: addresses and EtherType 14, FCS 4, preamble 8, gap 12."""

SMALLEST_FRAME = 64 + 8 + 12
"""Bytes of a link that the smallest frame takes."""

MOST_GATES, MOST_IN_A_STAGE = 5_000, 24
FIRST_TRY = {"compare-and-replace": 340, "quantizer": 2_600}


def csig_claims(numbers: Numbers) -> list[Claim]:
    """Return CSIG's part of the report: the paper's numbers, the targets, then what has neither."""
    return [
        *_overhead(),
        *_rate(),
        *_targets(numbers),
        *_units(numbers),
        *_growth(numbers),
        *_depths(numbers),
    ]


def _row(what: str, unit: str, counted: float, how: str, why: str = "") -> Claim:
    return Claim(where="-", what=what, unit=unit, paper=None, counted=counted, how=how, why=why)


def overhead(format: str, mtu: int) -> float:
    """Return how much a tag adds to a packet of `mtu` bytes, in percent."""
    return 100 * size(format) / mtu


def _overhead() -> Iterator[Claim]:
    for format in FORMATS:
        for name, mtu in MTU.items():
            yield Claim(
                where=IDEA,
                what=f"{format} tag on {name}",
                unit="%",
                paper=0.2,
                at_most=True,
                says="less than 0.2 %",
                counted=overhead(format, mtu),
                how="arithmetic",
            )
    worst = size("wide") / (MTU["4 KB"] + AROUND_A_FRAME)
    yield Claim(
        where=EVALUATION,
        what="goodput that a wide tag takes at 4 KB",
        unit="%",
        paper=0.1,
        at_most=True,
        says="less than 0.1 %",
        counted=100 * worst,
        how="arithmetic",
        why="Of a full link, preamble and gap counted. The paper measured it, the seed does not say"
        f" at which size; at 9 KB it is {overhead('wide', MTU['9 KB']):.3f} % at most.",
    )


def packets_a_cycle(packets: int = 200) -> float:
    """Return how many packets of one port a hop answers in a cycle from its first answer on, if one
    is offered in every cycle: simulated, time running on by 1 ns a cycle over edges of windows."""
    dut = Hop(CSIG[CSIG_UNIT])
    answers: list[int] = []

    async def bench(ctx: Any) -> None:
        for port, value in {"s_axis_tvalid": 1, "m_axis_tready": 1, "set_window_0": 100}.items():
            ctx.set(getattr(dut, port), value)
        cycle = 0
        while len(answers) < packets:
            ctx.set(dut.s_time, cycle)
            *_, answered = await ctx.tick().sample(dut.m_axis_tvalid)
            answers.extend([cycle] * answered)
            cycle += 1

    simulator = Simulator(dut)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    return (packets - 1) / (answers[-1] - answers[0])


def _rate() -> Iterator[Claim]:
    yield Claim(
        where=IDEA,
        what="compare-and-replace, packets of one port back to back",
        unit="packet a cycle",
        paper=1,
        says="at line rate",
        counted=packets_a_cycle(),
        how="simulated",
        why="What the whole hop answers, of packets offered in every cycle.",
    )
    smallest = MOST_SPEED_GBPS * 1e3 / (8 * SMALLEST_FRAME)
    yield _row(
        f"64-byte frames of {MOST_SPEED_GBPS} Gb/s",
        "M/s",
        smallest,
        "arithmetic",
        "One packet a cycle is line rate for them from that clock in MHz on, which gates do not"
        " answer; every port that shares the datapath adds its packets.",
    )


def _bound(
    where: str, what: str, most: float, found: tuple[float, str], says: str, why: str = ""
) -> Claim:
    counted, how = found
    return Claim(
        where=where,
        what=what,
        unit="gates" if most == MOST_IN_A_STAGE else "GE",
        paper=most,
        at_most=True,
        says=says,
        counted=counted,
        how=how,
        why=why,
    )


def _targets(n: Numbers) -> Iterator[Claim]:
    flops, _ = n.add(CSIG_UNIT, "flops", *UNIT)
    for convention, weight in FLOP_GE.items():
        yield _bound(
            "target",
            f"compact unit of a port, {weight:g} GE a flip-flop",
            MOST_GATES,
            n.add(CSIG_UNIT, f"total, {convention}", *UNIT),
            "at most 5 kGE",
            f"{flops:,.0f} flip-flops of pipeline and window weigh more in Nangate45.",
        )
        yield _row(
            f"the same with tag, tag queue and tally: whole hop, {weight:g} GE a flip-flop",
            "GE",
            *n.add(CSIG_UNIT, f"total, {convention}", TOTAL),
            "The unit is clock, lookup, meter, quantize and replace; a port needs the rest, too.",
        )
    depth = max(n.add(CSIG_UNIT, "depth", part)[0] for part in UNIT)
    for what, found in (
        ("compact unit: longest path of a stage", (depth, "mapped")),
        *(
            (
                f"{name} in one piece: longest path",
                n.add(name, "depth", HOP_BLOCK),
            )
            for name in PIECES
        ),
    ):
        yield _bound("target", what, MOST_IN_A_STAGE, found, "at most 24 gates")
    alone = n.add(CSIG_UNIT, "total, paper", *COMPARE_AND_REPLACE)
    first = FIRST_TRY["compare-and-replace"]
    yield _bound("first try", "compare-and-replace alone, compact", first, alone, "0.34 kGE")
    alone = n.add(CSIG_UNIT, "total, paper", "quantize")
    first = FIRST_TRY["quantizer"]
    yield _bound("first try", "quantizer of 32 ranges alone, compact", first, alone, "2.6 kGE")


def _units(n: Numbers) -> Iterator[Claim]:
    for name, what, why in (
        (CSIG_UNIT, "compact, native", ""),
        (
            "port-compact-agent",
            "compact, software-assisted",
            "No windows, meter or quantizer: values come as codes.",
        ),
        (
            "port-wide",
            "wide, native",
            "A product of 27 by 52 bits in place of a search: so many for exact codes.",
        ),
        ("port-wide-agent", "wide, software-assisted", ""),
        ("port", "both formats and sources", ""),
    ):
        yield _row(f"unit, {what}: logic", "GE", *n.add(name, "logic", *UNIT), why)
        yield _row(f"unit, {what}: total", "GE", *n.add(name, "total, paper", *UNIT))
    for part, why in (
        ("write tag", "Value and locator into the tag, combinational."),
        ("tag queue", "Tags wait there for their answers; its words are a memory."),
        ("tally", "Five counters of 32 bits a port, for the control plane to read."),
    ):
        yield _row(f"beside the unit: {part}", "GE", *n.add("port", "total, paper", part), why)
    for name in ("port-wide", "port"):
        found = n.add(name, "total, paper", TOTAL)
        yield _row(f"whole hop, preset {name}", "GE", *found)


def _growth(n: Numbers) -> Iterator[Claim]:
    for ports, name in GROWTH.items():
        total, how = n.add(name, "total, paper", *UNIT)
        what = f"{ports} port{'s' * (ports > 1)}, one datapath"
        yield _row(f"unit for {what}", "GE", total, how)
        if ports > 1:
            yield _row(f"unit for {what}: a port", "GE", total / ports, how)
    most = max(GROWTH)
    memories = n.add(GROWTH[most], "sram", *(f"{part}: memory" for part in _WITH_MEMORY))[0]
    yield _row(
        f"tables and state, {most} ports: a port",
        "bits",
        memories / most,
        "arithmetic",
        "Two sets of compact and wide tables for four signals, an agent's entries, record, window.",
    )


_WITH_MEMORY = ("lookup", "meter", "quantize", "replace")


def _depths(n: Numbers) -> Iterator[Claim]:
    for part in UNIT:
        if ":" not in part:  # what is inside of a block is in its longest path
            depth, how = n.add(GROWTH[max(GROWTH)], "depth", part)
            yield _row(f"longest path, {max(GROWTH)} ports: {part}", "gates", depth, how)
    found = {(name, part): n.add(name, "depth", part)[0] for name in CSIG for part in UNIT}
    (name, part), depth = max(found.items(), key=lambda item: item[1])
    why = f"In {part} of {name}, as ABC maps that block by itself."
    if name in PIECES:
        why += f" In the hop in one piece no path is over {n.add(name, 'depth', HOP_BLOCK)[0]:.0f}."
    yield _row("longest path, 1 to 64 ports", "gates", depth, "mapped", why)
