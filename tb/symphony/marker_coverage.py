"""What cocotb must have seen of a marker (`docs/verification.md` has the table)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from models.common.ecn import CE, ECT0, ECT1, NOT_ECT
from models.symphony.beat import GIVE, PACKET, READ, TAKE
from models.symphony.coin import probability
from models.symphony.config import SymphonyConfig
from models.symphony.progress import distance
from tb.coverage import Coverage
from tb.symphony.marker_bins import bins
from tb.symphony.marker_reference import Answer, Order

CODEPOINTS = {NOT_ECT: "Not-ECT", ECT0: "ECT(0)", ECT1: "ECT(1)", CE: "CE"}
MARKS = {
    (False, False): "mark by neither",
    (True, False): "mark by Symphony alone",
    (False, True): "mark by RED alone",
    (True, True): "mark by both",
}


@dataclass(frozen=True, slots=True)
class Cycle:
    """What the ports of the marker showed in one cycle, and what was known of it."""

    offered: bool
    """s_axis_tvalid."""
    taken: bool
    """s_axis_tready."""
    answer: bool
    """m_axis_tvalid."""
    answer_taken: bool
    """m_axis_tready."""
    ordering: bool
    """s_ctrl_tvalid."""
    order_taken: bool
    """s_ctrl_tready."""
    order_inside: bool
    """An order is under way, or its receipt waits."""
    receipt: bool
    """m_ctrl_tvalid."""
    receipt_taken: bool
    """m_ctrl_tready."""
    sweeping: bool
    leaping: bool
    """Time's way to the packet that is offered may hold it."""
    in_flight: int
    """Packets inside, before this cycle's handshakes."""
    undisturbed: int
    """Cycles since something was last held back."""


