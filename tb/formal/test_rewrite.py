"""Proof of the rewritten memory: each beat sees what the last beat of its address has left."""

from __future__ import annotations

from types import ModuleType

import pytest
from amaranth.hdl import Mux, Signal
from amaranth.lib import data, stream

import rtl.common.rewrite
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.watch import SeenStages, seen

pytestmark = pytest.mark.formal


def add(bench: Bench, module: ModuleType, rows: int, latency: int) -> None:
    """Add a block around a memory, in which a beat leaves any word it likes, and its checks.

    The shadow is one register: what the last beat of one address, any address, has left.
    """
    name = f"rows{rows}_{latency}"
    m = bench.m
    file = seen(module.Rewrite)(m, 2, rows, 1, name)
    bits = max(1, (rows - 1).bit_length())
    ask = stream.Signature(data.StructLayout({"address": bits, "write": 1}))
    i, o = ask.create(), stream.Signature(1).create()
    bench.drive(i, f"{name}_i")
    bench.drain(o, f"{name}_o")
    stages = SeenStages(m, i, o, depth=latency, enabled=file.running)
    here = stages.register(i.p, f"{name}_here")
    value, after = file.connect(stages, i.p.address, here.write)
    m.d.comb += after.eq(bench.free(2, f"{name}_next"))
    bench.assume((i.p.address < rows) | ~i.p.write)

    mine = bench.constant(i.p.address.shape(), f"{name}_mine")
    bench.assume(mine < rows)
    shadow = Signal(2, name=f"{name}_shadow")
    with m.If(~file.running):
        m.d.sync += shadow.eq(1)
    with m.Elif(file.here(mine) & stages.advance & here.write):
        m.d.sync += shadow.eq(after)
    running = bench.see(f"{name}_running", file.running)
    known = running | (mine < file.sweep)
    word = Mux(running, shadow, 1)
    bench.check(f"{name}_sees_what_was_left", ~file.here(mine) | (value == shadow))
    bench.check(f"{name}_memory", ~known | (file.peek(mine) == word))
    bench.check(f"{name}_waits_for_the_sweep", running | ~stages.valid[0])


def rewritten(module: ModuleType) -> Bench:
    """Memories of 1, 3 and 4 words, in blocks of 1 and 2 stages; with resets in any cycle."""
    bench = Bench(resets=True)
    for rows, latency in ((1, 1), (3, 2), (4, 1)):
        add(bench, module, rows, latency)
    return bench


def test_each_beat_sees_what_the_last_one_left() -> None:
    """By 1-induction: any sequence of addresses, at every distance, through any stalls."""
    prove(rewritten(rtl.common.rewrite), "rewrite", depth=1)


FAULTS = {
    "no forwarding": ("Mux(same, ", "Mux(0, "),
    "forwards what is not written": ("(address == held) & writes", "address == held"),
    "reads in a stall": ("read.en.eq(stages.advance)", "read.en.eq(1)"),
    "writes elsewhere": ("port.addr.eq(held)", "port.addr.eq(address)"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    broken = rewritten(changed(rtl.common.rewrite, *FAULTS[fault]))
    disprove(broken, f"rewrite {fault}", depth=9)
