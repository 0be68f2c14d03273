"""CSIG as one top module with flat ports: the block to drop into a design."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from amaranth.hdl import Cat, Module, Mux, Value
from amaranth.lib import data, fifo, wiring
from amaranth.lib.wiring import In, Out, connect

from models.csig.beat import (
    FLAGS,
    agent_use,
    agent_write,
    asked,
    count_answer,
    count_read,
    packet,
    table_write,
    tag_bits,
)
from models.csig.config import CsigConfig
from models.csig.signals import SIGNALS
from models.csig.tables import CAPACITY, EDGE, RECORD
from rtl.csig.clock import WINDOW_BITS, Clock
from rtl.csig.lookup import Lookup
from rtl.csig.meter import Meter
from rtl.csig.quantize import Quantize
from rtl.csig.replace import Replace
from rtl.csig.tag import ReadTag, WriteTag
from rtl.csig.tally import Tally


def tag_queue(c: CsigConfig, latency: int) -> fifo.SyncFIFOBuffered:
    """The queue in which tags, each with its format, wait for their answers."""
    return fifo.SyncFIFOBuffered(width=tag_bits(c) + 1, depth=1 << (latency + 1).bit_length())


class Hop(wiring.Component):
    """Updates the CSIG tags of the packets that leave through 1 to 64 ports. Latency `latency`
    cycles; throughput one packet a cycle for any sequence of ports.

    ```
    s_axis ─┬─ fields ─► clock ─► lookup ─► meter ─► quantize ─► replace ─┬─► tally ─► m_axis
    s_time  └─ tag ────► queue ───────────────────────────────────────────┘     └────► m_count
                           ▲         ▲        ▲         ▲           ▲       s_count ─┘
                         s_table (edge, record, capacity, tables, locator), s_agent, m_agent
    ```

    Args:
        config: a `CsigConfig`.

    Ports, beside clk and rst:
        s_axis_tdata (in, `beat.packet` from bit 0), s_axis_tvalid (in), s_axis_tready (out).
        s_time (in, time_bits): ns, taken with the packet.
        m_axis_tdata (out): the tag, and above it `beat.FLAGS`; m_axis_tvalid, m_axis_tready.
        s_table_tdata (in, `beat.table_write`), _tvalid, _tready: tables, records, edges.
        s_agent_tdata (in, `beat.agent_write`), _tvalid, _tready: values that software measured.
        m_agent_tdata (out, `beat.agent_use`), m_agent_tvalid (out): packets that ask for one, each
        for one cycle, in order; nobody has to be ready for them.
        s_count_tdata (in, `beat.count_read`), _tvalid, _tready; m_count_tdata (out,
        `beat.count_answer`), _tvalid, _tready: counters of a port.
        set_window_N (in, 24): length of the windows of clock N, ns, held still.
    """

    def __init__(self, config: CsigConfig) -> None:
        c = self.config = config
        self.blocks = {
            "clock": Clock(c),
            "lookup": Lookup(c),
            "meter": Meter(c),
            "quantize": Quantize(c),
            "replace": Replace(c),
            "tally": Tally(c),
        }
        self.latency = sum(block.latency for block in self.blocks.values())
        streams = {
            "s_axis": (In, sum(packet(c).values())),
            "m_axis": (Out, tag_bits(c) + len(FLAGS)),
            "s_table": (In, sum(table_write(c).values())),
            "s_count": (In, sum(count_read(c).values())),
            "m_count": (Out, sum(count_answer(c).values())),
        }
        if c.agent:
            streams["s_agent"] = (In, sum(agent_write(c).values()))
        ports: dict[str, Any] = {}
        for name, (flow, bits) in streams.items():
            back = Out if flow is In else In
            ports |= {
                f"{name}_tdata": flow(bits),
                f"{name}_tvalid": flow(1),
                f"{name}_tready": back(1),
            }
        if c.agent:
            ports |= {"m_agent_tdata": Out(sum(agent_use(c).values())), "m_agent_tvalid": Out(1)}
        ports["s_time"] = In(c.time_bits)
        ports |= {f"set_window_{clock}": In(WINDOW_BITS) for clock in range(c.window_clocks)}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for name, block in self.blocks.items():
            m.submodules[name] = block
        *unit, _ = self.blocks.values()  # the tally is behind the tags' queue
        for ahead, behind in pairwise(unit):
            connect(m, ahead.o, behind.i)
        self._enter(m)
        self._leave(m)
        self._tables(m)
        return m

    def _enter(self, m: Module) -> None:
        """Read the tag, send its fields on, and keep it."""
        c = self.config
        given = data.View(data.StructLayout(packet(c)), self.s_axis_tdata)
        clock = self.blocks["clock"].i
        m.submodules.read_tag = read = ReadTag(c)
        m.submodules.tags = self._queue = queue = tag_queue(c, self.latency)
        delays = Cat(signal.measure == "delay" for signal in SIGNALS)
        fields = {
            **{name: getattr(read, name) for name in read.signature.members},
            **{name: given[name] for name in ("port", "bytes")},
            "other": Mux(delays.bit_select(read.signal, 1), given.delay, given.queue),
        }
        m.d.comb += [
            read.tag.eq(given.tag),
            self.s_axis_tready.eq(clock.ready),
            clock.valid.eq(self.s_axis_tvalid),
            self.blocks["clock"].now.eq(self.s_time),
            *(clock.p[name].eq(fields[name]) for name in asked(c)),
            queue.w_data.eq(Cat(given.tag, read.wide)),
            queue.w_en.eq(self.s_axis_tvalid & clock.ready),
        ]
        for number in range(c.window_clocks):
            setting = getattr(self, f"set_window_{number}")
            m.d.comb += getattr(self.blocks["clock"], f"window_{number}").eq(setting)

    def _leave(self, m: Module) -> None:
        """Put the answer into the tag that has been kept, and count."""
        c = self.config
        answer, tally = self.blocks["replace"].o, self.blocks["tally"]
        m.submodules.write_tag = write = WriteTag(c)
        tag, wide = self._queue.r_data[:-1], self._queue.r_data[-1]
        m.d.comb += [
            write.tag.eq(tag),
            write.wide.eq(wide),
            write.value.eq(answer.p.value),
            write.locator.eq(answer.p.locator),
            write.replace.eq(answer.p.replaced),
            tally.i.valid.eq(answer.valid),
            answer.ready.eq(tally.i.ready),
            self._queue.r_en.eq(answer.valid & answer.ready),
            tally.i.p.tag.eq(write.out),
            tally.i.p.port.eq(answer.p.port),
            *(tally.i.p[name].eq(answer.p[name]) for name in FLAGS),
            self.m_axis_tdata.eq(Cat(tally.o.p.tag, *(tally.o.p[name] for name in FLAGS))),
            self.m_axis_tvalid.eq(tally.o.valid),
            tally.o.ready.eq(self.m_axis_tready),
            Value.cast(tally.read.payload).eq(self.s_count_tdata),
            tally.read.valid.eq(self.s_count_tvalid),
            self.s_count_tready.eq(tally.read.ready),
            self.m_count_tdata.eq(Value.cast(tally.answer.payload)),
            self.m_count_tvalid.eq(tally.answer.valid),
            tally.answer.ready.eq(self.m_count_tready),
        ]

    def _tables(self, m: Module) -> None:
        """Send each write to the block that it is for."""
        c = self.config
        clock, lookup, meter, quantize, replace, _ = self.blocks.values()
        given = data.View(data.StructLayout(table_write(c)), self.s_table_tdata)
        at_once = {kind: given.kind == kind for kind in (RECORD, CAPACITY, EDGE)}
        table = ~Cat(at_once.values()).any()
        valid = self.s_table_tvalid
        m.d.comb += [
            quantize.write.payload.eq(given),
            quantize.write.valid.eq(valid & table),
            self.s_table_tready.eq(Mux(table, quantize.write.ready, 1)),
            Value.cast(lookup.record).eq(given.value),
            lookup.record_port.eq(given.port),
            lookup.record_write.eq(valid & at_once[RECORD]),
            replace.locator.eq(given.value),
            replace.locator_port.eq(given.port),
            replace.locator_write.eq(valid & at_once[RECORD]),
            meter.capacity.eq(given.value),
            meter.capacity_port.eq(given.port),
            meter.capacity_clock.eq(given.index),
            meter.capacity_write.eq(valid & at_once[CAPACITY]),
            clock.load_edge.eq(given.value),
        ]
        if c.native:
            m.d.comb += lookup.bank.eq(quantize.bank)
            with m.If(valid & at_once[EDGE]):
                m.d.comb += clock.load.bit_select(given.index, 1).eq(1)
        if c.agent:
            m.d.comb += [
                Value.cast(lookup.agent).eq(self.s_agent_tdata),
                lookup.agent_write.eq(self.s_agent_tvalid),
                self.s_agent_tready.eq(1),
                self.m_agent_tdata.eq(Value.cast(lookup.use)),
                self.m_agent_tvalid.eq(lookup.used),
            ]
