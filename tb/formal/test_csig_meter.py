"""Proof that Meter, which ends a port's window when the port's next packet comes, measures like one
whose windows end for all ports at once; and that no port touches another's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from amaranth.hdl import Cat, Const, Mux, Signal, Value

import rtl.csig.meter
from models.csig.config import CsigConfig
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal

SMALL: dict[str, Any] = {
    "formats": ("compact",),
    "sources": "native",
    "longest_window_ns": 100,
    "bytes_bits": 11,
    "time_bits": 24,
    "delay_bits": 8,
    "queue_bits": 8,
}


@contextmanager
def signals_of(module: ModuleType) -> Iterator[dict[str, Signal]]:
    """Yield the signals that a module makes meanwhile, by name."""
    made: dict[str, Signal] = {}

    def keep(*args: Any, src_loc_at: int = 0, **options: Any) -> Signal:
        signal = Signal(*args, src_loc_at=src_loc_at + 1, **options)
        made[Value.cast(signal).name] = signal  # type: ignore[attr-defined]
        return signal

    with mock.patch.object(module, "Signal", keep):
        yield made


class MeterBench(Bench):
    """A meter of which one port, any port, is looked at: its capacity is written before its first
    packet, and is what it is."""

    def __init__(self, config: CsigConfig, module: ModuleType = rtl.csig.meter) -> None:
        super().__init__(resets=True)
        c, m = config, self.m
        dut = module.Meter(c)
        with signals_of(module) as made:
            watch = Watch(dut)
        m.submodules.dut = dut
        inner = dut.elaborate(None)
        (stages,) = watch.stages
        self.drive(dut.i)
        self.drain(dut.o)
        given = dut.i.p
        for clock in range(c.clocks):
            self.assume(given[f"passed_{clock}"] <= 2)

        bits = max(1, c.port_bits)
        port = self.constant(bits, "a_port")
        self.assume((port < c.ports) & (c.port_bits == 0 or given.port < c.ports))
        capacity = self.constant(c.available_bits, "capacity")
        clock = self.constant(max(1, (c.clocks - 1).bit_length()), "a_clock")
        self.assume(clock < c.clocks)
        writes = self.free(1, "writes")
        write_port = self.free(bits, "write_port")
        anything = self.free(c.available_bits, "other_capacity")
        other_clock = self.free(len(dut.capacity_clock), "other_clock")
        mine = write_port == port
        m.d.comb += [
            dut.capacity_write.eq(writes),
            dut.capacity_port.eq(write_port),
            dut.capacity.eq(Mux(mine, capacity, anything)),
            dut.capacity_clock.eq(Mux(mine, clock, other_clock)),
        ]
        self.assume(write_port < c.ports)
        is_set = Signal(name="is_set")
        with m.If(writes & mine):
            m.d.sync += is_set.eq(1)
        taken = self.see("taken", dut.i.valid & dut.i.ready)
        ours = self.see("ours", taken & (given.port == port))
        self.assume(is_set | ~(dut.i.valid & (given.port == port)))

        # The eager meter: edges that this packet has behind it end the port's window, whoever's
        # packet it is.
        left, closed = (
            Signal(c.available_bits, name="left"),
            Signal(c.available_bits, name="closed"),
        )
        self.shown += ["left", "closed"]
        passed = Cat(given[f"passed_{n}"] for n in range(c.clocks)).word_select(clock, 2)
        idle = ~is_set  # no packet since the reset
        ended = self.named(
            Mux(passed == 0, closed, Mux(passed == 1, left, capacity)), len(left), "ended"
        )
        full = self.named(Mux(passed == 0, left, capacity), len(left), "full")
        spent = Cat(Const(0, 3), given.bytes)
        rest = Mux(full >= spent, (full - spent)[: len(left)], 0)
        with m.If(idle):
            m.d.sync += [left.eq(capacity), closed.eq(capacity)]
        with m.Elif(taken):
            m.d.sync += [left.eq(Mux(ours, rest, full)), closed.eq(ended)]

        expected = stages.register(ended, "expected")
        mine_0 = stages.register(ours, "mine")
        (here,) = stages.registers["here"]
        is_other = (here.signal == 2) | (here.signal == 3)
        measure = stages.inputs["measure"][0]
        right = measure == Mux(is_other, here.other, expected)
        measures = stages.valid[0] & mine_0
        self.check("measure_0", ~measures | right)
        right_1 = stages.register(right, "right")
        mine_1 = stages.register(mine_0, "mine_1")
        kept = stages.register(measure, "kept")
        self.check("measure_right", ~(stages.valid[1] & mine_1) | right_1)
        self.check("measure", ~stages.valid[1] | (dut.o.p.measure == kept))
        self.check("one_packet", ~stages.valid[0] | stages.one_beat())
        self.check("mine", ~stages.valid[0] | (mine_0 == (here.port == port)))
        self._words(inner, watch, made, port, capacity, clock, is_set, left, closed)
        self.keeps_stream_rules(dut.o.valid, dut.o.ready, dut.o.payload)

    def _words(
        self,
        inner: Any,
        watch: Watch,
        made: dict[str, Signal],
        port: Value,
        capacity: Value,
        clock: Value,
        is_set: Value,
        left: Value,
        closed: Value,
    ) -> None:
        """Say what the port's word, age, capacity and clock stand for."""
        m = self.m
        (stages,) = watch.stages
        (here,) = stages.registers["here"]
        capacities = inner._named_submodules["capacities"][0]
        (read,) = capacities.read_ports
        peek = capacities.read_port(domain="comb")
        m.d.comb += peek.addr.eq(port)
        self.check("capacity", ~is_set | (peek.data == capacity))
        mine = stages.valid[0] & (here.port == port)
        self.check("set", ~mine | is_set & (read.data == capacity))
        ages = [made[name].bit_select(port, 1) for name in ("age_closed", "age_old")]
        age = self.see("age", Cat(ages))
        self.check("age", age <= 2)
        self.check("old", is_set | (age == 2))
        clocks = [made[name] for name in sorted(made) if name.startswith("clock_")]
        if clocks:
            of_port = Cat(word.bit_select(port, 1) for word in clocks)
            self.check("clock", ~is_set | (of_port == clock))
        if watch.files:
            (file,) = watch.files.values()
            word = file.left(port)
            value = Value.cast(file.value) == Value.cast(file.peek(port))
            self.check("value", ~file.here(port) | value)
            self.check("address", ~stages.valid[0] | (file.address == here.port))
            self.check("running", file.running | ~stages.valid[0] & (age == 2))
        else:
            before, after = made["window"], made["after"]
            word = before.shape()(Mux(stages.valid[0], Value.cast(after), Value.cast(before)))
        self.see("word_left", word.left)
        self.see("word_closed", word.closed)
        full = capacity
        is_left = left == Mux(age == 0, word.left, full)
        is_closed = closed == Mux(age == 0, word.closed, Mux(age == 1, word.left, full))
        self.check("left", ~is_set | is_left)
        self.check("closed", ~is_set | is_closed)
        self.check("not_above", ~is_set | (left <= full) & (closed <= full))


