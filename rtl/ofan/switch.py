"""The top of Ofan: all pipes of a switch behind flat, conventional ports."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, connect

from models.ofan.config import OfanConfig
from rtl.ofan.engine import pointer_engine
from rtl.ofan.lookup import Lookup, prefix_layout
from rtl.ofan.masks import write_layout


class Switch(wiring.Component):
    """Ofan, or pOfan, for a whole switch. With the engine `sorted` a fixed latency (`latency`
    cycles) and a batch a cycle; with a banked one that latency where no packet waits. Golden model:
    `models.ofan.switch`.

    ```
                 ┌─► [Lookup] ─► engine 0  (lanes 0 … W-1)  ─┐
    s_axis ──────┼─► [Lookup] ─► engine 1  (lanes W … 2W-1) ─┼──► m_axis
                 └─► …                                      ─┘
    s_mask, s_prefix: to every pipe
    ```

    Ofan is one pipe of all lanes; pOfan (section 5) has lanes / W pipes with pointers of their own.
    A batch is taken when every pipe takes it. Pipes of the engine `sorted` run in step; banked ones
    give their answers when they have them, and stand still together when m_axis does.

    Args:
        config: an `OfanConfig`.

    Ports (flat; A = request_bits, B = answer_bits of the config):
        s_axis_tdata [lanes·A], s_axis_tkeep [lanes], s_axis_tvalid, s_axis_tready:
            a batch; lane l at bits [l·A +: A], destination (with a lookup: address) in the low
            bits, size class above it; tkeep[l] says that lane l has a packet.
        m_axis_tdata [lanes·B], m_axis_tkeep [lanes], m_axis_tvalid, m_axis_tready:
            its answers; lane l at bits [l·B +: B], uplink in the low bits, the unroutable flag on
            top; tkeep as it came in (with a lookup: less the packets that are not northbound). With
            a banked engine tkeep says which lanes have an answer in this beat: a batch may leave in
            several beats, each lane's answers in the order of its packets.
        s_mask_tdata, s_mask_tvalid, s_mask_tready (with `masks` > 0): a change of the valid
            uplinks, laid out as `rtl.ofan.masks.write_layout`. It is in force from the cycle in
            which tvalid rises: batches accepted before that cycle see the old sets, all others
            the new ones, also those accepted before tready, which comes when it is written.
        s_prefix_tdata, s_prefix_tvalid, s_prefix_tready (lookup "table"): an entry of the table,
            laid out as `rtl.ofan.lookup.prefix_layout`.
        own_prefix [prefix_bits] (lookup "aligned").
        clk, rst: one clock; rst is synchronous and active high. Batches in flight are lost; what is
            taken while the pointer file is swept waits in the pipeline.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        self.pipelines = [pointer_engine(c, pipe) for pipe in range(c.pipes)]
        self.lookups = [Lookup(c) for _ in range(c.pipes)] if c.lookup != "none" else []
        self.latency = self.pipelines[0].latency + (self.lookups[0].latency if self.lookups else 0)
        ports = {
            "s_axis_tdata": In(c.lanes * c.request_bits),
            "s_axis_tkeep": In(c.lanes),
            "s_axis_tvalid": In(1),
            "s_axis_tready": Out(1),
            "m_axis_tdata": Out(c.lanes * c.answer_bits),
            "m_axis_tkeep": Out(c.lanes),
            "m_axis_tvalid": Out(1),
            "m_axis_tready": In(1),
        }
        writes = {}
        if c.masks:
            writes["s_mask"] = write_layout(c)
        if c.lookup == "table":
            writes["s_prefix"] = prefix_layout(c)
        for name, layout in writes.items():
            ports |= {
                f"{name}_tdata": In(layout.size),
                f"{name}_tvalid": In(1),
                f"{name}_tready": Out(1),
            }
        if c.lookup == "aligned":
            ports["own_prefix"] = In(c.prefix_bits)
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        heads = []
        # No batch enters a lookup while a write waits, or it would be overtaken there.
        pending: Value = Const(0)
        if c.masks and self.lookups:
            pending = Cat(pipeline.pending for pipeline in self.pipelines).any()
        for number, pipeline in enumerate(self.pipelines):
            m.submodules[f"pipe{number}"] = pipeline
            head = pipeline
            if self.lookups:
                m.submodules[f"lookup{number}"] = head = self.lookups[number]
                connect(m, head.o, pipeline.i)
            heads.append(head)
            self._lanes(m, number, head.i, pipeline.o)
        takes: Value = heads[0].i.ready
        answers: Value = self.pipelines[0].o.valid
        offered: Value = self.s_axis_tvalid & ~pending
        if c.engine.banked and c.pipes > 1:
            takes = Cat(head.i.ready for head in heads).all()
            answers = Cat(pipeline.o.valid for pipeline in self.pipelines).any()
            offered = offered & takes
            stalled = answers & ~self.m_axis_tready
            m.d.comb += [pipeline.stall.eq(stalled) for pipeline in self.pipelines]
        m.d.comb += [
            self.s_axis_tready.eq(takes & ~pending),
            self.m_axis_tvalid.eq(answers),
            *(head.i.valid.eq(offered) for head in heads),
        ]
        if c.masks:
            apart = c.engine.banked and c.pipes > 1
            writes = [pipeline.write for pipeline in self.pipelines]
            self._write_all(m, "s_mask", writes, apart=apart)
        if c.lookup == "table":
            self._write_all(m, "s_prefix", [lookup.write for lookup in self.lookups])
        if c.lookup == "aligned":
            m.d.comb += [lookup.own_prefix.eq(self.own_prefix) for lookup in self.lookups]
        return m

    def _lanes(self, m: Module, pipe: int, i, o) -> None:
        c = self.config
        first = pipe * c.lanes_per_pipe
        m.d.comb += o.ready.eq(self.m_axis_tready)
        for number in range(c.lanes_per_pipe):
            lane = first + number
            request = self.s_axis_tdata.word_select(lane, c.request_bits)
            answer = self.m_axis_tdata.word_select(lane, c.answer_bits)
            m.d.comb += [
                i.p[number].as_value().eq(request),
                i.p[number].valid.eq(self.s_axis_tkeep[lane]),
                answer.eq(Cat(o.p[number].uplink, o.p[number].unroutable)),
                self.m_axis_tkeep[lane].eq(o.p[number].valid),
            ]

    def _write_all(self, m: Module, name: str, writes, *, apart: bool = False) -> None:
        """Send what comes at a port to all `writes`, which take it together, or `apart`."""
        valid, ready = getattr(self, f"{name}_tvalid"), getattr(self, f"{name}_tready")
        offered = [valid] * len(writes)
        taken: Value = writes[0].ready
        if apart:
            done = Signal(len(writes), name=f"{name}_done")
            takes = done | Cat(write.ready for write in writes)
            taken = takes.all()
            offered = [valid & ~one for one in done]
            m.d.sync += done.eq(Mux(valid & ~taken, takes, 0))
        m.d.comb += ready.eq(taken)
        for write, here in zip(writes, offered, strict=True):
            m.d.comb += [
                write.valid.eq(here),
                write.payload.as_value().eq(getattr(self, f"{name}_tdata")),
            ]
