"""What a port wants of a packet's tag: its record, its agent's value, and its valid tables."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from models.csig.beat import agent_use, agent_write, chosen, timed
from models.csig.config import CsigConfig
from models.csig.port import ACTIONS
from models.csig.signals import SIGNAL_BITS, SIGNALS
from rtl.common.stage import Stages

UPDATE, STRIP = ACTIONS.index("update"), ACTIONS.index("strip")


def record_layout() -> data.StructLayout:
    """A port's record, as `models.csig.tables.record` packs it."""
    of_signals = dict.fromkeys(("agent", "compact", "wide"), len(SIGNALS))
    return data.StructLayout({"locator": 16, "action": 2, **of_signals})


def entry_layout(c: CsigConfig) -> data.StructLayout:
    """An agent's entry: what `beat.agent_write` brings, without its address."""
    fields = agent_write(c)
    return data.StructLayout({n: fields[n] for n in fields if n not in ("port", "signal")})


class Lookup(wiring.Component):
    """Decides whether a tag is to be updated and where the value comes from. Latency 1 cycle;
    throughput one packet a cycle.

    A tag is updated if the port's action says so, its type is known, D does not forbid it, and the
    port has a value for it: a quantizer of its format, or an agent's entry that is not too old.
    After a reset no port has a record, so all tags pass, and no agent has written anything.

    Args:
        config: a `CsigConfig`.

    Ports:
        i (stream of `beat.timed`), o (stream of `beat.chosen`).
        record, record_port, record_write (in): a port's record and where it goes.
        bank (in, one bit a port): which of its tables are valid; only where values are measured.
        agent (in, `beat.agent_write`), agent_write (in): an agent's entry.
        use (out, `beat.agent_use`), used (out): a packet asks for an agent's entry; 1 for the one
        cycle in which it comes to `o`, whether or not it is taken there.
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        self.latency = 1
        ports = {
            "i": In(stream.Signature(data.StructLayout(timed(c)))),
            "o": Out(stream.Signature(data.StructLayout(chosen(c)))),
            "record": In(record_layout()),
            "record_port": In(max(1, c.port_bits)),
            "record_write": In(1),
        }
        if c.native:
            ports["bank"] = In(c.ports)
        if c.agent:
            ports |= {"agent": In(data.StructLayout(agent_write(c))), "agent_write": In(1)}
            ports |= {"use": Out(data.StructLayout(agent_use(c))), "used": Out(1)}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c, i, o = self.config, self.i, self.o
        stages = Stages(m, i, o, depth=1)
        stages.carry(i, o)
        here = stages.register(i.p, "here")
        m.submodules.records = records = memory.Memory(
            shape=record_layout(), depth=max(2, c.ports), init=[]
        )
        write, read = records.write_port(), records.read_port()
        m.d.comb += [
            write.addr.eq(self.record_port),
            write.data.eq(self.record),
            write.en.eq(self.record_write),
            read.addr.eq(i.p.port),
            read.en.eq(stages.advance),
        ]
        record = read.data
        set_up = Signal(c.ports)
        asks = Signal()
        with m.If(self.record_write):
            m.d.sync += set_up.eq(set_up | (Const(1) << self.record_port))
        # Read as the record is: it is not there before the record is.
        known = stages.register(set_up.bit_select(i.p.port, 1), "known")
        mine = here.tagged & known
        discarded = here.discarded & (not c.update_discarded)
        m.d.comb += [
            asks.eq(mine & here.known & ~discarded & (record.action == UPDATE)),
            o.p.stripped.eq(mine & (record.action == STRIP)),
            o.p.unknown.eq(mine & ~here.known & (record.action == UPDATE)),
        ]
        if c.native:
            m.d.comb += o.p.bank.eq(self.bank.bit_select(here.port, 1))
        there = Mux(here.wide, record.wide, record.compact).bit_select(here.signal, 1)
        if c.agent:
            there = self._agent(m, stages, here, record, asks, there)
        m.d.comb += o.p.update.eq(asks & there)
        return m

    def _agent(
        self, m: Module, stages: Stages, here: Any, record: Any, asks: Value, measured: Value
    ) -> Value:
        """Whether there is a value for the packet in stage 0, which is `measured` or its agent's;
        what becomes of the agent's is told."""
        c, i, o = self.config, self.i, self.o
        entry = self._entry(m, stages)
        heard = [Signal(c.ports, name=f"heard_{signal}") for signal in range(1 << SIGNAL_BITS)]
        with m.If(self.agent_write):
            for signal, ports in enumerate(heard):
                with m.If(self.agent.signal == signal):
                    m.d.sync += ports.eq(ports | (Const(1) << self.agent.port))
        by_agent: Value = Const(1)
        if c.native:
            by_agent = record.agent.bit_select(here.signal, 1)
            m.d.comb += o.p.by_agent.eq(by_agent)
        of_port = Cat(ports.bit_select(i.p.port, 1) for ports in heard)
        written = stages.register(of_port.bit_select(i.p.signal, 1), "written")
        fresh = written & (here.time <= entry.until)
        came = Signal()
        m.d.sync += came.eq(stages.accept)
        m.d.comb += [
            o.p.written.eq(self._of_format(entry, "value")),
            o.p.stale.eq(asks & by_agent & ~fresh),
            self.used.eq(came & asks & by_agent),
            self.use.port.eq(here.port),
            self.use.signal.eq(here.signal),
            self.use.written.eq(written),
            self.use.until.eq(entry.until),
            self.use.time.eq(here.time),
        ]
        return Mux(by_agent, self._of_format(entry, "there") & fresh, measured)

    def _of_format(self, entry: data.View, name: str) -> Value:
        """An entry's field for the format of the packet in stage 0."""
        fields = [entry[f"{format}_{name}"] for format in self.config.formats]
        return fields[0] if len(fields) == 1 else Mux(self.o.p.wide, fields[1], fields[0])

    def _entry(self, m: Module, stages: Stages) -> data.View:
        """The agent's entry for the packet in stage 0."""
        c = self.config
        m.submodules.entries = entries = memory.Memory(
            shape=entry_layout(c), depth=max(1, c.ports) << SIGNAL_BITS, init=[]
        )
        write, read = entries.write_port(), entries.read_port()
        m.d.comb += [
            write.addr.eq(Cat(self.agent.signal, self.agent.port)),
            *(write.data[name].eq(self.agent[name]) for name in entry_layout(c).members),
            write.en.eq(self.agent_write),
            read.addr.eq(Cat(self.i.p.signal, self.i.p.port)),
            read.en.eq(stages.advance),
        ]
        return read.data
