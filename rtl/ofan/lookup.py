"""Destination lookup in front of the pipeline (seed sections 4.1 and 5.2)."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, unsigned
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from models.ofan.config import OfanConfig
from rtl.common.stage import Stages
from rtl.ofan.pipeline import request_layout


def address_layout(c: OfanConfig) -> data.ArrayLayout:
    """A batch before the lookup: lanes of `address`, `size_class` and `valid`."""
    lane = data.StructLayout(
        {"address": c.host_bits + c.prefix_bits, "size_class": c.class_bits, "valid": 1}
    )
    return data.ArrayLayout(lane, c.lanes_per_pipe)


def prefix_layout(c: OfanConfig) -> data.StructLayout:
    """An entry to write, from bit 0 up: `destination`, `northbound`, and its `prefix`."""
    return data.StructLayout(
        {
            "destination": c.destination_bits,
            "northbound": 1,
            "prefix": c.prefix_bits,
        }
    )


class Lookup(wiring.Component):
    """Turns each lane's address into a destination number; lanes whose packet is not northbound
    become idle. Latency 1 cycle; throughput one batch a cycle.

    `lookup="table"` reads a table of 2^prefix_bits entries, written at run time: prefix →
    (northbound, destination). A write takes effect for the batches accepted after it. After a
    reset no prefix is northbound; the table is swept, 2^prefix_bits cycles without ready.
    `lookup="aligned"` takes the prefix as the number, for an address space that follows the
    topology; the switch's own prefix is an input.

    Args:
        config: an `OfanConfig` whose `lookup` is "table" or "aligned".

    Raises `ValueError` for `lookup="none"`.

    Ports:
        i (stream of `address_layout`), o (stream of `rtl.ofan.pipeline.request_layout`).
        write (stream of `prefix_layout`, table form): one entry a cycle.
        own_prefix (in, prefix_bits, aligned form): held still while packets flow.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        if c.lookup == "none":
            raise ValueError("lookup must be one of table, aligned, not 'none'")
        self.latency = 1
        ports = {
            "i": In(stream.Signature(address_layout(c))),
            "o": Out(stream.Signature(request_layout(c))),
        }
        if c.lookup == "table":
            ports["write"] = In(stream.Signature(prefix_layout(c)))
        else:
            ports["own_prefix"] = In(unsigned(c.prefix_bits))
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.config.lookup == "table":
            self._table(m)
        else:
            self._aligned(m)
        return m

    def _table(self, m: Module) -> None:
        c = self.config
        entries = 1 << c.prefix_bits
        entry = data.StructLayout({"destination": c.destination_bits, "northbound": 1})
        m.submodules.table = table = memory.Memory(shape=entry, depth=entries, init=[])
        sweep = Signal(range(entries + 1))
        running = Signal()
        m.d.comb += running.eq(sweep[-1])
        stages = Stages(m, self.i, self.o, depth=1, enabled=running)
        write = table.write_port()
        m.d.comb += self.write.ready.eq(running)
        with m.If(running):
            m.d.comb += [
                write.addr.eq(self.write.p.prefix),
                write.data.destination.eq(self.write.p.destination),
                write.data.northbound.eq(self.write.p.northbound),
                write.en.eq(self.write.valid),
            ]
        with m.Else():
            m.d.sync += sweep.eq(sweep + 1)
            m.d.comb += [write.addr.eq(sweep), write.en.eq(1)]
        passed = stages.register(self.i.p, "passed")
        for number in range(c.lanes_per_pipe):
            read = table.read_port()
            m.d.comb += [
                read.addr.eq(self.i.p[number].address >> c.host_bits),
                read.en.eq(stages.advance),
                self.o.p[number].valid.eq(passed[number].valid & read.data.northbound),
                self.o.p[number].destination.eq(read.data.destination),
                self.o.p[number].size_class.eq(passed[number].size_class),
            ]

    def _aligned(self, m: Module) -> None:
        c = self.config
        stages = Stages(m, self.i, self.o, depth=1)
        for number, (here, out) in enumerate(zip(self.i.p, self.o.p, strict=True)):
            prefix = here.address >> c.host_bits
            numbered = Signal(c.prefix_bits, name=f"number_{number}")
            below = (prefix > self.own_prefix) if c.skip_own else 0
            m.d.comb += numbered.eq(prefix - below)
            northbound = (prefix != self.own_prefix) & (numbered < c.destinations)
            m.d.comb += [
                out.valid.eq(stages.register(here.valid & northbound, f"valid_{number}")),
                out.destination.eq(stages.register(numbered, f"destination_{number}")),
                out.size_class.eq(stages.register(here.size_class, f"size_class_{number}")),
            ]
