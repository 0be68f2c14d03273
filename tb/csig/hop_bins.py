"""The bins of `hop_coverage`: what each means, which test must see it, and where it exists."""

from __future__ import annotations

from collections.abc import Iterator

from models.csig.config import CsigConfig
from models.csig.signals import SIGNALS
from tb.coverage import Bin

TESTS = ("traffic", "pauses", "tables", "counts", "clock", "resets")
"""The cocotb tests; a bin belongs to one of them."""

Rows = Iterator[tuple[str, str, bool]]


def bins(c: CsigConfig, latency: int) -> list[Bin]:
    """Return the bins that a hop of this configuration can reach."""
    return [
        Bin(name, meaning, test)
        for test, table in (
            ("traffic", _tags(c)),
            ("traffic", _measures(c, latency)),
            ("pauses", _pauses()),
            ("tables", _tables(c)),
            ("counts", _counts(c)),
            ("clock", _clock(c)),
            ("resets", _resets(c)),
        )
        for name, meaning, reachable in table
        if reachable
    ]


def _tags(c: CsigConfig) -> Rows:
    known = "compact" in c.formats and c.tpid_compact == 0x9900
    for tag in ("99002b85", "99002842"):
        yield f"known tag 0x{tag}", "one of the two tags that are known answers", known
    for signal, hop in (("abw", 5), ("abw_c", 1), ("delay", 3)):
        name = f"five hops, bottleneck of {signal}"
        yield name, "the path of five hops, and the tag that leaves names the right one", hop > 0
    for format in c.formats:
        for signal in SIGNALS:
            for what, meaning in (
                ("replaced", "the port's value is more severe"),
                ("kept", "the port's value is less severe"),
                ("tie kept", "both are the same, and the earlier hop stays"),
            ):
                yield f"{format} {signal.name} {what}", meaning, True
        yield f"{format} unknown type", "a type that this hop does not know", True
    for format in ("compact", "wide"):
        other = format not in c.formats
        yield f"{format} tag not for this hop", "a tag of a format that is not updated", other
    yield "untagged", "no TPID stands where a tag would", True
    for action in ("pass", "strip", "update"):
        for tagged in ("tagged", "untagged"):
            yield f"{action}, {tagged}", "the port's action, and whether there is a tag", True
    uec = c.layout == "uec"
    yield "D set", "a tag of a trimmed packet", uec
    yield "D set and replaced", "where the policy says so", uec and c.update_discarded
    yield "D clear and replaced", "in a layout that has D", uec
    yield "no record", "a port that software has not set up", c.ports > 1
    yield "port beyond", "a number for which there is no port", c.ports < 1 << c.port_bits
    yield "no quantizer", "a known type that the port does not update", c.native


def _measures(c: CsigConfig, latency: int) -> Rows:
    native, wide, compact = c.native, "wide" in c.formats, "compact" in c.formats
    yield "wide code below its base", "the measure is below the base", native and wide
    yield "wide code beyond its end", "the measure is beyond the last step", native and wide
    yield "compact code of the first range", "the measure is below every bound", native and compact
    yield (
        "compact code of the last range",
        "the measure is at every bound or beyond",
        (native and compact),
    )
    both = c.sources == "both"
    yield "window edge between two packets", "of one port, and it sees the window closed", native
    yield "packet at an edge", "in the first ns of a window, which it counts in", native
    yield "packet before an edge", "in the last ns of a window", native
    yield "idle port", "two edges and more since its last packet: all of C", native
    yield "over-subscribed port", "more bytes than the speed allows: nothing is available", native
    yield "part of a window used", "some is available and some is not", native
    yield "agent and native side by side", "packets of one port in a row, one of each", both
    yield "value of an agent", "it replaces a tag's", c.agent
    yield "stale value", "the agent's value is too old", c.agent
    yield "value at its last ns", "the agent's value is just not too old", c.agent
    yield "value never written", "no agent has written one", c.agent
    some = c.agent and len(c.formats) > 1
    yield "value for the other format alone", "the agent wrote none for the tag's", some
    for cycles in range(1, latency + 1):
        name = f"same port {cycles} cycles later"
        yield name, "a port's next packet so many cycles after its last, undisturbed", True
    yield "packets of one port back to back", "in every stage one of the same port", True
    yield "pipeline full", "a packet in every stage, taken in as many cycles", True


