"""Hop: ports, latency, and software's set-up by words, in Amaranth's simulator.

The whole of it, as Verilog against the golden model: `test_hop_cocotb`; the golden model against
the issue's cases: `test_hop_model`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from amaranth.hdl import Module, Shape
from amaranth.sim import Simulator

from models.csig.agent import Entry
from models.csig.beat import COUNTERS, count_answer, count_read, table_write
from models.csig.config import PRESETS, CsigConfig
from models.csig.hop import Hop as Model
from models.csig.hop import Packet
from models.csig.port import Port
from models.csig.quantize import Wide, even
from models.csig.tables import EDGE, Write, writes
from models.csig.tag import Tag
from rtl.csig.hop import Hop
from rtl.export import export_csig
from tb.beats import packed, unpacked
from tb.csig.hop_beats import Offer, Spoken, offer_bits
from tb.csig.hop_reference import Inside, Reference

CONFIG = CsigConfig(ports=2, longest_window_ns=1000, delay_bits=10, queue_bits=12)
PORTS = [
    Port(
        id=number,
        speed_gbps=100,
        locator=5 + number,
        window_ns=200,
        source={"queue": "agent"},
        compact={"abw_c": even(0, 100), "delay": even(0, 64)},
        wide={"abw": Wide(Fraction(0), 0), "delay": Wide(Fraction(100), 2)},
    )
    for number in (0, 1)
]


@pytest.mark.parametrize("name", PRESETS)
def test_widths_of_ports(name: str) -> None:
    c = PRESETS[name]
    ports = {
        port: Shape.cast(member.shape).width for port, member in Hop(c).signature.members.items()
    }
    tag = 64 if "wide" in c.formats else 32
    assert ports.pop("s_axis_tdata") == tag + c.port_bits + 14 + 24 + 26
    assert ports.pop("m_axis_tdata") == tag + 4
    assert ports.pop("s_table_tdata") == sum(table_write(c).values())
    assert ports.pop("s_count_tdata") == max(1, c.port_bits) + 1
    assert ports.pop("m_count_tdata") == max(1, c.port_bits) + 5 * 32
    assert (ports.pop("s_time"), ports.pop("set_window_0", None)) == (32, 24 if c.native else None)
    values = 25 if len(c.formats) == 2 else 5 if "compact" in c.formats else 20
    agent = max(1, c.port_bits) + 2 + values + len(c.formats) + 32
    assert ports.pop("s_agent_tdata", None) == (agent if c.agent else None)
    use = max(1, c.port_bits) + 2 + 1 + 2 * 32
    assert ports.pop("m_agent_tdata", None) == (use if c.agent else None)
    assert all(bits == 1 for bits in ports.values())


@pytest.mark.parametrize("name", ["port-compact-agent", "port-compact", "bank-4"])
def test_the_verilogs_header_names_every_port(name: str, tmp_path: Path) -> None:
    export_csig(name, tmp_path)
    text = (tmp_path / f"csig_{name}.v").read_text()
    header = text[: text.index("\n\n")]
    ports = {"clk", "rst", *Hop(PRESETS[name]).signature.members}
    assert ports <= set(re.findall(r"\w+", header))


@pytest.mark.parametrize(
    ("formats", "sources", "latency"),
    [
        (("compact",), "native", 11),
        (("compact", "wide"), "both", 16),
        (("compact", "wide"), "agent", 5),
    ],
)
def test_latency(formats: tuple[str, ...], sources: str, latency: int) -> None:
    assert Hop(CsigConfig(formats=formats, sources=sources)).latency == latency


def tagged(format: str, t: int, s: int) -> Tag:
    return Tag(format=format, t=t, s=s, lm=77, r=1)


PACKETS = [
    Packet(0, 0, 1500, 40, 9, tagged("compact", 2, 0)),
    Packet(0, 0, 1500, 40, 9, tagged("compact", 2, 20)),  # a tie
    Packet(0, 1, 64, 900, 9, tagged("wide", 2, 7)),
    Packet(0, 0, 1500, 40, 9, tagged("compact", 2, 21)),
    Packet(0, 1, 64, 0, 9, None),
    Packet(0, 0, 64, 3, 9, tagged("compact", 6, 0)),
    Packet(0, 1, 64, 3, 9, tagged("compact", 3, 1)),
    Packet(0, 0, 64, 3, 9, tagged("wide", 0, 2**20 - 1)),
    Packet(0, 1, 64, 0, 9, tagged("wide", 3, 3)),
]


def play(
    config: CsigConfig, words: Iterable[Write], agents: Sequence[Spoken], packets: list[Packet]
) -> tuple[list[int], list[int], list[dict[str, int]]]:
    """Set up a hop, send packets, one a cycle, time standing still, and read the counters of all
    ports; return m_axis_tdata of each, the cycles in which they came, the first packet being taken
    in cycle 0, and the counters."""
    dut = Hop(config)
    top = Module()
    top.submodules.dut = dut
    answers: list[int] = []
    came: list[int] = []
    counters: list[dict[str, int]] = []

    async def bench(ctx: Any) -> None:
        ctx.set(dut.set_window_0, 200)
        ctx.set(dut.s_time, 1)
        ctx.set(dut.m_axis_tready, 1)
        for word in (*words, Write(EDGE, 0, 0, 0, 200)):
            ctx.set(dut.s_table_tdata, packed(table_write(config), vars(word)))
            ctx.set(dut.s_table_tvalid, 1)
            await ctx.tick().until(dut.s_table_tready)
        ctx.set(dut.s_table_tvalid, 0)
        for spoken in agents:
            assert spoken.entry.until_ns == spoken.lasts
            ctx.set(dut.s_agent_tdata, spoken.bits(config, spoken.lasts))
            ctx.set(dut.s_agent_tvalid, 1)
            await ctx.tick()
            ctx.set(dut.s_agent_tvalid, 0)
        waiting = [offer_bits(config, *Offer(p).aimed(config, None)) for p in packets]
        for cycle in range(len(packets) + dut.latency + 2):
            ctx.set(dut.s_axis_tvalid, bool(waiting))
            if waiting:
                ctx.set(dut.s_axis_tdata, waiting.pop(0))
                assert ctx.get(dut.s_axis_tready)
            *_, valid, data = await ctx.tick().sample(dut.m_axis_tvalid, dut.m_axis_tdata)
            if valid:
                came.append(cycle)
                answers.append(data)
        ctx.set(dut.m_count_tready, 1)
        for port in range(config.ports):
            ctx.set(dut.s_count_tdata, packed(count_read(config), {"port": port, "clear": 0}))
            ctx.set(dut.s_count_tvalid, 1)
            await ctx.tick().until(dut.s_count_tready)
            ctx.set(dut.s_count_tvalid, 0)
            data, *_ = await ctx.tick().sample(dut.m_count_tdata).until(dut.m_count_tvalid)
            counters.append(unpacked(count_answer(config), data))

    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    return answers, came, counters


def reference(config: CsigConfig, agents: Sequence[Spoken], packets: list[Packet]) -> list[int]:
    """Return the golden hop's answers as bits of m_axis_tdata."""
    model, bits = Model(config, PORTS), Reference(config, [200])
    for spoken in agents:
        model.agent.write(spoken.port, spoken.signal, spoken.entry)
    found = []
    for given in packets:
        _, number = Offer(given).aimed(config, None)
        inside = Inside(given, number, 0, 0, [None], [0], [None], [None])
        found.append(bits.tdata(inside, model.serve(replace(given, time_ns=1))))
    return found


