"""Proof that Progress, which ends a job's window when the job's next packet comes, answers like a
switch that ends all jobs' windows when they end."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Const, Mux, Signal, Value

import rtl.symphony.progress
from models.symphony.beat import GIVE, PACKET
from models.symphony.config import SymphonyConfig
from rtl.common.log2 import Log2
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.eager import Beat, Eager, Job, bits, end_window, free_settings
from tb.formal.prove import prove
from tb.formal.small import SMALL
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal


class LazyBench(Bench):
    """One job, any job, between others. Beats are anything that the blocks ahead can make: `first`
    is what `test_touch` proves of it."""

    def __init__(self, config: SymphonyConfig, module: ModuleType = rtl.symphony.progress) -> None:
        super().__init__(resets=True)
        c = self.config = config
        m = self.m
        m.submodules.dut = dut = self.dut = module.Progress(c)
        watch = Watch(dut)
        (self.stages,), (self.file,) = watch.stages, watch.files.values()
        self.drive(dut.i)
        self.drain(dut.o)
        s = self.settings = free_settings(self, c)
        m.d.comb += [dut.n_sample.eq(s.n_sample), dut.alpha_max.eq(s.alpha_max)]
        m.d.comb += dut.tau.eq(c.tau_code)
        if c.arithmetic == "exact":
            m.d.comb += dut.n_warmup.eq(s.n_warmup)

        given = dut.i.p
        self.job = self.constant(c.job_bits, "a_job")
        self.assume(self.job < c.jobs)
        psn = self.free(c.psn_bits, "psn")
        edge = self.free(1, "edge")
        psn_edge = edge if c.psn_window_ns is None else self.free(1, "psn_edge")
        taken = self.see("taken", dut.i.valid & dut.i.ready)
        self.beat = Beat(taken, given.op, given.job, given.step, psn, given.last, edge, psn_edge)
        self.eager = Eager(m, c, self.job, self.beat, s, "eager")
        self.assume(given.progress == self.stored(psn, "given"))
        self.assume(given.above == (psn > s.n_warmup))
        self._time(given)
        self._answers()
        self._words()

    def stored(self, psn: Value, name: str) -> Value:
        """Return a PSN as the hardware keeps it."""
        c = self.config
        if c.arithmetic == "exact":
            return psn
        log2 = Log2(c.psn_bits, c.mantissa_bits, c.fraction_bits)
        self.m.submodules[f"log2_{name}"] = log2
        self.m.d.comb += log2.value.eq(psn)
        return log2.code

    def _time(self, given: Any) -> None:
        """Say what `first` may be, and how many packets are counted exactly."""
        m = self.m
        mine = self.mine = self.see("mine", self.beat.taken & (given.job == self.job))
        packet = self.beat.taken & (given.op == PACKET)
        # Given a slot, and no packet since: it is as it would be anyhow.
        self.new = Signal(name="new")
        with m.If(mine & (given.op == GIVE)):
            m.d.sync += self.new.eq(1)
        with m.Elif(mine & packet):
            m.d.sync += self.new.eq(0)
        self.due = []
        for kind, edge in (("", self.beat.edge), ("psn_", self.beat.psn_edge)):
            # A window has ended since the job's last packet, and its word does not know.
            due = Signal(name=f"{kind}due")
            with m.If(packet):
                m.d.sync += due.eq(~mine & (due | edge))
            self.due.append(due)
            free = self.new | ~self.eager.valid
            self.assume(~mine | free | (given[f"{kind}first"] == (due | edge)))
        if self.config.psn_window_ns is None:
            self.assume(given.psn_first == given.first)
        counted = Mux(self.beat.edge, 0, self.eager.state.cnt_total)
        self.assume(~mine | (counted < self.config.most_packets))

    def _answers(self) -> None:
        """Check what leaves, and what is on its way there."""
        c, s, stages, dut = self.config, self.settings, self.stages, self.dut
        answer: Any = self.eager.answer
        tossed = answer.tossed & dut.i.p.moving
        rec = self.stored(answer.psn_rec, "answer")
        expected = [answer.known, answer.outpacing, tossed, answer.alpha, rec, self.mine]
        expected += [dut.i.p.op == PACKET]
        for stage in range(len(stages.valid)):
            expected = [stages.register(part, f"expected_{stage}") for part in expected]
            known, outpacing, tossed, alpha, rec, mine, packet = expected
            last = stage == len(stages.valid) - 1
            found = {
                name: dut.o.p[name] if last else stages.inputs[name][stage]
                for name in ("known", "outpacing", "tossed", "alpha", "rec")
            }
            if c.arithmetic == "exact" and stage == 0:
                found["tossed"] = found["tossed"] & (found["rec"] > s.n_warmup)
            right = found["known"] == known
            of_packet = (found["outpacing"] == outpacing) & (found["tossed"] == tossed)
            of_packet &= ~known | (found["alpha"] == alpha) & (found["rec"] == rec)
            right &= ~packet | of_packet
            self.check(f"answer_{stage}", ~(stages.valid[stage] & mine) | right)
            if stage == 0:
                (here,) = stages.registers["here"]
                same = (here.job == self.job) & ((here.op == PACKET) == packet)
                other = ~mine & (here.job != self.job)
                self.check("mine", ~stages.valid[0] | mine & same | other)
                nobody = stages.valid[0] & (here.job >= c.jobs)
                self.check("no_such_job", ~nobody | ~found["known"])

    def _words(self) -> None:
        """Check that the job's word stands for the eager state: as it is, or once its window is
        ended."""
        c, s, file = self.config, self.settings, self.file
        state, due, psn_due = self.eager.state, *self.due
        word = file.left(self.job)
        known = Value.cast(file.value) == Value.cast(file.peek(self.job))
        self.check("value", ~file.here(self.job) | known)
        (here,) = self.stages.registers["here"]
        self.check("address", ~self.stages.valid[0] | (file.address == here.job))
        self.check("running", file.running | ~self.stages.valid[0])
        swept = ~(self.job < file.sweep)
        self.check("sweep", file.running | swept | ~word.valid)
        self.check("not_given_yet", file.running | ~self.eager.valid)

        tau = c.tau_fraction
        scale = c.tau_scale // tau.denominator
        balance = (state.cnt_op * tau.denominator - state.cnt_total * tau.numerator) * scale
        left = s.n_sample + 1 - state.cnt_total
        guard = Mux(left > 0, left, 0)
        up = Mux(word.alpha < s.alpha_max, word.alpha + 1, word.alpha)
        down = Mux(word.alpha > 1, word.alpha - 1, word.alpha)
        moved = Mux(word.guard == 0, Mux(word.balance >= 0, up, down), word.alpha)
        counted = (word.balance == balance) & (word.guard == guard) & (word.alpha == state.alpha)
        rec = word.rec == self.stored(state.psn_rec, "state")
        if c.arithmetic == "log":
            rec &= word.warm == (state.psn_rec > s.n_warmup)
        fresh = (word.alpha == 1) & (word.balance == 0) & (word.guard == s.n_sample + 1)
        fresh &= (state.alpha == 1) & (state.cnt_total == 0) & (state.psn_rec == 0) & rec
        none = (state.cnt_total == 0) & (state.cnt_op == 0)
        checks = {
            "step_min": word.step_min == state.step_min,
            "counted": due | counted,
            "due": ~due | none & (moved == state.alpha),
            "rec": psn_due | rec,
            "rec_due": ~psn_due | (state.psn_rec == 0),
            "new": ~self.new | fresh,
            "alpha_range": (state.alpha >= 1) & (state.alpha <= s.alpha_max),
            "word_range": (word.alpha >= 1) & (word.alpha <= s.alpha_max),
            "counts": (state.cnt_op <= state.cnt_total) & (state.cnt_total <= c.most_packets),
        }
        running = self.see("runs", file.running)
        self.check("valid", ~running | (word.valid == self.eager.valid))
        for name, right in checks.items():
            self.check(name, ~self.eager.valid | right)


CASES = {
    "log": SymphonyConfig(jobs=3, **SMALL),
    "log-apart-plain": SymphonyConfig(
        jobs=2, psn_window_ns=2**13, step_wrap="plain", **{**SMALL, "tau": 0.25}
    ),
    "exact": SymphonyConfig(jobs=2, arithmetic="exact", **SMALL),
}


@pytest.mark.parametrize("name", CASES)
def test_lazy_is_eager(name: str) -> None:
    """By 1-induction: for runs of any length, settings, orders, stalls and resets."""
    prove(LazyBench(CASES[name]), f"lazy-{name}", depth=1)


def test_windows_without_packets_change_nothing() -> None:
    """So one end of a window stands for any number of them: the counters are 0 behind the first,
    and behind each that follows all is as before it."""
    config = CASES["log"]
    bench = Bench()
    settings = free_settings(bench, config)
    job = Job(*(bench.free(width, field) for field, width in bits(config)._asdict().items()))
    bench.assume((job.alpha >= 1) & (job.alpha <= settings.alpha_max))
    once = end_window(config, job, settings)
    twice = end_window(config, once, settings)
    for field, one, two in zip(Job._fields, once, twice, strict=True):
        bench.check(field, one == two)
    moved = end_window(config, job._replace(cnt_total=Const(0), cnt_op=Const(0)), settings)
    bench.check("nothing_counted", moved.alpha == job.alpha)
    prove(bench, "windows-slept", depth=2, induction=False)


FAULTS = {
    "moves α at every packet": ("Mux(here.first, level.moved, word.alpha)", "level.moved"),
    "counts on": ("Mux(here.first, 0, word.balance)", "word.balance"),
    "keeps psn_rec": ("Mux(here.psn_first, 0, word.rec)", "word.rec"),
    "tosses in the window's first packet": ("word.warm & ~here.psn_first\n", "word.warm\n"),
    "one sample too few": ("self.n_sample + 1)", "self.n_sample)"),
    "starts with what was there": ("Value.cast(after).eq(free)", "after.alpha.eq(word.alpha)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = LazyBench(CASES["log"], changed(rtl.symphony.progress, *FAULTS[fault]))
    disprove(broken, f"lazy {fault}", depth=10)
