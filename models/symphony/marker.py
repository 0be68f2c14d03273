"""The golden model: Symphony as the paper says it, one dequeued packet at a time (Algorithm 1).

This file is the specification. Numbers are real, counters have no end, and the end of a window is
the same instant for all jobs. It shares with the hardware what the paper leaves open: how steps
wrap, and the random number that a packet's coin is tossed with.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from models.common.ecn import ECT0, marked, may_mark
from models.common.lfsr import initial_state, next_state
from models.symphony.coin import drawn, probability
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.measure import position
from models.symphony.progress import distance, step_after
from models.symphony.red import red_probability
from models.symphony.window import Clock


@dataclass(frozen=True, slots=True)
class Packet:
    """A dequeued packet."""

    time_ns: int
    job: int
    step: int
    psn: int
    last: bool = False
    """It ends its RDMA write, and with it the step of its flow."""
    queue_bytes: int = 0
    """Depth of the queue it leaves."""
    ecn: int = ECT0
    random: int | None = None
    """Random bits in place of the register's, `config.random_bits` wide."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What becomes of a packet."""

    known: bool
    """Its job has a slot."""
    outpacing: bool
    """Its step is above step_min as it was before the packet."""
    probability: float
    """P_ECN (equation 4), 0 where Algorithm 1 does not reach the coin."""
    symphony: bool
    """Symphony's coin says mark."""
    red: bool
    """RED's coin says mark."""
    mark: bool
    """It leaves as CE for one of these: one of them says so, and its sender understands it."""
    ecn: int
    """The codepoint it leaves with."""


@dataclass(frozen=True, slots=True)
class Seen:
    """What the state says of a packet, before any coin is tossed."""

    known: bool
    outpacing: bool
    tossed: bool
    """Algorithm 1 reaches the coin, and time moves."""
    alpha: int
    psn_rec: int
    """After the packet."""
    psn: int
    """The packet's position in its step."""


@dataclass(slots=True)
class Counters:
    """What a switch counts for each job, unbounded here."""

    packets: int = 0
    outpacing: int = 0
    symphony: int = 0
    """Packets marked for Symphony's coin."""
    red: int = 0
    """Packets marked for RED's coin."""
    unknown: int = 0
    """Packets that found no slot; they count nowhere else but under `red`."""


@dataclass(slots=True)
class Job:
    """The per-job state block of section 3.3, with Cnt_total and Cnt_op of section 3.4.3."""

    step_min: int = 0
    psn_rec: int = 0
    alpha: int = 1
    cnt_total: int = 0
    cnt_op: int = 0


@dataclass
class Symphony:
    """One switch. `give` and `take` are the control plane's, `serve` is a packet's."""

    config: SymphonyConfig
    jobs: dict[int, Job] = field(default_factory=dict)
    counters: dict[int, Counters] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.clock = Clock(self.config)
        self.random = initial_state(self.config.seed)

    def give(self, job: int) -> None:
        """Give a job its slot: whatever it was before, it starts anew, and its counters too."""
        self.jobs[job] = Job()
        self.counters[job] = Counters()

    def take(self, job: int) -> None:
        """Take a job's slot away."""
        self.jobs.pop(job, None)

    def serve(self, packet: Packet) -> Verdict:
        """Return what becomes of one packet."""
        c = self.config
        seen = self.follow(packet)
        random = self.draw(packet)
        p = probability(c, seen.alpha, seen.psn, seen.psn_rec) if seen.tossed else 0.0
        symphony = drawn(c, random) < p
        red = (random % 2**RED_BITS + 0.5) / 2**RED_BITS < red_probability(c, packet.queue_bytes)

        mark = (symphony or red) and may_mark(packet.ecn)
        counters = self.counters.setdefault(packet.job, Counters())
        counters.packets += seen.known
        counters.unknown += not seen.known
        counters.outpacing += seen.outpacing
        counters.symphony += mark and symphony
        counters.red += mark and red
        ecn = marked(packet.ecn) if symphony or red else packet.ecn
        return Verdict(seen.known, seen.outpacing, p, symphony, red, mark, ecn)

    def follow(self, packet: Packet) -> Seen:
        """Move time and the job's state on, and return what a coin may then be tossed with."""
        c = self.config
        before = self.clock.windows()
        moving = self.clock.packet(packet.time_ns)
        windows = self.clock.windows()
        if windows[0] != before[0]:
            self.end_window()
        if windows[1] != before[1]:
            self.reset_psn_rec()

        psn = position(c, packet.step, packet.psn)
        job = self.jobs.get(packet.job)
        if job is None:
            return Seen(False, False, False, 1, 0, psn)
        outpacing = distance(c, packet.step, job.step_min) > 0
        reached = self.algorithm_1(job, packet.step, psn, packet.last)
        # Where time has stopped the state goes on, but no coin is tossed.
        return Seen(True, outpacing, reached and moving, job.alpha, job.psn_rec, psn)

    def draw(self, packet: Packet) -> int:
        """Return the packet's random word; the register moves on whether or not it is used."""
        word, self.random = self.random, next_state(self.random)
        return word % 2**self.config.random_bits if packet.random is None else packet.random

    def algorithm_1(self, job: Job, step: int, psn: int, last: bool) -> bool:
        """Lines 2 to 11 of Algorithm 1; return whether the coin of lines 14 to 16 is tossed."""
        c = self.config
        job.cnt_total += 1
        job.cnt_op += distance(c, step, job.step_min) > 0
        if last:
            job.step_min = step_after(c, step)
            job.psn_rec = 0
        elif distance(c, step, job.step_min) < 0:
            job.step_min, job.psn_rec = step, psn
        elif step == job.step_min:
            job.psn_rec = max(job.psn_rec, psn)
        return distance(c, step, job.step_min) > 0 and job.psn_rec > c.n_warmup

    def end_window(self) -> None:
        """Move every job's α by what its window saw (equations 2, 3 and 5), and count anew.

        Windows that passed since without a packet saw nothing, and the sample guard lets α be.
        """
        c = self.config
        for job in self.jobs.values():
            if job.cnt_total > c.n_sample:
                delta = 1 if job.cnt_op >= c.tau_fraction * job.cnt_total else -1
                job.alpha = min(max(1, job.alpha + delta), c.ceiling)
            job.cnt_total = job.cnt_op = 0

    def reset_psn_rec(self) -> None:
        """Start the windowed maximum anew (section 3.4.2)."""
        for job in self.jobs.values():
            job.psn_rec = 0
