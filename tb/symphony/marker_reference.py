"""The golden model behind the ports of `rtl.symphony.marker.Marker`.

State comes from `models.symphony.marker`: real windows that end at their own time for all jobs,
Cnt_op and Cnt_total as two numbers. Only what a coin of hardware cannot do in real numbers is taken
from the bit-exact models: the gap and the coin (`coin`), RED (`red`), counters that wrap (`tally`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from models.common.ecn import marked, may_mark
from models.symphony import coin
from models.symphony.beat import GIVE, PACKET, READ, TAKE, VERDICT, counters
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.marker import Job, Packet, Seen, Symphony
from models.symphony.measure import stored
from models.symphony.red import red_mark
from models.symphony.tally import Tally
from tb.beats import packed, unpacked

VERDICT_BITS = {name: 2 if name == "ecn" else 1 for name in VERDICT}
"""Fields of m_axis_tdata."""


@dataclass(frozen=True, slots=True)
class Order:
    """A beat of `s_ctrl`."""

    job: int
    op: int

    def fields(self) -> dict[str, int]:
        return {"job": self.job, "op": self.op}


@dataclass(frozen=True, slots=True)
class Answer:
    """What must come out for a packet, and what the reference saw on the way."""

    packet: Packet
    verdict: dict[str, int]
    gap: int
    seen: Seen
    found: Job | None
    """The job's state as the packet found it, an ended window applied; None without a slot."""
    slept: int
    """Windows of α since the job's last packet; 0 where it had none."""
    new_windows: tuple[bool, bool]
    """Whether it is the first packet of all in its window of α, and of psn_rec."""
    ended: tuple[str, ...]
    """What there was at the end of the job's last window, at its first packet after that."""
    stopped: bool
    """Whether time had stopped."""

    @property
    def tdata(self) -> int:
        """Bits of `m_axis_tdata`."""
        return packed(VERDICT_BITS, self.verdict)

    def difference(self, tdata: int, gap: int) -> str:
        """Return in words what is wrong with an answer."""
        got, want = unpacked(VERDICT_BITS, tdata) | {"gap": gap}, self.verdict | {"gap": self.gap}
        wrong = [f"{n} is {got[n]}, not {int(want[n])}" for n in want if got[n] != want[n]]
        return f"{', '.join(wrong)}; {self.packet}, {self.seen}"


class Reference(Symphony):
    """One switch: packets and orders in, what the ports must show out."""

    def __init__(self, config: SymphonyConfig) -> None:
        super().__init__(config)
        self.tally = Tally(config)
        self._last: dict[int, int] = {}  # job: the window of its last packet
        self._ended: dict[int, tuple[str, ...]] = {}  # job: what there was at the end of that
        self._found: Job | None = None

    def answer(self, packet: Packet) -> Answer:
        """Serve a packet."""
        c, job = self.config, packet.job
        before = self.clock.windows()
        self._found = None
        seen = self.follow(packet)
        now = self.clock.windows()
        slept = now[0] - self._last.get(job, now[0])
        if seen.known:
            self._last[job] = now[0]

        random = self.draw(packet)
        rec, own = stored(c, seen.psn_rec), stored(c, seen.psn)
        gap = int(coin.gap(c, seen.alpha, rec, own, seen.tossed and seen.psn > 0))
        flags = {
            "symphony": bool(coin.mark(c, gap, coin.split(c, random))),
            "red": bool(red_mark(c, packet.queue_bytes, random % 2**RED_BITS)),
            "known": seen.known,
            "outpacing": seen.outpacing,
        }
        chosen = flags["symphony"] or flags["red"]
        verdict = {
            "ecn": marked(packet.ecn) if chosen else packet.ecn,
            "mark": chosen and may_mark(packet.ecn),
            **flags,
        }
        if job < c.jobs:
            self.tally.packet(job, ecn=packet.ecn, **flags)
        return Answer(
            packet=packet,
            verdict=verdict,
            gap=gap,
            seen=seen,
            found=self._found,
            slept=slept,
            new_windows=(now[0] != before[0], now[1] != before[1]),
            ended=self._ended.pop(job, ()),
            stopped=self.clock.still >= c.time_timeout,
        )

    def algorithm_1(self, job: Job, step: int, psn: int, last: bool) -> bool:
        self._found = replace(job)
        return super().algorithm_1(job, step, psn, last)

    def end_window(self) -> None:
        c = self.config
        before = {number: replace(job) for number, job in self.jobs.items() if job.cnt_total}
        super().end_window()
        for number, old in before.items():
            above, alpha = old.cnt_op - c.tau_fraction * old.cnt_total, self.jobs[number].alpha
            if old.cnt_total <= c.n_sample:
                what = "α kept by the sample guard"
            elif above >= 0:
                what = "α rises" if alpha > old.alpha else "α at the ceiling"
            else:
                what = "α falls" if alpha < old.alpha else "α at the floor"
            edges = {
                "ρ is τ": above == 0 and what == "α rises",
                "window of N_sample packets": old.cnt_total == c.n_sample,
                "window of N_sample packets and one": old.cnt_total == c.n_sample + 1,
            }
            self._ended[number] = (what, *(name for name, is_so in edges.items() if is_so))

    def order(self, asked: Order) -> dict[str, int]:
        """Carry out an order; return the fields of its receipt. A job that hardware has no slot for
        has none, and no counters."""
        op = READ if asked.op == PACKET else asked.op
        found = {"job": asked.job, "op": op, "known": asked.job in self.jobs}
        if asked.job >= self.config.jobs:
            return found | dict.fromkeys(counters(self.config), 0)
        found |= self.tally.order(asked.job, op)
        if asked.op == GIVE:
            self.give(asked.job)
        if asked.op == TAKE:
            self.take(asked.job)
        if asked.op in (GIVE, TAKE):
            for kept in (self._last, self._ended):
                kept.pop(asked.job, None)
        return found


def packet_fields(p: Packet) -> dict[str, int]:
    """Return the fields of `s_axis_tdata` for a packet."""
    return {
        "job": p.job,
        "step": p.step,
        "psn": p.psn,
        "last": p.last,
        "queue": p.queue_bytes,
        "ecn": p.ecn,
    }
