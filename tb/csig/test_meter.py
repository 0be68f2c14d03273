"""Meter: what a port has left of its windows, hardware against `models.csig.meter`."""

from __future__ import annotations

import random
from typing import Any

from amaranth.hdl import Module, Signal
from amaranth.sim import Simulator
from hypothesis import given, settings
from hypothesis import strategies as st

from models.csig.beat import chosen
from models.csig.config import CsigConfig
from models.csig.meter import Meter as Model
from models.csig.port import Port
from models.csig.signals import SIGNALS
from rtl.csig.meter import Meter, Spend
from tb.csig.blocks import Beat, beats, configs, held

WINDOWS = (100, 730, 331)


def ports_of(config: CsigConfig) -> list[Port]:
    """Slow and fast ports, with the windows of the clocks in turn."""
    return [
        Port(
            id=n,
            speed_gbps=(1, 800, 100)[n % 3],
            locator=n,
            window_ns=WINDOWS[n % config.clocks],
        )
        for n in range(config.ports)
    ]


def set_up(dut: Meter, ports: list[Port]) -> Any:
    """Return the block under a module that writes the ports' capacities after a reset."""
    made: Any = Module()
    made.submodules.dut = dut
    count = Signal(range(len(ports) + 1))
    with made.If(count != len(ports)):
        made.d.sync += count.eq(count + 1)
        made.d.comb += dut.capacity_write.eq(1)
    with made.Switch(count):
        for port in ports:
            with made.Case(port.id):
                made.d.comb += [
                    dut.capacity_port.eq(port.id),
                    dut.capacity.eq(port.capacity_bits),
                    dut.capacity_clock.eq(port.id % dut.config.clocks),
                ]
    made.latency, made.o = dut.latency, dut.o
    return made


@settings(max_examples=25, deadline=None)
@given(config=configs(), seed=st.integers(0, 2**16))
def test_hardware(config: CsigConfig, seed: int) -> None:
    ports = ports_of(config)
    rng = random.Random(seed)

    def timed(made: list[Beat], start: int) -> list[Beat]:
        """Give each packet a time, and the edges that have passed."""
        then = start
        for beat in made:
            now = then + rng.choice((0, 0, 0, 40, 99, 100, 400, 1600))
            for n, window in enumerate(WINDOWS[: config.window_clocks]):
                beat[f"passed_{n}"] = min(2, now // window - then // window)
            if config.native:
                beat["bytes"] = rng.choice((0, 8, 64, 1500, 4000))
            beat["at"] = then = now
        return made

    first = timed(beats(config, chosen(config), 60, seed), 0)
    second = timed(beats(config, chosen(config), 90, seed + 1), first[-1]["at"])
    times = {id(beat): beat.pop("at") for beat in (*first, *second)}

    def model() -> Any:
        meters = [Model(port) for port in ports]

        def judge(beat: Beat) -> dict[str, int]:
            if not config.native:
                return {}
            available = meters[beat["port"]].packet(times[id(beat)], beat["bytes"])
            about = SIGNALS[beat["signal"]].measure
            return {"measure": available if about == "available" else beat["other"]}

        return judge

    dut = Meter(config)
    held(set_up(dut, ports), model, first, second, seed=seed, wait=config.ports + 4, ports=dut)


def test_a_packet_of_more_bits_than_the_window_has() -> None:
    """The longest window of this hardware has 80,000 bits, a packet up to 524,280."""
    config = CsigConfig(longest_window_ns=100, bytes_bits=16)
    dut = Spend(config)
    packets = [(80_000, 32_768), (80_000, 65_535), (80_000, 10_001), (80_000, 10_000), (80_000, 9)]
    seen = []

    async def bench(ctx: Any) -> None:
        for left, size in packets:
            ctx.set(dut.left, left)
            ctx.set(dut.bytes, size)
            await ctx.delay(1e-9)
            seen.append(ctx.get(dut.rest))

    simulator = Simulator(dut)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == [max(0, left - 8 * size) for left, size in packets]


def test_a_packet_sees_the_window_before_its_own() -> None:
    meter = Model(Port(id=0, speed_gbps=100, locator=0))
    assert [meter.packet(t, 1000) for t in (0, 999, 1000, 1500, 2000, 4000, 5000)] == [
        100_000,  # nothing before
        100_000,
        84_000,  # two packets of 8,000 bits
        84_000,
        84_000,
        100_000,  # window 3 was idle
        92_000,
    ]


def test_no_window_has_less_than_nothing_left() -> None:
    meter = Model(Port(id=0, speed_gbps=1, locator=0))
    assert [meter.packet(t, 1500) for t in (0, 1, 1000)] == [1000, 1000, 0]
