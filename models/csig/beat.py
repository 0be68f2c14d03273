"""What travels with a packet from block to block: field names and their widths in bits, from bit 0.

    asked ─► clock ─ timed ─► lookup ─ chosen ─► meter ─ measured ─► quantize ─ coded ─► replace
          ─ answered ─► with the tag: rebuilt ─► tally ─►

The tag itself waits in a queue meanwhile; `models.csig.tag` says which bits are taken from it
before, and put into it behind.
"""

from __future__ import annotations

from models.csig.config import CsigConfig
from models.csig.signals import SIGNAL_BITS
from models.csig.tables import RECORD_BITS, SCALE_BITS, SHIFT_BITS, START_BITS
from models.csig.tag import size

Fields = dict[str, int]

FLAGS = ("replaced", "stripped", "unknown", "stale")
"""Flags of m_axis_tdata, above the tag."""


def tag_bits(c: CsigConfig) -> int:
    """Width of a tag on a port, bits: 64, or 32 where only compact tags are known. The first bit on
    the wire is on top; a compact tag stands in the upper 32 of 64."""
    return 8 * max(size(format) for format in c.formats)


def packet(c: CsigConfig) -> Fields:
    """Fields of s_axis_tdata."""
    return {
        "tag": tag_bits(c),
        "port": c.port_bits,
        "bytes": c.bytes_bits,
        "delay": c.delay_bits,
        "queue": c.queue_bits,
    }


def asked(c: CsigConfig) -> Fields:
    """A packet and what its tag asks for: the number of a known signal, and whether it is one; its
    value; D; whether the tag is wide, and whether there is one. To be measured: its length, and
    `other`, the delay or the queue, whichever the signal is about."""
    size = {"bytes": c.bytes_bits, "other": max(c.delay_bits, c.queue_bits)} if c.native else {}
    return {
        "port": c.port_bits,
        **size,
        "signal": SIGNAL_BITS,
        "known": 1,
        "value": c.value_bits,
        "discarded": 1,
        "wide": 1,
        "tagged": 1,
    }


def timed(c: CsigConfig) -> Fields:
    """How many edges of each clock have passed since the packet before, and for an agent's values
    the time."""
    time = {"time": c.time_bits} if c.agent else {}
    return {**asked(c), **time, **{f"passed_{clock}": 2 for clock in range(c.window_clocks)}}


def chosen(c: CsigConfig) -> Fields:
    """What the port wants of the tag: `update` it, by a value of its own or by the agent's
    `written` one; `bank` says which of the port's tables are valid."""
    gone = ("time", "known", "discarded", "tagged")
    rest = {name: bits for name, bits in timed(c).items() if name not in gone}
    native = {"bank": 1} if c.native else {}
    agent = {"written": c.value_bits} if c.agent else {}
    both = {"by_agent": 1} if c.native and c.agent else {}
    return {**rest, "update": 1, "stripped": 1, "unknown": 1, "stale": 1, **native, **agent, **both}


def measured(c: CsigConfig) -> Fields:
    """What the signal is about has been measured."""
    gone = ("bytes", "other", *(f"passed_{clock}" for clock in range(c.window_clocks)))
    rest = {name: bits for name, bits in chosen(c).items() if name not in gone}
    return {**rest, **({"measure": c.measure_bits} if c.native else {})}


def coded(c: CsigConfig) -> Fields:
    """The port's own code for it."""
    gone = ("measure", "bank", "by_agent", "written")
    rest = {name: bits for name, bits in measured(c).items() if name not in gone}
    return {**rest, "code": c.value_bits}


def answered(c: CsigConfig) -> Fields:
    """Value and locator to put into the tag if it is `replaced`, and what else happened to it."""
    return {
        "port": c.port_bits,
        "value": c.value_bits,
        "locator": c.locator_bits,
        **dict.fromkeys(FLAGS, 1),
    }


def rebuilt(c: CsigConfig) -> Fields:
    """The tag as it leaves, and what happened to it."""
    return {"port": c.port_bits, "tag": tag_bits(c), **dict.fromkeys(FLAGS, 1)}


COUNTERS = ("packets", *FLAGS)
"""What is counted at each port."""

COUNTER_BITS = 32


def count_read(c: CsigConfig) -> Fields:
    """Fields of s_count_tdata: whose counters, and whether to start them from 0."""
    return {"port": max(c.port_bits, 1), "clear": 1}


def count_answer(c: CsigConfig) -> Fields:
    """Fields of m_count_tdata."""
    return {"port": max(c.port_bits, 1), **dict.fromkeys(COUNTERS, COUNTER_BITS)}


def table_write(c: CsigConfig) -> Fields:
    """Fields of s_table_tdata: `models.csig.tables.Write`."""
    value = max(SCALE_BITS + START_BITS + SHIFT_BITS if "wide" in c.formats else 0, c.time_bits)
    return {
        "kind": 3,
        "port": max(c.port_bits, 1),
        "signal": SIGNAL_BITS,
        "index": 5,
        "value": max(value, c.measure_bits + 1, RECORD_BITS),
    }


def agent_write(c: CsigConfig) -> Fields:
    """Fields of s_agent_tdata: values for compact and wide tags, whether each is there, and the
    time until which they hold."""
    values = {f"{format}_value": 5 if format == "compact" else 20 for format in c.formats}
    there = {f"{format}_there": 1 for format in c.formats}
    return {
        "port": max(c.port_bits, 1),
        "signal": SIGNAL_BITS,
        **values,
        **there,
        "until": c.time_bits,
    }


def agent_use(c: CsigConfig) -> Fields:
    """Fields of m_agent_tdata: whose value for which signal a packet asks for, whether one has been
    `written` since the reset, until when it holds, and the packet's time."""
    return {
        "port": max(c.port_bits, 1),
        "signal": SIGNAL_BITS,
        "written": 1,
        "until": c.time_bits,
        "time": c.time_bits,
    }
