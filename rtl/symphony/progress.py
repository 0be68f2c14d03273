"""The state of every job, and what a packet does to it (seed Algorithm 1, equations 2, 3 and 5)."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value, signed
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.symphony.beat import GIVE, PACKET, TAKE, touched, tracked
from models.symphony.config import SymphonyConfig
from models.symphony.settings import setting_bits
from rtl.common.rewrite import Rewrite
from rtl.common.stage import Stages


def word_layout(c: SymphonyConfig) -> data.StructLayout:
    """A job's word: `models.symphony.progress.State`; `warm` stands beside a logarithm only."""
    return data.StructLayout(
        {
            "valid": 1,
            "step_min": c.step_bits,
            "rec": c.rec_bits,
            **({"warm": 1} if c.arithmetic == "log" else {}),
            "alpha": c.alpha_bits,
            "balance": signed(c.balance_bits),
            "guard": c.sample_bits,
        }
    )


class Steps(wiring.Component):
    """Compares a packet's step with step_min, and finds the step behind it. Combinational.

    Ports:
        step, step_min (in, step_bits); ahead, behind, equal (out); following (out, step_bits).
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        super().__init__(
            {
                "step": In(c.step_bits),
                "step_min": In(c.step_bits),
                "ahead": Out(1),
                "behind": Out(1),
                "equal": Out(1),
                "following": Out(c.step_bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        wraps = c.step_wrap == "serial"
        difference = Signal(c.step_bits if wraps else c.step_bits + 1)
        last = (1 << c.step_bits) - 1
        m.d.comb += [
            difference.eq(self.step - self.step_min),
            self.equal.eq(self.step == self.step_min),
            self.behind.eq(difference[-1]),
            self.ahead.eq(~difference[-1] & ~self.equal),
            self.following.eq(self.step + (1 if wraps else (self.step != last))),
        ]
        return m


class Level(wiring.Component):
    """Moves α at the end of a window, by the sign of the balance, between 1 and its ceiling.
    Combinational.

    Ports:
        alpha (in), alpha_max (in), enough (in): the window had more than N_sample packets,
        above (in): Cnt_op ≥ τ·Cnt_total; moved (out).
    """

    def __init__(self, config: SymphonyConfig) -> None:
        bits = config.alpha_bits
        super().__init__(
            {
                "alpha": In(bits),
                "alpha_max": In(bits),
                "enough": In(1),
                "above": In(1),
                "moved": Out(bits),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        alpha = self.alpha
        upper = Mux(alpha < self.alpha_max, alpha + 1, self.alpha_max)
        lower = Mux(alpha > 1, alpha - 1, alpha)
        m.d.comb += self.moved.eq(Mux(self.enough, Mux(self.above, upper, lower), alpha))
        return m


class Balance(wiring.Component):
    """Counts a packet: adds tau_scale - τ where it is outpacing, takes τ away where it is not,
    and stops at either end. Combinational.

    Ports:
        balance (in), outpacing (in), tau (in), counted (out).
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        super().__init__(
            {
                "balance": In(signed(c.balance_bits)),
                "outpacing": In(1),
                "tau": In(bits_for(c.tau_scale + 1)),
                "counted": Out(signed(c.balance_bits)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        top = (1 << (c.balance_bits - 1)) - 1
        # Both sums, so that the comparison of steps, which is late, only chooses.
        upper, lower = (
            Signal(signed(c.balance_bits + 1), name=name) for name in ("upper", "lower")
        )
        m.d.comb += [
            upper.eq(self.balance + (c.tau_scale - self.tau)),
            lower.eq(self.balance - self.tau),
            self.counted.eq(
                Mux(
                    self.outpacing,
                    Mux(upper > top, Const(top), upper[:-1].as_signed()),
                    Mux(lower < -top - 1, Const(-top - 1), lower[:-1].as_signed()),
                )
            ),
        ]
        return m


class Progress(wiring.Component):
    """Keeps step_min, psn_rec, α and the counts of every job. Latency 2 cycles (3 in `exact`
    arithmetic); throughput one beat a cycle, exact also for one job every cycle.

    The end of a window is applied at the job's first packet of a later one, before that packet. An
    order to give a slot writes the state of a new job, an order to take it makes it invalid. What a
    packet of a job without a slot meets stays as it is.

    After a reset no job has a slot; the memory is swept, `jobs` cycles without ready.

    Args:
        config: a `SymphonyConfig`.

    Ports:
        i (stream of `beat.touched`), o (stream of `beat.tracked`).
        tau, n_sample, alpha_max (in; and n_warmup in `exact` arithmetic): settings.
    """

    def __init__(self, config: SymphonyConfig) -> None:
        c = self.config = config
        self.latency = 2 if c.arithmetic == "log" else 3
        names = ["tau", "n_sample", "alpha_max"]
        names += ["n_warmup"] * (c.arithmetic == "exact")
        super().__init__(
            {
                "i": In(stream.Signature(data.StructLayout(touched(c)))),
                "o": Out(stream.Signature(data.StructLayout(tracked(c)))),
                **{name: In(setting_bits(c)[name]) for name in names},
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        i, o = self.i, self.o
        logs = c.arithmetic == "log"
        free = word_layout(c).const({"alpha": 1}).as_bits()
        jobs = Rewrite(m, word_layout(c), c.jobs, free, "jobs")
        stages = Stages(m, i, o, depth=self.latency, enabled=jobs.running)
        stages.carry(i, o)
        here = stages.register(i.p, "here")
        inside = Const(1) if c.jobs == 1 << c.job_bits else here.job < c.jobs
        word, after = jobs.connect(stages, i.p.job, inside)
        known = Signal()
        m.d.comb += known.eq(word.valid & inside)

        m.submodules.steps = steps = Steps(c)
        m.submodules.level = level = Level(c)
        m.submodules.balance = balance = Balance(c)
        m.d.comb += [
            steps.step.eq(here.step),
            steps.step_min.eq(word.step_min),
            level.alpha.eq(word.alpha),
            level.alpha_max.eq(self.alpha_max),
            level.enough.eq(word.guard == 0),
            level.above.eq(word.balance >= 0),
            balance.balance.eq(Mux(here.first, 0, word.balance)),
            balance.outpacing.eq(steps.ahead),
            balance.tau.eq(self.tau),
        ]
        larger = here.psn_first | (here.progress > word.rec)
        kept = Mux(here.psn_first, 0, word.rec)
        guard = Mux(word.guard == 0, 0, word.guard - 1)
        m.d.comb += after.eq(word)
        with m.If(here.op == GIVE):
            m.d.comb += [
                Value.cast(after).eq(free),
                after.valid.eq(1),
                after.guard.eq(self.n_sample + 1),
            ]
        with m.Elif(here.op == TAKE):
            m.d.comb += after.valid.eq(0)
        with m.Elif((here.op == PACKET) & word.valid):
            m.d.comb += [
                after.alpha.eq(Mux(here.first, level.moved, word.alpha)),
                after.balance.eq(balance.counted),
                after.guard.eq(Mux(here.first, self.n_sample, guard)),
                after.step_min.eq(
                    Mux(here.last, steps.following, Mux(steps.behind, here.step, word.step_min))
                ),
                after.rec.eq(
                    Mux(
                        here.last,
                        0,
                        Mux(steps.behind | (steps.equal & larger), here.progress, kept),
                    )
                ),
            ]
            if logs:
                warm = word.warm & ~here.psn_first & ~steps.behind
                warms = here.above & (steps.behind | steps.equal)
                m.d.comb += after.warm.eq(~here.last & (warm | warms))

        # A packet ahead that does not end its write leaves psn_rec as it is.
        ahead = known & (here.op == PACKET) & steps.ahead
        candidate = ahead & ~here.last & here.moving
        if logs:
            candidate = candidate & word.warm & ~here.psn_first
        found = {
            "known": known,
            "outpacing": ahead,
            "tossed": candidate,
            "alpha": after.alpha,
            "rec": after.rec,
        }
        ready = {name: stages.register(value, name) for name, value in found.items()}
        if not logs:
            ready["tossed"] = ready["tossed"] & (ready["rec"] > self.n_warmup)
            ready = {name: stages.register(value, name) for name, value in ready.items()}
        m.d.comb += [o.p[name].eq(value) for name, value in ready.items()]
        return m
