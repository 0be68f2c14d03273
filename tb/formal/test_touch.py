"""Proofs of Touch: it knows a job's first packet in a window, whatever its words held before."""

from __future__ import annotations

from types import ModuleType
from typing import Any
from unittest import mock

import pytest
from amaranth.hdl import Signal, Value

import models.symphony.touch
import rtl.common.rewrite
import rtl.symphony.touch
from models.symphony.beat import PACKET
from models.symphony.config import SymphonyConfig
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.small import SMALL, surrounded
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal

CONFIG = SymphonyConfig(jobs=4, psn_window_ns=2**13, **SMALL)
UNSWEPT = changed(rtl.common.rewrite, "port.en.eq(1)", "port.en.eq(0)")
"""Memories that hold anything after a reset."""


class TouchBench(Bench):
    """Four jobs in two words, of which one job, any job, is looked at. Window numbers only rise,
    by any number of windows at once."""

    def __init__(self, module: ModuleType = rtl.symphony.touch) -> None:
        super().__init__(resets=True)
        m = self.m
        with mock.patch.object(models.symphony.touch, "ROW", 2):
            dut = self.dut = module.Touch(CONFIG)
            self.watch = Watch(dut, rewrite=UNSWEPT.Rewrite)
        surrounded(self, dut)
        self.stages = self.watch.stages[0]
        (self.beat,) = self.stages.registers["here"]
        self.job = self.constant(CONFIG.job_bits, "a_job")
        packet = dut.i.p.op == PACKET
        self.enters = self.see("enters", dut.i.valid & dut.i.ready & packet)
        self.mine = self.enters & (dut.i.p.job == self.job)
        self.ours = [
            valid & (beat.op == PACKET) & (beat.job == self.job)
            for valid, beat in zip(self.stages.valid, (self.beat, dut.o.p), strict=True)
        ]
        self.check("one_beat", self.stages.one_beat())
        for name, file in self.watch.files.items():
            value = Value.cast(file.value)
            self.check(
                f"{name}_value",
                ~self.stages.valid[0]
                | (file.address == self.beat.job >> 1)
                & (value == Value.cast(file.peek(file.address))),
            )
            self.check(f"{name}_running", file.running | ~self.stages.valid[0])
            kind = name.removesuffix("rows")
            newest = Signal.like(dut.i.p[f"{kind}serial"], name=f"{kind}newest")
            with m.If(self.enters):
                m.d.sync += newest.eq(dut.i.p[f"{kind}serial"])
            self.assume(~self.enters | (dut.i.p[f"{kind}serial"] >= newest))
            self.know_the_first(kind, file, newest)
            self.keep_the_bit(kind, file)

    def know_the_first(self, kind: str, file: Any, newest: Signal) -> None:
        m, dut, stages = self.m, self.dut, self.stages
        serial = dut.i.p[f"{kind}serial"]
        row = file.left(self.job >> 1)
        bit = row.bits.bit_select(self.job[0], 1)
        served, latest = Signal(name=f"{kind}served"), Signal.like(serial, name=f"{kind}latest")
        with m.If(self.mine):
            m.d.sync += [served.eq(1), latest.eq(serial)]
        # Its very first packet may be told to be the first in its window, or not.
        matters = stages.register(served, f"{kind}matters")
        first = stages.register(latest != serial, f"{kind}is_first")
        found = stages.inputs[f"{kind}first"][0], dut.o.p[f"{kind}first"]
        for stage in range(2):
            right = ~matters | (found[stage] == first)
            self.check(f"{kind}first_{stage}", ~self.ours[stage] | right)
            if not stage:
                matters, first = (stages.register(part) for part in (matters, first))
        self.check(f"{kind}row_is_not_older", ~served | (row.serial >= latest))
        self.check(f"{kind}row_is_not_newer", ~served | (row.serial <= newest))
        self.check(f"{kind}bit", ~served | (bit == (row.serial == latest)))
        self.check(f"{kind}in_order", latest <= newest)

    def keep_the_bit(self, kind: str, file: Any) -> None:
        """The job's bit of one window, any window, stands for it from its packet on until another
        window comes, whoever else has packets."""
        row = file.peek(self.job >> 1)
        serial = self.constant(row.serial.shape(), f"{kind}a_serial")
        stands = (row.serial == serial) & row.bits.bit_select(self.job[0], 1)
        stood = self.past(stands, f"{kind}stands")
        leaves = self.stages.valid[0] & self.stages.advance & (self.beat.op == PACKET)
        same = self.beat[f"{kind}serial"] == serial
        set_it = self.past(leaves & (self.beat.job == self.job) & same, f"{kind}set")
        clear_it = self.past(leaves & file.here(self.job >> 1) & ~same, f"{kind}cleared")
        running = self.past(file.running & ~self.reset, f"{kind}running")
        self.check(f"{kind}bit_is_its_own", ~running | (stands == (set_it | stood & ~clear_it)))


def test_first_packet_of_a_window() -> None:
    """By 1-induction: `first` is 1 exactly where the job's last packet was in another window, for
    any other packets between, windows slept, stalls and resets, and words that start with
    anything. Only on the job's first packet since a reset it may be either."""
    prove(TouchBench(), "touch", depth=1)


FAULTS = {
    "bits of other windows": ("Mux(same, word.bits, 0) | mine", "word.bits | mine"),
    "bit without its window": ("~(same & (word.bits & mine).any())", "~(word.bits & mine).any()"),
    "bit of a neighbour": ("mine.eq(1 << place)", "mine.eq(1 << place | 1)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = TouchBench(changed(rtl.symphony.touch, *FAULTS[fault]))
    disprove(broken, f"touch {fault}", depth=9)