class MarkerCoverage(Coverage):
    """Counts what a bench sees go into and out of the marker."""

    def __init__(self, run: str, config: SymphonyConfig, latency: int) -> None:
        super().__init__(run, bins(config, latency))
        self.config = config
        self.latency = latency
        self.restart()

    def restart(self) -> None:
        """Forget what went in: a reset has come."""
        self._last: dict[int, int] = {}  # job: cycle of its last packet
        self._stalled_for = 0
        self._worked = self._drained = self._stopped = False
        self._order: tuple[int, int, bool] | None = None  # the last one's cycle, job, job busy

    def seen(self, happened: Mapping[str, bool]) -> None:
        """Count the bins that are true."""
        for name, value in happened.items():
            if value:
                self.hit(name)

    def entered(self, cycle: int, disturbed: int, answer: Answer, before: int, busy: bool) -> None:
        """Count a packet that is taken in `cycle`, time having been `before`; `disturbed` is the
        last cycle in which something was held back, `busy` says whether packets are inside."""
        c, packet, verdict = self.config, answer.packet, answer.verdict
        previous = self._last.get(packet.job, -1)
        if previous > disturbed:
            self.hit(f"same job {cycle - previous} cycles later")
            if answer.slept:
                self.hit(f"window edge {cycle - previous} cycles after the job's packet")
        self._last[packet.job] = cycle
        self._time(answer, before, busy)
        for kind, low, high in (
            ("up to Kmin", 0, c.kmin),
            ("between", c.kmin + 1, c.kmax),
            ("above Kmax", c.kmax + 1, 2**c.queue_bits),
        ):
            if low <= packet.queue_bytes <= high:
                self.hit(f"queue {kind}")
        self.hit(MARKS[bool(verdict["symphony"]), bool(verdict["red"])])
        chosen = verdict["symphony"] or verdict["red"]
        self.hit(f"{CODEPOINTS[packet.ecn]} {'chosen' if chosen else 'left'}")
        self.hit(f"random word {'drawn' if packet.random is None else 'given'}")
        if self._order and self._order[:2] == (cycle - 1, packet.job):
            self.hit("packet of the job right behind its order")
        if not answer.found:
            self.hit("job without a slot")
            if packet.job >= c.jobs:
                self.hit("job beyond the slots")
            return
        self._algorithm(answer)
        for name in answer.ended:
            self.hit(name)

    def _algorithm(self, answer: Answer) -> None:
        """Count the lines of Algorithm 1 that a packet takes."""
        c, seen, found = self.config, answer.seen, answer.found
        assert found
        step, last = answer.packet.step, answer.packet.last
        ahead = distance(c, step, found.step_min)
        where = "ahead" if ahead > 0 else "behind" if ahead < 0 else "at step_min"
        if last:
            self.hit(f"line 4: last packet {where}")
            if step == 2**c.step_bits - 1:
                self.hit("line 4: last packet of the last step")
        elif ahead < 0:
            self.hit("line 7: step_min corrected")
        elif ahead == 0:
            self.hit(f"line 9: psn_rec {'rises' if seen.psn > found.psn_rec else 'stays'}")
        if last or ahead <= 0:
            self.hit("line 12: not ahead")
            return
        if step < found.step_min:
            self.hit("ahead across the wrap of steps")
        above = seen.psn_rec - c.n_warmup
        if -1 <= above <= 1:
            self.hit(f"psn_rec at N_warmup {above:+d}")
        if above <= 0:
            self.hit("line 12: psn_rec warms up")
        elif answer.stopped:
            self.hit("no coin while time stands")
        else:
            p = probability(c, seen.alpha, seen.psn, seen.psn_rec)
            self.hit("line 15: P is one" if p >= 1 else "line 15: P below 1")
            self.hit(f"line 16: {'heads' if answer.verdict['symphony'] else 'tails'}")
            if not seen.psn:
                self.hit("first PSN ahead")

    def _time(self, answer: Answer, before: int, busy: bool) -> None:
        c, now = self.config, answer.packet.time_ns
        alpha, psn = answer.new_windows
        self.seen(
            {
                "window edge inside": busy and alpha,
                "windows end apart": alpha != psn,
                "several windows slept": answer.slept > 1,
                "time leaps": now // c.window_ns - before // c.window_ns > 1,
                "time leaps far": now // c.window_ns - before // c.window_ns >= 64,
                "time runs back": now < before,
                "time stops": answer.stopped and not self._stopped,
                "time moves again": self._stopped and not answer.stopped,
                "end of time": now == 2**c.time_bits - 1,
            }
        )
        self._stopped = answer.stopped

    def ordered(self, cycle: int, asked: Order, found: dict[str, int], jobs: list[int]) -> None:
        """Count an order that is taken in `cycle`, with packets of `jobs` inside."""
        known, flying = bool(found["known"]), asked.job in jobs
        beyond = asked.job >= self.config.jobs
        self.seen(
            {
                "slot given": asked.op == GIVE and not known and not beyond,
                "slot given anew": asked.op == GIVE and known,
                "slot given in mid-flow": asked.op == GIVE and flying and not beyond,
                "slot taken in mid-flow": asked.op == TAKE and known and flying,
                "counters read in mid-flow": asked.op == READ and known and flying,
                "order with op 0": asked.op == PACKET,
                "read without a slot": asked.op == READ and not known,
                "order for a job beyond the slots": beyond,
                "unknown packets counted": found.get("unknown", 0) > 0,
                "counters of marks read": found.get("symphony", 0) > 0 and found.get("red", 0) > 0,
            }
        )
        if self._last.get(asked.job) == cycle - 1:
            self.hit("order right behind a packet of its job")
        self._order = cycle, asked.job, flying

    def cycle(self, now: Cycle) -> None:
        """Count what the handshakes of one cycle show."""
        stalled = now.answer and not now.answer_taken
        held_back = now.offered and not now.taken
        leapt = held_back and now.leaping and not now.sweeping and not now.ordering
        self._stalled_for = self._stalled_for + 1 if stalled else 0
        self.seen(
            {
                "input idle": now.taken and not now.offered and now.in_flight > 0,
                "output stalled": stalled,
                "stall and idle at once": stalled and not now.offered,
                "packet taken during a stall": stalled and now.offered and now.taken,
                "stall longer than latency": self._stalled_for > self.latency,
                "input stalled": held_back,
                "input waits for the sweep": held_back and now.sweeping,
                "input waits for a leap": leapt and not stalled,
                "stall during a leap": leapt and stalled,
                "order during a leap": now.ordering and now.leaping and not now.order_inside,
                "order and packet at once": now.ordering and now.order_taken and now.offered,
                "order waits for a receipt": now.ordering and now.order_inside,
                "packet taken while an order waits": (
                    now.ordering and now.order_inside and now.offered and now.taken
                ),
                "order during a stall": now.ordering and stalled,
                "receipt waits": now.receipt and not now.receipt_taken,
                "answer leaves while a receipt waits": (
                    now.receipt and not now.receipt_taken and now.answer and now.answer_taken
                ),
                "pipeline full": now.in_flight == self.latency and now.undisturbed > self.latency,
                "drained and refilled": now.in_flight > 0 and self._drained,
            }
        )
        self._worked |= now.in_flight > 0
        self._drained = self._worked and not now.in_flight

    def reset(self, **during: bool) -> None:
        """Count a reset, by what was going on."""
        names = {
            "in_flight": "reset in mid-traffic",
            "stall": "reset during a stall",
            "receipt": "reset while a receipt waits",
            "order": "reset with an order inside",
            "leap": "reset during a leap",
            "sweep": "reset during the sweep",
            "offered": "packet offered in reset",
        }
        for name, happened in during.items():
            if happened:
                self.hit(names[name])