def test_set_up_by_words_and_one_packet_a_cycle() -> None:
    words = [word for port in PORTS for word in writes(CONFIG, port)]
    agents = [Spoken(1, 3, Entry(9, None, 0, 5), 5)]
    answers, came, counters = play(CONFIG, words, agents, PACKETS)
    assert answers == reference(CONFIG, agents, PACKETS)
    latency = Hop(CONFIG).latency
    assert came == list(range(latency, latency + len(PACKETS)))
    flags = [data >> 64 for data in answers]
    assert flags == [1, 0, 1, 0, 0, 4, 1, 0, 0]
    kept = {name: [counts[name] for counts in counters] for name in ("port", *COUNTERS)}
    assert kept == {
        "port": [0, 1],
        "packets": [5, 4],
        "replaced": [1, 2],
        "stripped": [0, 0],
        "unknown": [1, 0],
        "stale": [0, 0],
    }


def test_without_set_up_all_tags_pass() -> None:
    answers, _, counters = play(CONFIG, [], [], PACKETS)
    assert answers == [Offer(given).aimed(CONFIG, None)[1] for given in PACKETS]
    assert [counts["packets"] for counts in counters] == [5, 4]


def test_a_value_of_software_that_is_too_old() -> None:
    """Time is 1; the value held until 0, then until 1."""
    words = [word for port in PORTS for word in writes(CONFIG, port)]
    given = [Packet(0, 1, 64, 0, 0, tagged("compact", 3, 1))]
    for until, flags in ((0, 8), (1, 1)):
        agents = [Spoken(1, 3, Entry(9, 9, 0, until), until)]
        answers, _, counters = play(CONFIG, words, agents, given)
        assert answers == reference(CONFIG, agents, given)
        assert [data >> 64 for data in answers] == [flags]
        assert counters[1]["stale"] == (until == 0)
