"""The bins of `marker_coverage`: what each means, which test must see it, and where it exists."""

from __future__ import annotations

from collections.abc import Iterator

from models.symphony.config import SymphonyConfig
from tb.coverage import Bin

TESTS = ("traffic", "pauses", "orders", "clock", "resets")
"""The cocotb tests; a bin belongs to one of them."""

Rows = Iterator[tuple[str, str, bool]]


def bins(c: SymphonyConfig, latency: int) -> list[Bin]:
    """Return the bins that a marker of this configuration can reach."""
    return [
        Bin(name, meaning, test)
        for test, table in (
            ("traffic", _algorithm(c)),
            ("traffic", _traffic(c, latency)),
            ("pauses", _pauses()),
            ("orders", _orders(c)),
            ("clock", _clock(c)),
            ("resets", _resets()),
        )
        for name, meaning, reachable in table
        if reachable
    ]


def _algorithm(c: SymphonyConfig) -> Rows:
    for where, meaning in (
        ("at step_min", "a last packet of step_min"),
        ("ahead", "a last packet of a later step"),
        ("behind", "a last packet of an earlier step"),
    ):
        yield f"line 4: last packet {where}", meaning, True
    yield "line 4: last packet of the last step", "the step behind it is 0, or itself", True
    yield "line 7: step_min corrected", "a packet of an earlier step", True
    yield "line 9: psn_rec rises", "a packet of step_min, the furthest in its window", True
    yield "line 9: psn_rec stays", "a packet of step_min that is not", True
    yield "line 12: not ahead", "no coin: the packet is not ahead of the new step_min", True
    yield "line 12: psn_rec warms up", "no coin: psn_rec is at most N_warmup", True
    yield "line 15: P below 1", "a coin is tossed, by chance", True
    yield "line 15: P is one", "a coin is tossed, k·Δ being 1 and more", True
    yield "line 16: heads", "Symphony marks", True
    yield "line 16: tails", "a coin is tossed and does not mark", True
    yield "first PSN ahead", "a coin is tossed for the first packet of a step", True
    for above in (-1, 0, 1):
        name = f"psn_rec at N_warmup {above:+d}"
        yield name, "what a packet ahead meets", c.n_warmup + above >= 0
    wraps = c.step_wrap == "serial"
    yield "ahead across the wrap of steps", "a later step has a smaller number", wraps
    moves = c.ceiling > 1
    yield "α rises", "the end of a window, ρ ≥ τ", moves
    yield "α falls", "the end of a window, ρ < τ", moves and c.tau > 0
    yield "α at the ceiling", "ρ ≥ τ, and α is as high as it goes", True
    yield "α at the floor", "ρ < τ, and α is 1", c.tau > 0
    yield "ρ is τ", "and α rises", moves and 1 < c.tau_scale <= 4
    guards = c.n_sample > 0
    yield "α kept by the sample guard", "the end of a window of too few packets", guards
    yield "window of N_sample packets", "the most that are too few", guards
    yield "window of N_sample packets and one", "the fewest that are enough", True


def _traffic(c: SymphonyConfig, latency: int) -> Rows:
    for cycles in range(1, latency + 1):
        yield (
            f"same job {cycles} cycles later",
            "a job's next packet comes so many cycles after its last, nothing having stalled",
            True,
        )
        yield (
            f"window edge {cycles} cycles after the job's packet",
            "the same, and a window has ended in between",
            True,
        )
    yield "window edge inside", "a packet of a new window goes in while others are inside", True
    apart = c.psn_window_ns is not None
    yield "windows end apart", "α's window ends and psn_rec's goes on, or the other way", apart
    yield "several windows slept", "a job's packet comes two windows and more after its last", True
    for kind in ("up to Kmin", "between", "above Kmax"):
        yield f"queue {kind}", "depth of the packet's queue", kind != "between" or c.kmin < c.kmax
    for who in ("neither", "Symphony alone", "RED alone", "both"):
        kind = "mark by " + who
        yield kind, "whose coin says mark", True
    for point in ("Not-ECT", "ECT(0)", "ECT(1)", "CE"):
        yield f"{point} chosen", "a packet that came so, and a coin says mark", True
        yield f"{point} left", "a packet that came so, and no coin says mark", True
    for source in ("drawn", "given"):
        yield f"random word {source}", "of the register, or of s_random", True
    yield "job without a slot", "a packet of an unknown job", True
    beyond = c.jobs < 1 << c.job_bits
    yield "job beyond the slots", "a job's number for which there is no memory", beyond
    yield "pipeline full", "a packet in every stage, taken in as many cycles", True


def _pauses() -> Rows:
    yield "input idle", "ready without valid at s_axis, packets inside", True
    yield "output stalled", "valid without ready at m_axis", True
    yield "stall and idle at once", "both of these in one cycle", True
    yield "packet taken during a stall", "blocks fill up behind a stalled output", True
    yield "input stalled", "valid without ready at s_axis", True
    yield "stall longer than latency", "an answer waits for more cycles than the latency", True
    yield "drained and refilled", "a packet comes into a marker that had become empty", True


def _orders(c: SymphonyConfig) -> Rows:
    yield "slot given", "to a job without one", True
    yield "slot given anew", "to a job that has one, and starts again", True
    yield "slot given in mid-flow", "while packets of the job are inside", True
    yield "slot taken in mid-flow", "while packets of the job are inside", True
    yield "counters read in mid-flow", "while packets of the job are inside", True
    yield "order with op 0", "which reads, too", True
    yield "read without a slot", "a job that has none is read", True
    beyond = c.jobs < 1 << c.job_bits
    yield "order for a job beyond the slots", "a number for which there is no memory", beyond
    yield "order right behind a packet of its job", "taken the cycle after", True
    yield "packet of the job right behind its order", "taken the cycle after", True
    yield "unknown packets counted", "a receipt tells of packets without a slot", c.counter_bits > 0
    yield "counters of marks read", "a receipt tells of marks by either coin", c.counter_bits > 0
    yield "order and packet at once", "both are offered, and the order is taken", True
    yield "order waits for a receipt", "the receipt before has not been fetched", True
    yield "packet taken while an order waits", "packets pass an order that waits so", True
    yield "order during a stall", "an order is offered while an answer waits", True
    yield "receipt waits", "valid without ready at m_ctrl", True
    yield "answer leaves while a receipt waits", "an unfetched receipt holds no packet", True


def _clock(c: SymphonyConfig) -> Rows:
    yield "time leaps", "two windows and more end between two packets", True
    yield "time leaps far", "64 windows and more do", True
    yield "input waits for a leap", "s_axis is held back though m_axis is not", True
    yield "stall during a leap", "and m_axis stalls meanwhile", True
    yield "order during a leap", "an order is offered to a packet whose time has leapt", True
    yield "time runs back", "a packet with an earlier time", True
    yield "time stops", "time_timeout packets in a row bring no later time", True
    yield (
        "no coin while time stands",
        "Algorithm 1 reaches it, time having stopped",
        True,
    )
    yield "time moves again", "after it had stopped", True
    yield "end of time", "the last time that time_bits can tell", True


def _resets() -> Rows:
    yield "reset in mid-traffic", "with packets inside, which are lost", True
    yield "reset during a stall", "while an answer waits", True
    yield "reset with an order inside", "whose receipt is lost", True
    yield "reset while a receipt waits", "which is lost", True
    yield "reset during a leap", "while a window is looked for", True
    yield "reset during the sweep", "while the memories are initialised", True
    yield "packet offered in reset", "s_axis is valid through a reset, and waits", True
    yield (
        "input waits for the sweep",
        "what went in waits for the memories",
        True,
    )