def _pauses() -> Rows:
    yield "input idle", "ready without valid at s_axis, packets inside", True
    yield "output stalled", "valid without ready at m_axis", True
    yield "stall and idle at once", "both of these in one cycle", True
    yield "packet taken during a stall", "blocks fill up behind a stalled output", True
    yield "input stalled", "valid without ready at s_axis", True
    yield "stall longer than latency", "an answer waits for more cycles than the latency", True
    yield "drained and refilled", "a packet comes into a hop that had become empty", True


def _tables(c: CsigConfig) -> Rows:
    yield (
        "table written in mid-traffic",
        "words of tables while the port's packets are inside",
        (c.native),
    )
    yield "table swapped in mid-traffic", "the same for the swap", c.native
    yield "table swapped during a stall", "an answer waits meanwhile", c.native
    yield (
        "word waits behind a swap",
        "s_table is held until packets of the old tables are gone",
        (c.native),
    )
    yield "swap right behind a swap", "the first word behind a swap is one", c.native
    yield "old table's last packet", "packets behind the swap differ from those ahead", c.native
    yield "record changed in mid-traffic", "while packets of the port are inside", True
    yield "agent writes in mid-traffic", "while packets of the port are inside", c.agent
    yield "agent writes during a stall", "an answer waits meanwhile", c.agent
    yield "agent writes ahead of a packet", "the port's packet is taken in the same cycle", c.agent


def _counts(c: CsigConfig) -> Rows:
    yield "counters read in mid-traffic", "while packets of the port are inside", True
    yield "counters cleared in mid-traffic", "the same, and they start from 0", True
    yield "counters of an idle port", "nothing has been counted", True
    yield "reading during a stall", "it is offered while an answer waits", True
    yield "reading takes a packet's place", "with a packet in every stage", True
    yield "reading waits for the last", "whose counters have not been fetched", True
    yield "packet taken while a reading waits", "packets pass", True
    yield "counters wait", "valid without ready at m_count", True
    yield "answer leaves while counters wait", "which hold no packet", True
    for name in ("replaced", "stripped", "unknown"):
        yield f"{name} counted", "a reading tells of some", True
    yield "stale counted", "a reading tells of some", c.agent


def _clock(c: CsigConfig) -> Rows:
    yield "time wraps around", "s_time begins at 0 again", c.time_bits <= 40
    several = c.window_clocks > 1
    yield "edges of several clocks at once", "time passes two clocks' in one cycle", several
    for name, meaning in (
        ("edge loaded in mid-traffic", "software sets an edge with packets inside"),
        ("packet offered at a load", "it waits"),
        ("edges hold a packet", "time passes more edges than a clock can take"),
        ("edges pass during a stall", "and m_axis stalls meanwhile"),
        ("time leaps over windows", "two edges and more by itself, and packets wait"),
        ("time leaps far", "2^20 windows and more, and software sets the edges"),
        ("edges wrap around", "the low bits that edges live in begin at 0 again"),
        ("edges at full rate", "one every 3 cycles, as fast as one clock can count"),
    ):
        yield name, meaning, c.native


def _resets(c: CsigConfig) -> Rows:
    yield "reset in mid-traffic", "with packets inside, which are lost", True
    yield "reset during a stall", "while an answer waits", True
    yield "reset with a reading inside", "whose counters are lost", True
    yield "reset during the sweep", "while the memories are initialised", True
    yield "reset while tables are written", "some of their words are still to come", True
    yield "packet offered in reset", "s_axis is valid through a reset, and waits", True
    yield "packets before any record", "after a reset all tags pass", True
    yield "packet around the first record", "one that it may hold for, or not", True
    yield "packet around the first value", "of an agent, the same", c.agent
