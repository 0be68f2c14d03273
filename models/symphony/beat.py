"""What travels with a packet from block to block: field names and their widths in bits, from bit 0.

    s_axis ─ asked ─► window ─ timed ─► measure ─ measured ─► touch ─ touched ─► progress
           ─ tracked ─► coin ─ tossed ─► red ─ colored ─► tally ─► m_axis, m_ctrl

A beat is a packet or an order of the control plane (`op`), which takes the place of a packet and
passes the same memories in the same order.
"""

from __future__ import annotations

from models.symphony.coin import gap_bits
from models.symphony.config import RED_BITS, SymphonyConfig
from models.symphony.touch import serial_bits

Fields = dict[str, int]

PACKET, READ, GIVE, TAKE = range(4)
"""Values of `op`: a packet; read a job's counters; give it a slot, or start it anew; take it."""

VERDICT = ("ecn", "mark", "symphony", "red", "known", "outpacing")
"""Fields of m_axis_tdata, from bit 0; `models.symphony.marker.Verdict` says what they mean."""


def packet(c: SymphonyConfig) -> Fields:
    """Fields of s_axis_tdata."""
    return {
        "job": c.job_bits,
        "step": c.step_bits,
        "psn": c.psn_bits,
        "last": 1,
        "queue": c.queue_bits,
        "ecn": 2,
    }


def asked(c: SymphonyConfig) -> Fields:
    """A packet with its time and random word, or an order."""
    return {"op": 2, **packet(c), "time": c.time_bits, "random": c.random_bits}


def timed(c: SymphonyConfig) -> Fields:
    """Time has become the serial number of a window, and whether it moves."""
    rest = {name: bits for name, bits in asked(c).items() if name != "time"}
    serials = {"serial": serial_bits(c, c.window_ns)}
    if c.psn_window_ns is not None:
        serials["psn_serial"] = serial_bits(c, c.psn_window_ns)
    return {**rest, "moving": 1, **serials}


def measured(c: SymphonyConfig) -> Fields:
    """The packet's position in its step as psn_rec is stored (`progress`), whether it is above 0
    (`some`) and above N_warmup (`above`)."""
    rest = {name: bits for name, bits in timed(c).items() if name != "psn"}
    return {**rest, "progress": c.rec_bits, "some": 1, "above": 1}


def touched(c: SymphonyConfig) -> Fields:
    """Whether it is the job's first packet in its window of α (`first`), and of psn_rec."""
    rest = {name: bits for name, bits in measured(c).items() if not name.endswith("serial")}
    return {**rest, "first": 1, "psn_first": 1}


def tracked(c: SymphonyConfig) -> Fields:
    """The job's state after the packet, and whether Algorithm 1 reaches the coin (`tossed`)."""
    gone = ("step", "last", "first", "psn_first", "moving", "above")
    rest = {name: bits for name, bits in touched(c).items() if name not in gone}
    return {
        **rest,
        "known": 1,
        "outpacing": 1,
        "tossed": 1,
        "alpha": c.alpha_bits,
        "rec": c.rec_bits,
    }


def tossed(c: SymphonyConfig) -> Fields:
    """Symphony has decided; `gap` is what the random number was compared with, and RED's random
    bits are left of the word."""
    gone = ("tossed", "alpha", "rec", "progress", "some")
    rest = {name: bits for name, bits in tracked(c).items() if name not in gone}
    return {**rest, "random": RED_BITS, "gap": gap_bits(c), "symphony": 1}


def colored(c: SymphonyConfig) -> Fields:
    """RED has decided."""
    rest = {n: bits for n, bits in tossed(c).items() if n not in ("queue", "random")}
    return {**rest, "red": 1}


def counters(c: SymphonyConfig) -> Fields:
    """A job's counters, in the order in which they stand in an answer to the control plane."""
    names = ("packets", "outpacing", "symphony", "red", "unknown") if c.counter_bits else ()
    return dict.fromkeys(names, c.counter_bits)


def order(c: SymphonyConfig) -> Fields:
    """Fields of s_ctrl_tdata."""
    return {"job": c.job_bits, "op": 2}


def receipt(c: SymphonyConfig) -> Fields:
    """Fields of m_ctrl_tdata: the order, whether the job had a slot, and its counters as the order
    found them."""
    return {**order(c), "known": 1, **counters(c)}