CASES = {
    "one": CsigConfig(**SMALL),
    "two": CsigConfig(ports=2, **SMALL),
    "three-of-two-clocks": CsigConfig(ports=3, clocks=2, **SMALL),
}


@pytest.mark.parametrize("name", CASES)
def test_lazy_is_eager(name: str) -> None:
    """By 1-induction: any packets, edges, stalls and resets."""
    prove(MeterBench(CASES[name]), f"csig-meter-{name}", depth=1)


FAULTS = {
    "below 0": ("Mux(below, 0, Cat(", "Mux(0, 0, Cat("),
    "no borrow": ("upper = Mux(low[-1], borrowed, high)", "upper = high"),
    "counts on": ("Mux(age == CURRENT, word.left, capacity)", "word.left"),
    "idle windows forgotten": ("old | more | (closed & one)", "old | more"),
    "only the packet's port ages": (
        "closed.eq(aged_closed & others), old.eq(aged_old & others)",
        "closed.eq(closed & others), old.eq(old & others)",
    ),
    "another's window": ("file.connect(stages, i.p.port)", "file.connect(stages, i.p.port & 0)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = MeterBench(CASES["two"], changed(rtl.csig.meter, *FAULTS[fault]))
    disprove(broken, f"csig-meter {fault}", depth=10)
