"""Symphony as one top module with flat ports: the block to drop into a design."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out, connect

from models.symphony.beat import PACKET, READ, order, packet, receipt
from models.symphony.config import SymphonyConfig
from models.symphony.settings import setting_bits
from rtl.common.lfsr import Lfsr
from rtl.symphony.coin import Coin
from rtl.symphony.measure import Measure
from rtl.symphony.progress import Progress
from rtl.symphony.red import Red
from rtl.symphony.tally import Tally, verdict_layout
from rtl.symphony.touch import Touch
from rtl.symphony.window import Window

BLOCKS = {
    # block: the settings it may take; some belong to one arithmetic only
    "window": ("window", "psn_window"),
    "measure": ("n_warmup",),
    "touch": (),
    "progress": ("tau", "n_sample", "alpha_max", "n_warmup"),
    "coin": ("k",),
    "red": ("kmin", "kmax", "red_scale", "red_shift"),
    "tally": (),
}


class Marker(wiring.Component):
    """Marks the packets of steps that run ahead, and those that RED picks. Latency `latency`
    cycles; throughput one packet a cycle for any sequence of jobs.

    ```
    s_axis, s_time, register ─┬─► window ─► measure ─► touch ─► progress ─► coin ─► red ─┐
    s_ctrl ───────────────────┘                                                          │
                                                           m_axis ◄──┬── tally ◄─────────┘
                                                           m_ctrl ◄──┘
    ```

    An order of the control plane takes the place of one packet and passes the same memories, so it
    holds from the first packet that enters after it. One order is under way at a time: the next is
    taken when the answer to the last has been. Op 0, which is a packet's inside, reads counters
    too.

    After a reset no job has a slot; `s_axis` and `s_ctrl` may be taken into the first blocks, but
    nothing comes out for `jobs` cycles, while memories are swept.

    Args:
        config: a `SymphonyConfig`.

    Ports, beside clk and rst:
        s_axis_tdata (in, `beat.packet` from bit 0), s_axis_tvalid (in), s_axis_tready (out).
        s_time (in, time_bits): ns, taken with the packet. s_random (in, random_bits), s_random_en
        (in): in place of the register's random word.
        m_axis_tdata (out, `beat.VERDICT` from bit 0: ecn 2 bits, the others 1), m_axis_tuser (out,
        the gap of `models.symphony.coin`), m_axis_tvalid (out), m_axis_tready (in).
        s_ctrl_tdata (in, `beat.order`), s_ctrl_tvalid, s_ctrl_tready.
        m_ctrl_tdata (out, `beat.receipt`), m_ctrl_tvalid, m_ctrl_tready.
        set_NAME (in) for each of `models.symphony.settings.setting_bits`: held while packets flow.

    Implements the seed's sections 3.3 to 3.5 and 4.7.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        self.blocks = {
            "window": Window(c),
            "measure": Measure(c),
            "touch": Touch(c),
            "progress": Progress(c),
            "coin": Coin(c),
            "red": Red(c),
            "tally": Tally(c),
        }
        self.latency = sum(block.latency for block in self.blocks.values())
        super().__init__(
            {
                "s_axis_tdata": In(sum(packet(c).values())),
                "s_axis_tvalid": In(1),
                "s_axis_tready": Out(1),
                "s_time": In(c.time_bits),
                "s_random": In(c.random_bits),
                "s_random_en": In(1),
                "m_axis_tdata": Out(verdict_layout(c).size - verdict_layout(c)["gap"].width),
                "m_axis_tuser": Out(verdict_layout(c)["gap"].width),
                "m_axis_tvalid": Out(1),
                "m_axis_tready": In(1),
                "s_ctrl_tdata": In(sum(order(c).values())),
                "s_ctrl_tvalid": In(1),
                "s_ctrl_tready": Out(1),
                "m_ctrl_tdata": Out(sum(receipt(c).values())),
                "m_ctrl_tvalid": Out(1),
                "m_ctrl_tready": In(1),
                **{f"set_{name}": In(bits) for name, bits in setting_bits(c).items()},
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        blocks = self.blocks
        for name, block in blocks.items():
            m.submodules[name] = block
            for setting in BLOCKS[name]:
                if setting in block.signature.members:
                    m.d.comb += getattr(block, setting).eq(getattr(self, f"set_{setting}"))
        for ahead, behind in zip(list(blocks.values()), list(blocks.values())[1:], strict=False):
            connect(m, ahead.o, behind.i)

        m.submodules.lfsr = lfsr = Lfsr(c.seed)
        entry = blocks["window"].i
        given = data.View(data.StructLayout(packet(c)), self.s_axis_tdata)
        wanted = data.View(data.StructLayout(order(c)), self.s_ctrl_tdata)
        busy, ordering = Signal(), Signal()
        answer = blocks["tally"].answer
        random = lfsr.state[: c.random_bits]
        m.d.comb += [
            ordering.eq(self.s_ctrl_tvalid & ~busy),
            self.s_ctrl_tready.eq(entry.ready & ~busy),
            self.s_axis_tready.eq(entry.ready & ~ordering),
            entry.valid.eq(ordering | self.s_axis_tvalid),
            lfsr.step.eq(self.s_axis_tvalid & self.s_axis_tready),
            entry.p.op.eq(Mux(ordering, Mux(wanted.op == PACKET, READ, wanted.op), PACKET)),
            entry.p.job.eq(Mux(ordering, wanted.job, given.job)),
            entry.p.time.eq(self.s_time),
            entry.p.random.eq(Mux(self.s_random_en, self.s_random, random)),
        ]
        m.d.comb += [entry.p[name].eq(given[name]) for name in packet(c) if name != "job"]
        with m.If(self.s_ctrl_tvalid & self.s_ctrl_tready):
            m.d.sync += busy.eq(1)
        with m.Elif(answer.valid & answer.ready):
            m.d.sync += busy.eq(0)

        last = blocks["tally"].o
        m.d.comb += [
            Cat(self.m_axis_tdata, self.m_axis_tuser).eq(Value.cast(last.payload)),
            self.m_axis_tvalid.eq(last.valid),
            last.ready.eq(self.m_axis_tready),
            self.m_ctrl_tdata.eq(Value.cast(answer.payload)),
            self.m_ctrl_tvalid.eq(answer.valid),
            answer.ready.eq(self.m_ctrl_tready),
        ]
        return m
