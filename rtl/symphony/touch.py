"""Which packet is the first of its job in a window (seed section 3.4.3)."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.symphony.beat import PACKET, measured, touched
from models.symphony.config import SymphonyConfig
from models.symphony.touch import row_jobs, serial_bits
from rtl.common.rewrite import Rewrite
from rtl.common.stage import Stages


def row_layout(c: SymphonyConfig, window_ns: int) -> data.StructLayout:
    """A word: the `serial` number of a window, and a bit for each job that had a packet there."""
    return data.StructLayout({"serial": serial_bits(c, window_ns), "bits": row_jobs(c)})


class Touch(wiring.Component):
    """Tells whether a packet is its job's first one in its window. Latency 2 cycles; throughput one
    beat a cycle, also for one job or one word every cycle.

    64 jobs share a word: a window's serial number and a bit a job. Where the number is another
    window's, all bits count as 0. Serial numbers never come again, so a job may sleep for any
    number of windows. Words need no defined value after a reset, for a job's state then starts
    anew, where it makes no difference; they are swept all the same.

    Args:
        config: a `SymphonyConfig`.

    Ports:
        i (stream of `beat.measured`), o (stream of `beat.touched`).
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        self.latency = 2
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(measured(c)))),
                "o": Out(stream.Signature(data.StructLayout(touched(c)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        i, o = self.i, self.o
        jobs = row_jobs(c)
        windows = {"": c.window_ns}
        if c.psn_window_ns is not None:
            windows["psn_"] = c.psn_window_ns
        rows = {
            kind: Rewrite(m, row_layout(c, length), -(-c.jobs // jobs), 0, f"{kind}rows")
            for kind, length in windows.items()
        }
        running = Cat(file.running for file in rows.values()).all()
        stages = Stages(m, i, o, depth=2, enabled=running)
        stages.carry(i, o)
        here = stages.register(i.p, "here")
        place = here.job[: bits_for(jobs)]
        first: dict[str, Value] = {}
        for kind, file in rows.items():
            word, after = file.connect(stages, i.p.job >> bits_for(jobs), here.op == PACKET)
            serial = here[f"{kind}serial"]
            mine = Signal(jobs, name=f"{kind}mine")
            same = Signal(name=f"{kind}same_window")
            m.d.comb += [
                mine.eq(1 << place),
                same.eq(word.serial == serial),
                after.serial.eq(serial),
                after.bits.eq(Mux(same, word.bits, 0) | mine),
            ]
            first[kind] = ~(same & (word.bits & mine).any())
        found = first[""], first.get("psn_", first[""])
        m.d.comb += [
            o.p.first.eq(stages.register(found[0], "first")),
            o.p.psn_first.eq(stages.register(found[1], "psn_first")),
        ]
        return m
