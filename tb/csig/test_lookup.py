"""Lookup: what a port wants of a tag, hardware against `models.csig.lookup`."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from models.csig.agent import AgentTable, Entry, Use
from models.csig.beat import agent_write, timed
from models.csig.config import CsigConfig
from models.csig.lookup import look_up
from models.csig.port import Port
from models.csig.quantize import Wide, even
from models.csig.signals import SIGNALS
from models.csig.tables import record
from models.csig.tag import Tag, width
from rtl.csig.lookup import Lookup
from tb.bench import ANY, CLOCK, bits_of
from tb.csig.blocks import Beat, beats, configs, held
from tb.csig.hop_beats import use_fits

LATEST = 1 << 20


def drawn_port(config: CsigConfig, number: int, rng: random.Random) -> Port:
    names = [signal.name for signal in SIGNALS]
    some = lambda: [name for name in names if rng.random() < 0.6]  # noqa: E731
    origins = {"both": ("native", "agent")}.get(config.sources, (config.sources,))
    return Port(
        id=number,
        speed_gbps=10,
        locator=number,
        action=rng.choice(("pass", "strip", "update", "update", "update")),
        source={name: rng.choice(origins) for name in names},
        compact={name: even(0, 100) for name in some()},
        wide={name: Wide(0, 1) for name in some()},  # type: ignore[arg-type]
    )


def drawn_entries(config: CsigConfig, rng: random.Random) -> dict[tuple[int, int], Entry]:
    code = lambda bits: rng.choice((None, rng.getrandbits(bits)))  # noqa: E731
    return {
        (port, signal.number): Entry(code(5), code(20), 0, rng.randrange(LATEST))
        for port in range(config.ports)
        for signal in SIGNALS
        if rng.random() < 0.8
    }


def tag_of(config: CsigConfig, beat: Beat) -> Tag | None:
    """Return a tag that asks what a beat does."""
    if not beat["tagged"]:
        return None
    format = "wide" if beat["wide"] else "compact"
    d = beat["discarded"] if width(format, config.layout, "d") else 0
    t = beat["signal"] if beat["known"] else 5
    return Tag(format=format, layout=config.layout, t=t, s=0, lm=0, d=d)


def set_up(dut: Lookup, ports: list[Port], entries: dict[tuple[int, int], Entry]) -> Any:
    """Return the block under a module that writes records and agents' entries after a reset."""
    c = dut.config
    made: Any = Module()
    made.submodules.dut = dut
    words = [(port.id, record(port)) for port in ports]
    count = Signal(range(max(len(words), len(entries)) + 2))
    with made.If(count != max(len(words), len(entries)) + 1):
        made.d.sync += count.eq(count + 1)
    with made.Switch(count):
        for place in range(max(len(words), len(entries))):
            with made.Case(place):
                if place < len(words):
                    number, word = words[place]
                    made.d.comb += [
                        dut.record_write.eq(1),
                        dut.record_port.eq(number),
                        dut.record.as_value().eq(word),
                    ]
                if c.agent and place < len(entries):
                    (port, signal), entry = list(entries.items())[place]
                    made.d.comb += [dut.agent_write.eq(1), dut.agent.port.eq(port)]
                    made.d.comb += [dut.agent.signal.eq(signal), dut.agent.until.eq(entry.until_ns)]
                    for format in c.formats:
                        value = getattr(entry, format)
                        made.d.comb += [
                            dut.agent[f"{format}_there"].eq(value is not None),
                            dut.agent[f"{format}_value"].eq(value or 0),
                        ]
    made.latency, made.o = dut.latency, dut.o
    return made


