"""Proofs of the whole marker: its stream rules, one answer for each order and one verdict for each
packet, and nothing else."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NamedTuple

import pytest
from amaranth.hdl import Cat, Const, Mux, Signal, Value
from amaranth.lib import data

import rtl.symphony.marker
from models.common.ecn import CE, NOT_ECT
from models.symphony.beat import GIVE, PACKET, READ, order, packet, receipt
from models.symphony.config import SymphonyConfig
from rtl.symphony.tally import verdict_layout
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.naive import total
from tb.formal.paths import combinational_inputs
from tb.formal.prove import prove
from tb.formal.small import SMALL
from tb.formal.watch import SeenStages, Watch, insides

pytestmark = pytest.mark.formal

CONFIG = SymphonyConfig(jobs=2, **SMALL)
NAMES = {"came": "s_axis", "left": "m_axis", "ordered": "s_ctrl", "answered": "m_ctrl"}
NUMBER = 4
"""Bits of a packet's number, which more packets than are ever under way have apart."""


class Stage(NamedTuple):
    """A register stage of a block, and what of its beat is followed."""

    name: str
    valid: Value
    op: Value
    job: Value
    ecn: Value
    number: Value
    """Of packets that came, this is the one."""


class MarkerBench(Bench):
    """A marker with anything at its ports, and a look into each of its stages."""

    def __init__(self, module: ModuleType = rtl.symphony.marker) -> None:
        super().__init__(resets=True)
        c, m = CONFIG, self.m
        dut: Any = module.Marker(c)
        self.dut = dut
        watched = {name: Watch(block) for name, block in dut.blocks.items()}
        self.busy = insides(dut)["busy"]
        m.submodules.dut = dut
        for name, member in dut.signature.members.items():
            if member.flow.name != "In":
                self.see(name, getattr(dut, name))
            elif name.startswith("set_"):
                m.d.comb += getattr(dut, name).eq(self.constant(member.shape, f"a_{name[4:]}"))
            else:
                m.d.comb += getattr(dut, name).eq(self.free(member.shape, f"in_{name}"))
        self.packet = data.View(data.StructLayout(packet(c)), dut.s_axis_tdata)
        self.order = data.View(data.StructLayout(order(c)), dut.s_ctrl_tdata)
        self.receipt = data.View(data.StructLayout(receipt(c)), dut.m_ctrl_tdata)
        verdict = Cat(dut.m_axis_tdata, dut.m_axis_tuser)
        self.verdict = data.View(verdict_layout(c), verdict)
        # A packet comes or leaves; an order comes, or its answer is fetched.
        self.came, self.left, self.ordered, self.answered = (
            self.see(name, getattr(dut, f"{port}_tvalid") & getattr(dut, f"{port}_tready"))
            for name, port in NAMES.items()
        )
        self.sent, self.gone = Signal(NUMBER), Signal(NUMBER)
        m.d.sync += [self.sent.eq(self.sent + self.came), self.gone.eq(self.gone + self.left)]
        self.stages: list[Stage] = []
        number: Value = self.sent
        for name, watch in watched.items():
            (stages,) = watch.stages
            if "here" in stages.registers and name != "tally":
                self.check(f"{name}_one_beat", stages.one_beat())
            for n, valid in enumerate(stages.valid):
                number = stages.register(number, f"number_{n}")
                fields = self._fields(name, stages, n)
                self.stages.append(Stage(f"{name}_{n}", valid, *fields, number))
        self.keeps_stream_rules(dut.m_axis_tvalid, dut.m_axis_tready, verdict, "m_axis")
        self.keeps_stream_rules(dut.m_ctrl_tvalid, dut.m_ctrl_tready, dut.m_ctrl_tdata, "m_ctrl")
        self._packets()
        self._orders()

    @staticmethod
    def _fields(name: str, stages: SeenStages, n: int) -> tuple[Value, Value, Value]:
        """Return op, job and ecn of the beat in a block's stage n."""
        found = stages.registers
        if name != "tally":
            return tuple(found[f"passed_{field}"][n] for field in ("op", "job", "ecn"))
        if n == 0:
            return tuple(found["here"][0][field] for field in ("op", "job", "ecn"))
        # The last stage keeps no more of an order than that it was one, and is nobody's job's.
        return Mux(found["is_order"][0], GIVE, PACKET), Const(0), found["leaving_ecn"][0]

    def _packets(self) -> None:
        """Each packet that came, and no other, leaves once and in its turn, with its ECN field."""
        m, stages = self.m, self.stages
        one, ecn = self.constant(NUMBER, "one"), Signal(2)
        with m.If(self.came & (self.sent == one)):
            m.d.sync += ecn.eq(self.packet.ecn)
        due: Value = self.gone
        for stage in reversed(stages):
            here = stage.valid & (stage.op == PACKET)
            self.check(f"{stage.name}_in_turn", ~here | (stage.number == due))
            kept = stage.ecn == ecn
            if stage is stages[-1]:
                kept = Mux(self.verdict.mark, (stage.ecn == CE) & (ecn != NOT_ECT), kept)
            self.check(f"{stage.name}_ecn", ~here | (stage.number != one) | kept)
            due = self.named(Mux(here, due + 1, due), NUMBER, f"due_behind_{stage.name}")
        self.check("none_lost", self.sent == due)

    def _orders(self) -> None:
        """Each order takes one packet's place, and gets one answer, which is its own; the op of a
        packet is taken as a read."""
        m = self.m
        asked = Signal(self.order.shape())
        waiting = Signal(2)
        m.d.sync += waiting.eq(waiting + self.ordered - self.answered)
        with m.If(self.ordered):
            op = Mux(self.order.op == PACKET, READ, self.order.op)
            m.d.sync += [asked.job.eq(self.order.job), asked.op.eq(op)]
        # In the last stage is nothing any more: the answer waits by then.
        stages = self.stages[:-1]
        here = [stage.valid & (stage.op != PACKET) for stage in stages]
        self.check("orders", total([*here, self.dut.m_ctrl_tvalid]) == waiting)
        self.check("one_order", waiting == self.busy)
        self.check("one_slot", ~(self.came & self.ordered))
        for stage, order_here in zip(stages, here, strict=True):
            same = (stage.job == asked.job) & (stage.op == asked.op)
            self.check(f"{stage.name}_is_the_order", ~order_here | same)
        same = (self.receipt.job == asked.job) & (self.receipt.op == asked.op)
        self.check("answer", ~self.dut.m_ctrl_tvalid | same)


def test_marker() -> None:
    """By 1-induction: for any traffic, settings, stalls at both ends, and resets."""
    prove(MarkerBench(), "marker", depth=1)


@pytest.mark.parametrize("output", ["m_axis_tvalid", "m_ctrl_tvalid"])
def test_no_answer_waits_for_ready(output: str) -> None:
    """Within a cycle, by the cone of the netlist."""
    assert combinational_inputs(rtl.symphony.marker.Marker(CONFIG), output) == set()


FAULTS = {
    "order lost": ("entry.ready & ~busy", "entry.ready"),
    "packet lost": ("entry.ready & ~ordering", "entry.ready"),
    "order doubled": ("(self.s_ctrl_tvalid & ~busy)", "(self.s_ctrl_tvalid)"),
    "packet out of an order": ("Mux(wanted.op == PACKET, READ, wanted.op)", "wanted.op"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = MarkerBench(changed(rtl.symphony.marker, *FAULTS[fault]))
    disprove(broken, f"marker {fault}", depth=6)
