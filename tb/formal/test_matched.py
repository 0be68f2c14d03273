"""Proofs of which packets `matched-banked` serves when: batches in their order, of each the longest
prefix that asks no bank for two keys, and the first packet always."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Array, Cat, Const, Signal, Value, unsigned

import rtl.ofan.prefix
import rtl.ofan.waiting
from models.ofan.config import OfanConfig
from models.ofan.engine import Engine
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.naive import total
from tb.formal.prove import prove
from tb.formal.watch import insides

pytestmark = pytest.mark.formal


def small(lanes: int, group: int, banks: int, keys: int) -> OfanConfig:
    engine = Engine(kind="matched-banked", group=group, banks=banks)
    return OfanConfig(
        lanes=lanes, uplinks=2, destinations=keys, size_classes=1, masks=0, engine=engine
    )


CASES = {
    "two-groups": small(4, 2, banks=2, keys=6),
    "one-group": small(4, 4, banks=2, keys=4),
    "three-groups": small(6, 2, banks=2, keys=4),
    "one-bank": small(4, 2, banks=1, keys=3),
}


def prefix_bench(config: OfanConfig, prefix: ModuleType = rtl.ofan.prefix) -> Bench:
    """Any packets on any lanes; what a bank serves, lane after lane."""
    bench = Bench()
    dut = bench.m.submodules.dut = prefix.Prefix(config)
    lanes = bench.free(dut.lanes.shape(), "lanes")
    bench.m.d.comb += dut.lanes.eq(lanes)
    bench.see("served", dut.served)
    size = prefix.group_of(config)
    going: Value = Const(1, 1)
    for n, lane in enumerate(lanes):
        clash = [
            other.there & (other.bank == lane.bank) & (other.row != lane.row)
            for other in list(lanes)[:n]
        ]
        stops = lane.there & (Cat(clash).any() if clash else Const(0))
        going = bench.named(going & ~stops, 1, f"going_{n}")
        bench.check(f"served_{n}", dut.served[n] == (lane.there & going))
        ahead = [
            other.there & (other.bank == lane.bank) for other in list(lanes)[n // size * size : n]
        ]
        bench.check(f"rank_{n}", ~dut.served[n] | (dut.ranks[n] == total(ahead)))
        row = Array(dut.rows)[lane.bank]
        bench.check(f"row_{n}", ~dut.served[n] | (row == lane.row))
        first = ~Cat(other.there for other in list(lanes)[:n]).any() if n else Const(1)
        bench.check(f"no_starvation_{n}", ~(first & lane.there) | dut.served[n])
    return bench


@pytest.mark.parametrize("name", CASES)
def test_the_longest_prefix_is_served(name: str) -> None:
    """All batches: no packet passes an earlier one, a bank serves one row, the first packet is
    always served, and ranks count the packets of the group that go before."""
    prove(prefix_bench(CASES[name]), f"prefix-{name}", depth=2, induction=False)


def in_a_ring(bench: Bench, queue: dict[str, Any], inside: Value) -> None:
    """Check that the slots in use are as many as are `inside`, one after the other from the head
    to the tail."""
    head, tail, used = queue["head"], queue["tail"], queue["used"]
    depth = len(used)
    bench.check("one_head", (head != 0) & ((head & (head - 1)) == 0))
    for count in range(depth + 1):
        full = [Cat(head[(n - k) % depth] for k in range(count)).any() for n in range(depth)]
        there = (used == Cat(full)) & (tail == head.rotate_left(count % depth))
        bench.check(f"ring_{count}", (inside != count) | there)
    bench.check("room", inside <= depth)


def queue_bench(depth: int, waiting: ModuleType = rtl.ofan.waiting) -> Bench:
    """Batches that carry running numbers; any stalls, and resets in any cycle."""
    bench = Bench(resets=True)
    m = bench.m
    m.submodules.dut = dut = waiting.BatchQueue(unsigned(4), depth)
    parts = insides(dut)
    sent, left = Signal(4), Signal(4)
    m.d.comb += [dut.i.valid.eq(bench.free(1, "i_valid")), dut.i.payload.eq(sent)]
    bench.drain(dut.o)
    entered = bench.see("entered", dut.i.valid & dut.i.ready)
    gone = bench.see("gone", dut.o.valid & dut.o.ready)
    m.d.sync += [sent.eq(sent + entered), left.eq(left + gone)]
    inside = bench.see("inside", (sent - left)[:4])
    bench.check("each_once_in_order", ~dut.o.valid | (dut.o.payload == left))
    bench.check("none_lost", dut.o.valid == ((inside != 0) | dut.i.valid))
    bench.check("ready_while_there_is_room", dut.i.ready == (inside < depth))
    in_a_ring(bench, parts, inside)
    for n, slot in enumerate(parts["slots"]):
        for first in range(depth):  # where the head is
            due = (slot == (left + (n - first) % depth)[:4]) | ~parts["used"][n]
            bench.check(f"slot_{n}_{first}", ~parts["head"][first] | due)
    return bench


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_batches_leave_in_order(depth: int) -> None:
    """By 1-induction: none is lost, doubled or reordered, there is room for `depth`, and one that
    finds the queue empty passes through."""
    prove(queue_bench(depth), f"batch-queue-{depth}", depth=1)


FAULTS = {
    "blocked alone": (
        "stops[number].eq(blocked[: number + 1].any() | clashes)",
        "stops[number].eq(blocked[number] | clashes)",
    ),
    "groups not chained": ("all_served = unstopped", "all_served = Const(1)"),
    "first row of a bank forgotten": ("rows = [a | b & ~asked", "rows = [a | b"),
    "idle lanes ask": ("near[-1].eq(lower.there & (", "near[-1].eq(("),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_of_the_prefix_are_seen(fault: str) -> None:
    broken = prefix_bench(small(6, 3, banks=2, keys=4), changed(rtl.ofan.prefix, *FAULTS[fault]))
    disprove(broken, f"prefix {fault}", depth=2)


def test_a_lost_batch_is_seen() -> None:
    module = changed(rtl.ofan.waiting, "~used.all()", "used.any() | ~used.any()")
    disprove(queue_bench(2, module), "batch queue overwritten", depth=6)
