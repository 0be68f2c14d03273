"""What cocotb must have seen of a switch (`docs/verification.md` has the table)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from models.ofan.config import OfanConfig
from models.ofan.masks import MaskWrite
from models.ofan.switch import UNROUTABLE
from tb.coverage import Bin, Coverage
from tb.ofan import matched_coverage, queued_coverage, sorted_schedule
from tb.ofan.switch_cycle import Cycle
from tb.ofan.switch_reference import Answers, Reference

TESTS = ("traffic", "pauses", "failures", "resets")
"""The cocotb tests, in the order of their cost; a bin belongs to one of them."""


def bins(c: OfanConfig, latency: int) -> list[Bin]:
    """Return the bins that a switch of this configuration can reach."""
    return [
        Bin(name, meaning, test)
        for test, table in (
            ("traffic", _traffic(c, latency)),
            ("pauses", _pauses(c)),
            ("failures", _failures(c)),
            ("resets", _resets(c, latency)),
        )
        for name, meaning, reachable in table
        if reachable
    ]


Rows = Iterator[tuple[str, str, bool]]

OF_ENGINE: dict[str, Callable[[OfanConfig], Rows]] = {
    "queued-banked": queued_coverage.rows,
    "matched-banked": matched_coverage.rows,
    "sorted-banked": sorted_schedule.rows_of,
}
"""What is to be seen of the banked engines in the test `traffic`."""


def _traffic(c: OfanConfig, latency: int) -> Rows:
    lanes, w = c.lanes_per_pipe, c.uplinks
    for size in range(1, lanes + 1):
        yield f"group of {size}", "so many packets of a batch share a pointer", True
    if c.engine.banked:
        yield "batch leaves in one beat", "all its packets are served at once", True
    else:
        yield "pipeline full", "a batch in every stage, taken in as many cycles", True
        for cycles in range(1, latency + 1):
            yield (
                f"same key {cycles} cycles later",
                "a pointer is used again so many cycles after its last use, nothing having stalled",
                True,
            )
    if c.engine.banked:
        yield from OF_ENGINE[c.engine.kind](c)
    for t in range(c.size_classes):
        yield f"size class {t}", "a packet of this class", True
    yield "all lanes one key", "every lane of a pipe has a packet of one pointer", lanes > 1
    yield "all lanes distinct", "every lane has a packet, no two share a pointer", c.keys >= lanes
    yield "empty batch", "a batch without a packet", True
    yield "full batch", "a batch with a packet on every lane", True
    yield "single packet", "a batch with one packet on several lanes", c.lanes > 1
    several = c.size_classes > 1 and lanes > 1
    yield "classes side by side", "data and ACKs of one destination in one batch", several
    yield "pointer wraps in a group", "a group passes the last position of its pointer", True
    yield "group larger than w", "a group visits an uplink twice", lanes > w
    yield "w odd", "the number of uplinks is odd", w % 2 == 1
    yield "w even", "the number of uplinks is even", w % 2 == 0
    yield "w no power of two", "the pointer wraps before its bits do", bool(w & (w - 1))
    yield "not northbound", "the lookup makes a lane idle", c.lookup != "none"
    yield (
        "prefix written in mid-traffic",
        "an entry of the lookup table changes under traffic",
        c.lookup == "table",
    )


def _pauses(c: OfanConfig) -> Rows:
    fills = c.engine.kind != "queued-banked" or c.lookup != "none"
    yield "input idle", "ready without valid at s_axis, batches in flight", True
    yield "output stalled", "valid without ready at m_axis", True
    yield "stall and idle at once", "both of these in one cycle", True
    yield "batch taken during a stall", "the pipeline fills up behind a stalled output", fills
    yield "input stalled", "valid without ready at s_axis", True
    yield "stall longer than latency", "an answer waits for more cycles than the latency", True
    yield "drained and refilled", "a batch comes into a switch that had become empty", True


def _failures(c: OfanConfig) -> Rows:
    w, masks = c.uplinks, c.masks > 0
    yield "write in mid-traffic", "a mask changes with batches in flight", masks
    yield "write and batch at once", "s_mask and s_axis are valid in one cycle", masks
    yield "write during a stall", "s_mask is valid while an answer waits", masks
    yield "writes back to back", "the next write is offered the cycle after one is taken", masks
    yield "input held back, output free", "a write delays a batch though nothing stalls", masks
    yield "one uplink failed", "a packet whose destination lacks one uplink", masks and w > 1
    yield "many uplinks failed", "a packet whose destination lacks two and more", masks and w > 2
    yield "mask in use rewritten", "the set changes of a mask that destinations use", masks
    yield "uplink skipped", "a packet takes an uplink behind one that failed", masks and w > 1
    yield "all uplinks failed", "a packet is answered unroutable", masks
    yield "whole batch unroutable", "no packet of a batch has an uplink", masks
    yield "back after unroutable", "a pointer serves again after it could not", masks


def _resets(c: OfanConfig, latency: int) -> Rows:
    yield "reset in mid-traffic", "reset with batches in flight, which are lost", True
    yield "reset during a stall", "reset while an answer waits", True
    yield "reset during a write", "reset while a mask write is offered", c.masks > 0
    yield "reset during the sweep", "reset while the memories are initialised", True
    yield "batch offered in reset", "s_axis is valid through a reset, and waits", True
    yield (
        "batches wait for the sweep",
        "ready is low after a reset until the pointer file is initialised",
        c.engine.banked or c.keys > latency,
    )


class SwitchCoverage(Coverage):
    """Counts what a bench sees go into and out of the switch."""

    def __init__(self, run: str, config: OfanConfig, latency: int) -> None:
        super().__init__(run, bins(config, latency))
        self.config = config
        self.latency = latency
        self.hit(f"w {'odd' if config.uplinks % 2 else 'even'}")
        self.hit("w no power of two")
        self.restart()

    def restart(self) -> None:
        """Forget what went in: a reset has come."""
        self._last: dict[tuple[int, int], int] = {}
        self._stuck: set[tuple[int, int]] = set()
        self._stalled_for = 0
        self._worked = self._drained = False

    def entered(self, cycle: int, disturbed: int, batch: Answers, model: Reference) -> None:
        """Count a batch that is taken in `cycle`; the last cycle in which something was
        held back is `disturbed`."""
        c = self.config
        uses: Counter[tuple[int, int]] = Counter()
        for packet, uplink in zip(batch.packets, batch.uplinks, strict=True):
            key = packet.lane // c.lanes_per_pipe, c.key(packet.destination, packet.size_class)
            uses[key] += 1
            self.hit(f"size class {packet.size_class}")
            if c.masks:
                self._failed(key, uplink, model.valid_uplinks(packet.destination))
        for key, size in uses.items():
            self.hit(f"group of {size}")
            before = self._last.get(key, -1)
            if before > disturbed:
                self.hit(f"same key {cycle - before} cycles later")
            self._last[key] = cycle
            if size == c.lanes_per_pipe:
                self.hit("all lanes one key")
            if size > c.uplinks:
                self.hit("group larger than w")
        self._shape(batch, len(uses))

    def _shape(self, batch: Answers, keys: int) -> None:
        c, count = self.config, len(batch.packets)
        self.hit(("empty batch", "single packet")[count] if count < 2 else "")
        if count == c.lanes:
            self.hit("full batch")
            if keys == c.lanes:
                self.hit("all lanes distinct")
        here = {(p.lane // c.lanes_per_pipe, p.destination, p.size_class) for p in batch.packets}
        if len({(pipe, destination) for pipe, destination, _ in here}) < len(here):
            self.hit("classes side by side")
        if batch.wraps:
            self.hit("pointer wraps in a group")
        if batch.skips:
            self.hit("uplink skipped")
        if count and set(batch.uplinks) == {UNROUTABLE}:
            self.hit("whole batch unroutable")

    def _failed(self, key: tuple[int, int], uplink: int, valid: int) -> None:
        lost = self.config.uplinks - valid.bit_count()
        if uplink == UNROUTABLE:
            self.hit("all uplinks failed")
            self._stuck.add(key)
            return
        if key in self._stuck:
            self._stuck.discard(key)
            self.hit("back after unroutable")
        if lost:
            self.hit("one uplink failed" if lost == 1 else "many uplinks failed")

    def written(self, change: MaskWrite, in_flight: bool, model: Reference) -> None:
        """Count a change of the masks, before `model` has it."""
        if in_flight:
            self.hit("write in mid-traffic")
        rewritten = change.select and model.masks[change.address] != change.value
        if rewritten and change.address in model.numbers:
            self.hit("mask in use rewritten")

    def cycle(self, now: Cycle) -> None:
        """Count what the handshakes of one cycle show."""
        stalled = now.answer and not now.answer_taken
        held_back = now.offered and not now.taken
        self._stalled_for = self._stalled_for + 1 if stalled else 0
        seen = {
            "input idle": now.taken and not now.offered and now.in_flight > 0,
            "output stalled": stalled,
            "stall and idle at once": stalled and not now.offered,
            "batch taken during a stall": stalled and now.offered and now.taken,
            "stall longer than latency": self._stalled_for > self.latency,
            "input stalled": held_back,
            "batches wait for the sweep": held_back and now.sweeping,
            "input held back, output free": (
                held_back and now.writing and not stalled and not now.sweeping
            ),
            "write during a stall": now.writing and stalled,
            "write and batch at once": now.writing and now.offered,
            "drained and refilled": now.in_flight > 0 and self._drained,
        }
        for name, happened in seen.items():
            if happened:
                self.hit(name)
        self._worked |= now.in_flight > 0
        self._drained = self._worked and not now.in_flight