@settings(max_examples=25, deadline=None)
@given(config=configs(), missing=st.booleans(), seed=st.integers(0, 2**16))
def test_hardware(config: CsigConfig, missing: bool, seed: int) -> None:
    rng = random.Random(seed)
    ports = [drawn_port(config, n, rng) for n in range(config.ports)]
    if missing:
        ports.pop(rng.randrange(len(ports)))
    entries = drawn_entries(config, rng)
    by_number = {port.id: port for port in ports}
    agents = AgentTable()
    for (port, signal), entry in entries.items():
        agents.write(port, signal, entry)
    bank = rng.getrandbits(config.ports)

    def judge(beat: Beat) -> dict[str, Any]:
        tag = tag_of(config, beat)
        found = look_up(config, by_number.get(beat["port"]), agents, tag, beat.get("time", 0))
        flags = {name: getattr(found, name) for name in ("update", "stripped", "unknown", "stale")}
        answer: dict[str, Any] = {**flags, "bank": bank >> beat["port"] & 1}
        if found.update:
            written = ANY if found.written is None else found.written
            return {**answer, "by_agent": found.by_agent, "written": written}
        return {**answer, "by_agent": ANY, "written": ANY}

    traffic = []
    for count in (80, 120):
        made = beats(config, timed(config), count, seed + count)
        for beat in made:
            if len(config.formats) == 1:
                beat["wide"] = int(config.formats[0] == "wide")
            if not width("wide" if beat["wide"] else "compact", config.layout, "d"):
                beat["discarded"] = 0
            if "time" in beat:
                beat["time"] %= LATEST
        traffic.append(made)
    dut = Lookup(config)
    wait = max(config.ports, len(entries)) + 4
    inputs = [(dut.bank, bank)] if config.native else []
    held(
        set_up(dut, ports, entries),
        lambda: judge,
        *traffic,
        seed=seed,
        wait=wait,
        ports=dut,
        inputs=inputs,
    )


@pytest.mark.parametrize("sources", ["agent", "both"])
def test_a_use_is_shown_in_the_cycle_in_which_the_packet_comes_to_the_output(sources: str) -> None:
    """Once each, whether or not it leaves in that cycle; whose, and how long the value holds."""
    config = CsigConfig(ports=3, sources=sources, layout="uec")
    rng = random.Random(3)
    ports = {n: drawn_port(config, n, rng) for n in range(config.ports)}
    entries = drawn_entries(config, rng)
    agents = AgentTable()
    for address, entry in entries.items():
        agents.write(*address, entry)
    dut = Lookup(config)
    made = beats(config, timed(config), 300, 8)
    shown_uses: list[Use] = []

    async def bench(ctx: Any) -> None:
        await ctx.tick().repeat(len(entries) + 4)
        due: Use | None = None
        for beat in made:
            beat["time"] %= LATEST
            ctx.set(dut.i.payload.as_value(), bits_of(dut.i.payload, beat))
            offered = taken = False
            while not (offered and taken):
                offered = rng.random() < 0.8
                ctx.set(dut.i.valid, offered)
                ctx.set(dut.o.ready, rng.random() < 0.6)
                _, _, taken, used, use = await ctx.tick().sample(dut.i.ready, dut.used, dut.use)
                assert used == (due is not None)
                if due:
                    assert use_fits(due, {name: use[name] for name in use.shape().members})
                    shown_uses.append(due)
                due = None
            tag = tag_of(config, beat)
            if look_up(config, ports[beat["port"]], agents, tag, beat["time"]).by_agent:
                due = agents.use(beat["port"], beat["signal"], beat["time"])

    simulator = Simulator(set_up(dut, list(ports.values()), entries))
    simulator.add_clock(CLOCK)
    simulator.add_testbench(bench)
    simulator.run()
    left = [use.left_ns for use in shown_uses]
    assert None in left
    assert any(ns is not None and ns < 0 for ns in left)
    assert any(ns is not None and ns >= 0 for ns in left)


def test_an_agent_writes_both_formats_or_one() -> None:
    config = CsigConfig()
    assert {"compact_value", "wide_value", "until"} <= set(agent_write(config))
    agents = AgentTable()
    agents.write(0, 1, Entry(3, None, 0, 100))
    port = Port(id=0, speed_gbps=1, locator=0, source="agent")
    choices = [
        look_up(config, port, agents, Tag(format=format, t=1, s=0, lm=0), time)
        for format, time in (("compact", 100), ("wide", 100), ("compact", 101))
    ]
    assert [(c.update, c.written, c.stale) for c in choices] == [
        (True, 3, False),
        (False, None, False),
        (False, None, True),
    ]


@pytest.mark.parametrize("source", ["native", "agent"])
def test_a_source_that_hardware_lacks_is_an_error(source: str) -> None:
    from models.csig.port import check_ports

    config = CsigConfig(sources="agent" if source == "native" else "native")
    with pytest.raises(ValueError, match=f"source must be {config.sources}, not '{source}'"):
        check_ports(config, [Port(id=0, speed_gbps=1, locator=0, source=source)])
