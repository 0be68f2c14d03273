"""Quantize: measures to codes through tables that change in mid-traffic, hardware against
`models.csig.tables`."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from models.csig.beat import measured, table_write
from models.csig.config import CsigConfig
from models.csig.port import Port
from models.csig.quantize import Compact, Wide
from models.csig.signals import SIGNALS
from models.csig.tables import SWAP, Write, search, threshold, tree, writes
from rtl.csig.quantize import AHEAD, Quantize
from tb.bench import bits_of
from tb.csig.blocks import Beat, beats, configs


def drawn(rng: random.Random, number: int) -> Port:
    """Return a port with random quantizers for all signals."""
    compact, wide = {}, {}
    for signal in SIGNALS:
        count = rng.randrange(1, 33)
        bounds = sorted(rng.sample(range(1, 5000), count - 1))
        codes = sorted(rng.randrange(32) for _ in range(count))
        compact[signal.name] = Compact(tuple(Fraction(bound, 7) for bound in bounds), tuple(codes))
        wide[signal.name] = Wide(Fraction(rng.randrange(50)), rng.randrange(4))
    return Port(id=number, speed_gbps=10, locator=1, window_ns=100, compact=compact, wide=wide)


def code(config: CsigConfig, port: Port, beat: Beat) -> int:
    """Return the code of a beat's measure, as hardware makes it."""
    signal, bits = SIGNALS[beat["signal"]], config.measure_bits
    is_wide = config.formats[0] == "wide" if len(config.formats) == 1 else beat["wide"]
    if is_wide:
        return port.wide[signal.name].code(port.value(signal, beat["measure"]))
    quantizer = port.compact[signal.name]
    words = [threshold(port, signal, bound, bits) for bound in quantizer.bounds]
    return quantizer.codes[search(tree(words, 1 << bits), beat["measure"])]


@settings(max_examples=8, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_tables_are_swapped_as_a_whole(config: CsigConfig, seed: int) -> None:
    """Table after table is written while packets flow. Each packet is coded by the tables that
    were valid when its bank was read, `AHEAD` registers before the block."""
    rng = random.Random(seed)
    dut = Quantize(config)
    top = Module()
    top.submodules.dut = dut
    # The bank travels from where it is read, through registers that move with the block.
    stages: list[Any] = [
        Signal(len(dut.i.payload.as_value()) + 1, name=f"s{n}") for n in range(AHEAD)
    ]
    into = Signal(len(dut.i.payload.as_value()) + 1)
    ready = Signal()
    with top.If(dut.i.ready):
        for before, stage in zip([into, *stages], stages, strict=False):
            top.d.sync += stage.eq(before)
    top.d.comb += [
        ready.eq(dut.i.ready),
        dut.i.payload.as_value().eq(stages[-1][:-1]),
        dut.i.valid.eq(stages[-1][-1]),
    ]

    valid = {n: drawn(rng, n) for n in range(config.ports)}
    queue: list[tuple[Write, Port]] = []
    for _ in range(2):
        for n in range(config.ports):
            port = valid[n] if not queue else drawn(rng, n)
            queue += [(w, port) for w in writes(config, port) if w.kind <= SWAP]
    first_tables = config.ports
    ports: dict[int, Port] = {}
    expected: list[int] = []
    seen: list[int] = []

    async def bench(ctx: Any) -> None:
        pending = list(queue)
        made = beats(config, measured(config), 150, seed)
        loaded = 0
        for _ in range(4000):
            if not made and len(seen) == len(expected):
                return
            if pending:
                word = pending[0][0]
                ctx.set(dut.write.payload.as_value(), bits_of(dut.write.payload, vars(word)))
            ctx.set(dut.write.valid, bool(pending))
            ctx.set(dut.o.ready, rng.random() < 0.8)
            may = loaded >= first_tables and bool(made) and rng.random() < 0.7
            if may:
                beat = made[0]
                if config.native:
                    beat["bank"] = ctx.get(dut.bank) >> beat["port"] & 1
                    beat["measure"] %= 1 << rng.randrange(1, config.measure_bits + 1)
                ctx.set(into, bits_of(dut.i.payload, beat) | 1 << len(into) - 1)
            else:
                ctx.set(into, 0)
            sampled = (dut.write.ready, ready, dut.o.valid, dut.o.ready, dut.o.p.code, dut.o.p.wide)
            _, _, written, taken, out, out_ready, got, _ = await ctx.tick().sample(*sampled)
            if may and taken:
                beat = made.pop(0)
                by_agent = config.agent and beat.get("by_agent", True)
                port = ports[beat["port"]]
                expected.append(beat["written"] if by_agent else code(config, port, beat))
            if pending and written:
                word, port = pending.pop(0)
                if word.kind == SWAP:
                    ports[word.port] = port
                    loaded += 1
            if out and out_ready:
                seen.append(got)

    simulator = Simulator(top)
    simulator.add_clock(1e-9)
    simulator.add_testbench(bench)
    simulator.run()
    assert len(seen) == 150
    assert seen == expected


def test_write_words_fit_their_fields() -> None:
    config = CsigConfig(ports=8)
    rng = random.Random(1)
    fields = table_write(config)
    for word in writes(config, drawn(rng, 7), clock=0):
        for name, bits in fields.items():
            assert 0 <= getattr(word, name) < 1 << bits, (word, name)
