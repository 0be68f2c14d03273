"""Proofs of CSIG's Lookup and Replace: each packet of a port, any port, gets what the port's words
say that were written last before it was taken, through stalls and resets."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Cat, Mux, Signal, Value

import rtl.csig.lookup
import rtl.csig.replace
from models.csig.config import CsigConfig
from models.csig.port import ACTIONS
from models.csig.signals import SIGNALS
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.test_csig_meter import SMALL, signals_of
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal

STRIP, UPDATE = ACTIONS.index("strip"), ACTIONS.index("update")


class Written:
    """What was written last to an address of a memory, any address, kept beside it.

    Checks that the memory has it, and that its read port has it for the packet in stage 0.
    """

    def __init__(
        self, bench: Bench, watch: Watch, memory: Any, name: str, address: Value, mine: Value
    ) -> None:
        m = bench.m
        (port,) = memory.write_ports
        (stages,) = watch.stages
        bits = len(Value.cast(port.data))
        self.last, self.there = Signal(bits, name=f"{name}_last"), Signal(name=f"{name}_there")
        with m.If(port.en & (port.addr == address)):
            m.d.sync += [self.last.eq(Value.cast(port.data)), self.there.eq(1)]
        (read,) = memory.read_ports
        peek = memory.read_port(domain="comb")
        m.d.comb += peek.addr.eq(address)
        bench.check(f"{name}_kept", ~self.there | (Value.cast(peek.data) == self.last))
        self.found = stages.register(self.last, f"{name}_found")
        self.was_there = stages.register(self.there, f"{name}_was_there")
        same = Value.cast(read.data) == self.found
        bench.check(f"{name}_read", ~(stages.valid[0] & mine & self.was_there) | same)


class LookupBench(Bench):
    """A lookup of which one port and one signal, any, are looked at."""

    def __init__(self, config: CsigConfig, module: ModuleType = rtl.csig.lookup) -> None:
        super().__init__(resets=True)
        c, m = config, self.m
        m.submodules.dut = dut = module.Lookup(c)
        with signals_of(module) as made:
            watch = Watch(dut)
        inner: Any = dut.elaborate(None)
        (stages,) = watch.stages
        self.drive(dut.i)
        self.drain(dut.o)
        for name in ("record", "record_port", "record_write", "bank", "agent", "agent_write"):
            if name in dut.signature.members:
                port = Value.cast(getattr(dut, name))
                m.d.comb += port.eq(self.free(len(port), f"in_{name}"))
        self.assume((dut.record_port < c.ports) & (dut.i.p.port < c.ports))
        number = self.constant(max(1, c.port_bits), "a_port")
        signal = self.constant(2, "a_signal")
        self.assume(number < c.ports)

        here: Any = stages.register(dut.i.p, "packet")
        mine = (here.port == number) & (here.signal == signal)
        memories = inner._named_submodules
        written = Written(self, watch, memories["records"][0], "record", number, mine)
        record = module.record_layout()(written.found)
        known = written.was_there
        self.check("set_up", made["set_up"].bit_select(number, 1) == written.there)
        self.check("known", ~(stages.valid[0] & mine) | (stages.registers["known"][0] == known))

        asked = here.tagged & known & here.known
        if not c.update_discarded:
            asked &= ~here.discarded
        asks = self.see("asks", asked & (record.action == UPDATE))
        has = self.see("has", Mux(here.wide, record.wide, record.compact).bit_select(signal, 1))
        by_agent = fresh = Value.cast(0)
        if c.agent:
            self.assume(~dut.agent_write | (dut.agent.port < c.ports))
            address = Cat(signal, number)
            value = Written(self, watch, memories["entries"][0], "entry", address, mine)
            entry = module.entry_layout(c)(value.found)
            heard = Cat(made[f"heard_{n}"].bit_select(number, 1) for n in range(4))
            self.check("heard", heard.bit_select(signal, 1) == value.there)
            told = stages.registers["written"][0] == value.was_there
            self.check("told", ~(stages.valid[0] & mine) | told)
            by_agent = record.agent.bit_select(signal, 1) if c.native else Value.cast(1)
            fresh = self.see("fresh", value.was_there & ~(here.time > entry.until))
            has = Mux(by_agent, entry.compact_there & fresh, has)
            right = {
                "written": ~(dut.o.p.update & by_agent) | (dut.o.p.written == entry.compact_value),
                "stale": dut.o.p.stale == (asks & by_agent & ~fresh),
            }
            self._uses(dut, stages, mine, asks & by_agent, here, value.was_there, entry)
        else:
            right = {"stale": ~dut.o.p.stale}
        right |= {
            "update": dut.o.p.update == (asks & has),
            "stripped": dut.o.p.stripped == (here.tagged & known & (record.action == STRIP)),
            "unknown": dut.o.p.unknown
            == (here.tagged & known & ~here.known & (record.action == UPDATE)),
        }
        if c.native:
            right["bank"] = dut.o.p.bank == dut.bank.bit_select(number, 1)
        kept = {"port", "signal", "value", "bytes", "other", "passed_0"}
        for name in kept & set(here.shape().members):
            self.check(f"kept_{name}", ~stages.valid[0] | (dut.o.p[name] == here[name]))
        (own,) = stages.registers["here"]
        self.check("one_packet", ~stages.valid[0] | (Value.cast(own) == Value.cast(here)))
        for name, condition in right.items():
            self.check(name, ~(dut.o.valid & mine) | condition)
        self.keeps_stream_rules(
            dut.o.valid,
            dut.o.ready,
            Cat(field for name, field in self._fields(dut.o.p) if name != "bank"),
        )

    @staticmethod
    def _fields(payload: Any) -> list[tuple[str, Value]]:
        return [(name, Value.cast(payload[name])) for name in payload.shape().members]

    def _uses(
        self, dut: Any, stages: Any, mine: Value, asks: Value, here: Any, there: Value, entry: Any
    ) -> None:
        """A use is shown in the first cycle of its packet in stage 0, and only there."""
        came = Signal(name="came_to_stage_0")
        self.m.d.sync += came.eq(stages.accept)
        self.check("came", ~came | stages.valid[0])
        self.check("used", ~(stages.valid[0] & mine) | (dut.used == (came & asks)))
        self.check("not_used", stages.valid[0] | ~dut.used)
        use = dut.use
        shown = (use.port == here.port) & (use.signal == here.signal) & (use.time == here.time)
        says = (use.written == there) & (~there | (use.until == entry.until))
        self.check("use", ~(dut.used & mine) | (shown & says))


class ReplaceBench(Bench):
    """A replacement of which one port, any, is looked at."""

    def __init__(self, config: CsigConfig, module: ModuleType = rtl.csig.replace) -> None:
        super().__init__(resets=True)
        c, m = config, self.m
        m.submodules.dut = dut = module.Replace(c)
        watch = Watch(dut)
        inner: Any = dut.elaborate(None)
        (stages,) = watch.stages
        self.drive(dut.i)
        self.drain(dut.o)
        for name in ("locator", "locator_port", "locator_write"):
            port = getattr(dut, name)
            m.d.comb += port.eq(self.free(len(port), f"in_{name}"))
        number = self.constant(max(1, c.port_bits), "a_port")
        self.assume((number < c.ports) & (dut.locator_port < c.ports) & (dut.i.p.port < c.ports))
        packet: Any = stages.register(dut.i.p, "packet")
        mine = packet.port == number
        written = Written(
            self, watch, inner._named_submodules["locators"][0], "locator", number, mine
        )
        smaller = Cat(signal.keep == "min" for signal in SIGNALS).bit_select(packet.signal, 1)
        below, above = packet.code < packet.value, packet.code > packet.value
        out = dut.o.p
        right = {
            "replaced": out.replaced == (packet.update & Mux(smaller, below, above)),
            "value": out.value == packet.code,
            "port": out.port == packet.port,
            "flags": Cat(out.stripped, out.unknown, out.stale)
            == Cat(packet.stripped, packet.unknown, packet.stale),
        }
        for name, condition in right.items():
            self.check(name, ~dut.o.valid | condition)
        named = ~(dut.o.valid & mine & written.was_there) | (out.locator == written.found)
        self.check("locator", named)
        self.check("valid", dut.o.valid == stages.valid[0])
        (own,) = stages.registers["here"]
        self.check("one_packet", ~stages.valid[0] | (Value.cast(own) == Value.cast(packet)))
        self.keeps_stream_rules(dut.o.valid, dut.o.ready, dut.o.payload)


def small(**changes: Any) -> CsigConfig:
    return CsigConfig(**(SMALL | changes))


CASES = {
    "native": small(ports=2),
    "agent": small(ports=2, sources="agent"),
    "both": small(ports=3, sources="both"),
    "both-discarded": small(sources="both", layout="uec", update_discarded=True),
}


@pytest.mark.parametrize("name", CASES)
def test_lookup(name: str) -> None:
    """By 1-induction: any packets, words, stalls and resets."""
    prove(LookupBench(CASES[name]), f"csig-lookup-{name}", depth=1)


@pytest.mark.parametrize("formats", [("compact",), ("wide",)])
def test_replace(formats: tuple[str, ...]) -> None:
    """By 1-induction: any packets, locators, stalls and resets."""
    prove(ReplaceBench(small(ports=3, formats=formats)), f"csig-replace-{formats[0]}", depth=1)


LOOKUP_FAULTS = {
    "too old a ns early": ("here.time <= entry.until", "here.time < entry.until"),
    "strips untagged": ("mine & (record.action == STRIP)", "known & (record.action == STRIP)"),
    "updates discarded": ("here.known & ~discarded", "here.known"),
    "set up all": ("set_up | (Const(1) << self.record_port)", "-1"),
    "heard of all": ("ports | (Const(1) << self.agent.port)", "-1"),
    "shown until it leaves": ("came & asks", "o.valid & asks"),
    "read in stall": (
        "read.addr.eq(Cat(self.i.p.signal, self.i.p.port)),\n"
        "            read.en.eq(stages.advance)",
        "read.addr.eq(Cat(self.i.p.signal, self.i.p.port)),\n            read.en.eq(1)",
    ),
}


@pytest.mark.parametrize("fault", LOOKUP_FAULTS)
def test_lookup_faults_are_seen(fault: str) -> None:
    module = changed(rtl.csig.lookup, *LOOKUP_FAULTS[fault])
    disprove(LookupBench(CASES["both"], module), f"csig-lookup {fault}", depth=8)


REPLACE_FAULTS = {
    "ties too": ("first > second", "first >= second"),
    "though not asked": ("i.p.update & compare.severe", "compare.severe"),
    "another's locator": ("read.addr.eq(i.p.port)", "read.addr.eq(i.p.port & 0)"),
}


@pytest.mark.parametrize("fault", REPLACE_FAULTS)
def test_replace_faults_are_seen(fault: str) -> None:
    module = changed(rtl.csig.replace, *REPLACE_FAULTS[fault])
    disprove(ReplaceBench(small(ports=3), module), f"csig-replace {fault}", depth=8)
