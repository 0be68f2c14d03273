"""Symphony's state of one job said once more in Amaranth, naively: the paper's own counters and
numbers in registers, and windows that end when they end. What lazy hardware is proved against."""

from __future__ import annotations

from typing import NamedTuple

from amaranth.hdl import Const, Module, Mux, Signal, Value, ValueLike

from models.symphony.beat import GIVE, PACKET, TAKE
from models.symphony.config import SymphonyConfig
from models.symphony.settings import setting_bits

COUNT_BITS = 9
"""Of Cnt_total and Cnt_op, which 255 packets fill."""


class Job(NamedTuple):
    """The state block of section 3.3 and the counters of section 3.4.3."""

    step_min: Value
    psn_rec: Value
    alpha: Value
    cnt_total: Value
    cnt_op: Value


class Settings(NamedTuple):
    """Those that the state depends on."""

    n_sample: Value
    n_warmup: Value
    alpha_max: Value


class Beat(NamedTuple):
    """A beat that is taken; PSNs are not stored yet."""

    taken: Value
    op: Value
    job: Value
    step: Value
    psn: Value
    last: Value
    edge: Value
    """It is in a later window of α than the packet before it, of whatever job."""
    psn_edge: Value
    """It is in a later window of psn_rec."""


class Answer(NamedTuple):
    """What the state says of a packet, and of an order whether its job had a slot."""

    known: Value
    outpacing: Value
    tossed: Value
    """Algorithm 1 reaches the coin."""
    alpha: Value
    psn_rec: Value
    """After the packet."""


def bits(c: SymphonyConfig) -> Job:
    """Return widths by field."""
    return Job(c.step_bits, c.psn_bits, c.alpha_bits, COUNT_BITS, COUNT_BITS)  # type: ignore[arg-type]


def end_window(c: SymphonyConfig, job: Job, s: Settings) -> Job:
    """Equations 2, 3 and 5 with the sample guard and a ceiling; the counters start anew."""
    tau = c.tau_fraction
    outpacing = job.cnt_op * tau.denominator >= job.cnt_total * tau.numerator
    up = Mux(job.alpha + 1 > s.alpha_max, s.alpha_max, job.alpha + 1)
    down = Mux(job.alpha - 1 < 1, 1, job.alpha - 1)
    moved = Mux(outpacing, up, down)
    alpha = Mux(job.cnt_total > s.n_sample, moved, job.alpha)
    return job._replace(alpha=alpha, cnt_total=Const(0), cnt_op=Const(0))


def ahead(c: SymphonyConfig, step: Value, step_min: Value) -> Value:
    """Whether step > step_min; where steps wrap, by less than half their range."""
    if c.step_wrap == "plain":
        return step > step_min
    distance = (step - step_min)[: c.step_bits]
    return (distance > 0) & (distance < 1 << (c.step_bits - 1))


def algorithm_1(c: SymphonyConfig, job: Job, beat: Beat, s: Settings) -> tuple[Job, Answer]:
    """Lines 2 to 11 for one packet of the job: (its state after, what becomes of the packet)."""
    outpacing = ahead(c, beat.step, job.step_min)
    lagging = ~outpacing & (beat.step != job.step_min)
    top = (1 << c.step_bits) - 1
    stop = top if c.step_wrap == "plain" else 0
    following = Mux(beat.step == top, stop, beat.step + 1)
    largest = Mux(beat.psn > job.psn_rec, beat.psn, job.psn_rec)
    step_min = Mux(beat.last, following, Mux(lagging, beat.step, job.step_min))
    kept = Mux(beat.step == job.step_min, largest, job.psn_rec)
    psn_rec = Mux(beat.last, 0, Mux(lagging, beat.psn, kept))
    after = job._replace(
        step_min=step_min[: c.step_bits],
        psn_rec=psn_rec,
        cnt_total=job.cnt_total + 1,
        cnt_op=job.cnt_op + outpacing,
    )
    tossed = ahead(c, beat.step, after.step_min) & (psn_rec > s.n_warmup)
    return after, Answer(Const(1), outpacing, tossed, job.alpha, psn_rec)


class Eager:
    """The registers of job number `number`, which follow each beat as it is taken.

    Attributes:
        valid, state: the job's slot and state before the beat.
        answer: what becomes of the beat, if it is the job's.
    """

    def __init__(
        self, m: Module, c: SymphonyConfig, number: ValueLike, beat: Beat, s: Settings, name: str
    ) -> None:
        self.valid = Signal(name=f"{name}_valid")
        widths = bits(c)

        def named(job: Job, kind: str) -> Job:
            made = []
            for field, value, width in zip(Job._fields, job, widths, strict=True):
                signal = Signal(width, name=f"{name}_{kind}_{field}")
                m.d.comb += signal.eq(value)
                made.append(signal)
            return Job(*made)

        self.state = Job(
            *(Signal(width, name=f"{name}_{f}") for f, width in widths._asdict().items())
        )
        packet = beat.taken & (beat.op == PACKET)
        mine = beat.job == number
        ended = named(end_window(c, self.state, s), "ended")
        now = Job(*(Mux(beat.edge, e, b) for e, b in zip(ended, self.state, strict=True)))
        now = named(now._replace(psn_rec=Mux(beat.psn_edge, 0, now.psn_rec)), "now")
        after, answer = algorithm_1(c, now, beat, s)
        served = mine & self.valid
        self.answer = Answer(
            self.valid,
            self.valid & answer.outpacing,
            self.valid & answer.tossed,
            answer.alpha,
            answer.psn_rec,
        )
        with m.If(packet):
            m.d.sync += [
                register.eq(Mux(served, value, other))
                for register, value, other in zip(self.state, after, now, strict=True)
            ]
        with m.Elif(beat.taken & mine & (beat.op == GIVE)):
            m.d.sync += self.valid.eq(1)
            m.d.sync += [
                register.eq(value)
                for register, value in zip(self.state, (0, 0, 1, 0, 0), strict=True)
            ]
        with m.Elif(beat.taken & mine & (beat.op == TAKE)):
            m.d.sync += self.valid.eq(0)


def free_settings(bench: object, c: SymphonyConfig) -> Settings:
    """Return settings that may be any of those that fit the hardware, and stay."""
    widths = setting_bits(c)
    made = Settings(*(bench.constant(widths[name], f"any_{name}") for name in Settings._fields))  # type: ignore[attr-defined]
    bench.assume((made.n_sample + 1 < 1 << widths["n_sample"]) & (made.alpha_max > 0))  # type: ignore[attr-defined]
    return made
