"""Proofs of the whole switch: against a naive golden one, and its stream rules."""

from __future__ import annotations

import pytest
from amaranth.hdl import Cat, Signal, Value

from models.ofan.config import OfanConfig
from rtl.ofan.switch import Switch
from tb.formal.bench import Bench
from tb.formal.golden import Golden
from tb.formal.prove import prove

pytestmark = pytest.mark.formal


class SwitchBench(Bench):
    """A switch with anything at its inputs."""

    def __init__(self, config: OfanConfig, *, resets: bool = False) -> None:
        super().__init__(resets=resets)
        self.config = config
        self.m.submodules.dut = dut = self.dut = Switch(config)
        names = ["s_axis_tdata", "s_axis_tkeep", "s_axis_tvalid", "m_axis_tready"]
        if config.masks:
            names += ["s_mask_tdata", "s_mask_tvalid"]
        for name in names:
            port = getattr(dut, name)
            self.m.d.comb += port.eq(self.free(port.shape(), f"in_{name}"))
        for name in ("s_axis_tready", "m_axis_tvalid", "m_axis_tkeep", "m_axis_tdata"):
            self.see(f"out_{name}", getattr(dut, name))
        self.accepted = self.see("accepted", dut.s_axis_tvalid & dut.s_axis_tready)
        self.delivered = self.see("delivered", dut.m_axis_tvalid & dut.m_axis_tready)
        for lane in range(config.lanes):
            request = dut.s_axis_tdata.word_select(lane, config.request_bits)
            known = request[: config.destination_bits] < config.destinations
            known &= request[config.destination_bits :] < config.size_classes
            self.assume(known | ~dut.s_axis_tkeep[lane])

    def write(self) -> Value:
        """Return the cycle in which a mask write takes effect: that in which it is first offered.

        The side that writes keeps the stream rules and stays within the tables.
        """
        c, dut = self.config, self.dut
        offered = self.past(dut.s_mask_tvalid & ~dut.s_mask_tready & ~self.reset, "offered")
        waiting = Signal()
        started = Signal()
        self.m.d.sync += started.eq(1)
        self.m.d.comb += waiting.eq(offered & started)
        self.assume(~waiting | dut.s_mask_tvalid)
        before = self.past(dut.s_mask_tdata, "s_mask_tdata")
        self.assume(~waiting | (dut.s_mask_tdata == before))
        value_bits = max(c.uplinks, c.mask_bits)
        value, address = dut.s_mask_tdata[:value_bits], dut.s_mask_tdata[value_bits:-1]
        of_set = dut.s_mask_tdata[-1]
        self.assume(~of_set | (address < c.masks) & (value < 1 << c.uplinks))
        self.assume(of_set | (address < c.destinations) & (value < c.masks))
        return self.see("write", dut.s_mask_tvalid & ~waiting & ~self.reset)


CASES = {
    "w2-masks": OfanConfig(lanes=2, uplinks=2, destinations=2, size_classes=1, masks=2),
    "w3": OfanConfig(lanes=2, uplinks=3, destinations=1, size_classes=2, masks=0),
    "pofan": OfanConfig(lanes=2, pipe_lanes=1, uplinks=2, destinations=2, size_classes=1, masks=0),
}


@pytest.mark.parametrize("name", CASES)
def test_answers_as_if_one_by_one(name: str) -> None:
    config = CASES[name]
    bench = SwitchBench(config)
    dut, m = bench.dut, bench.m
    write = {"mask_tdata": dut.s_mask_tdata, "write": bench.write()} if config.masks else {}
    golden = Golden(
        m, config, tdata=dut.s_axis_tdata, tkeep=dut.s_axis_tkeep, take=bench.accepted, **write
    )
    number = bench.constant(3, "number")
    sent, left = Signal(6), Signal(6)
    bench.see("batches_in", sent)
    bench.see("batches_out", left)
    m.d.sync += [sent.eq(sent + bench.accepted), left.eq(left + bench.delivered)]
    keep, answers = Signal(config.lanes), Signal(config.lanes * config.answer_bits)
    bench.see("golden_answers", answers)
    with m.If(bench.accepted & (sent == number)):
        m.d.sync += [keep.eq(dut.s_axis_tkeep), answers.eq(Cat(golden.answers))]
    bench.check("none_from_nothing", ~dut.m_axis_tvalid | (left < sent))
    ours = bench.see("ours", dut.m_axis_tvalid & (left == number))
    bench.check("keep", ~ours | (dut.m_axis_tkeep == keep))
    for lane in range(config.lanes):
        answer = dut.m_axis_tdata.word_select(lane, config.answer_bits)
        golden_answer = answers.word_select(lane, config.answer_bits)
        unroutable = golden_answer[-1]
        same = (answer == golden_answer) | (unroutable & answer[-1])
        bench.check(f"answer_{lane}", ~ours | ~keep[lane] | same)
    prove(bench, f"switch-{name}", depth=dut.latency + 5, induction=False)


@pytest.mark.parametrize("pipes", [1, 2])
def test_switch_keeps_the_stream_rules(pipes: int) -> None:
    """One pipe by 2-induction, also across resets. That two run in step is no matter of the last
    stage alone, so they are followed from a reset on, cycle by cycle."""
    config = OfanConfig(lanes=2, pipe_lanes=2 // pipes, uplinks=3, destinations=2, masks=2)
    bench = SwitchBench(config, resets=pipes == 1)
    dut = bench.dut
    payload = Cat(dut.m_axis_tdata, dut.m_axis_tkeep)
    bench.keeps_stream_rules(dut.m_axis_tvalid, dut.m_axis_tready, payload, "m_axis")
    for pipe in dut.pipelines[1:]:
        bench.check("in_step", pipe.o.valid == dut.pipelines[0].o.valid)
        bench.check("ready_in_step", pipe.i.ready == dut.pipelines[0].i.ready)
    depth = 2 if pipes == 1 else dut.latency + 5
    prove(bench, f"switch-stream-rules-{pipes}", depth=depth, induction=pipes == 1)
