"""Proofs that a job's state is its own: only its packets and orders change it, and each sees it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest
from amaranth.hdl import Module, Mux, Signal, Value

import rtl.common.rewrite
import rtl.symphony.progress
import rtl.symphony.tally
from models.symphony.config import SymphonyConfig
from rtl.common.rewrite import Rewrite
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove
from tb.formal.small import SMALL, surrounded
from tb.formal.watch import Watch

pytestmark = pytest.mark.formal


def own_word(block: Any, rewrite: type[Rewrite] = Rewrite) -> Bench:
    """A block in which one job, any job, is looked at."""
    config = block.config
    bench = Bench(resets=True)
    m: Module = bench.m
    (file,) = Watch(block, rewrite=rewrite).files.values()
    surrounded(bench, block)
    job = bench.constant(config.job_bits, "a_job")
    bench.assume(job < config.jobs)
    word = bench.see("word", Value.cast(file.peek(job)))
    here = bench.see("here", file.here(job))
    leaves = here & file.stages.advance
    shadow = Signal.like(word, name="shadow")
    with m.If(~file.running):
        m.d.sync += shadow.eq(file.init)
    with m.Elif(leaves):
        m.d.sync += shadow.eq(Value.cast(file.next))
    before = bench.past(word, "word")
    quiet = bench.past(file.running & ~leaves & ~bench.reset, "quiet")
    started = Signal()
    m.d.sync += started.eq(1)
    bench.check("no_other_changes_it", ~(quiet & started) | (word == before))
    bench.check("each_sees_it", ~here | (Value.cast(file.value) == shadow))
    (beat,) = file.stages.registers["here"]
    bench.check("address", ~file.stages.valid[0] | (file.address == beat.job))
    swept = job < file.sweep
    bench.check("memory", Mux(file.running, word == shadow, ~swept | (word == file.init)))
    bench.check("waits_for_the_sweep", file.running | ~file.stages.valid[0])
    return bench


BLOCKS: dict[str, tuple[ModuleType, str, SymphonyConfig]] = {
    "log": (rtl.symphony.progress, "Progress", SymphonyConfig(jobs=3, **SMALL)),
    "exact": (
        rtl.symphony.progress,
        "Progress",
        SymphonyConfig(arithmetic="exact", jobs=2, **SMALL),
    ),
    "tally": (rtl.symphony.tally, "Tally", SymphonyConfig(jobs=3, **SMALL)),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_word_is_its_jobs_own(name: str) -> None:
    """By 1-induction; a job's number may also be one that no job has."""
    module, block, config = BLOCKS[name]
    prove(own_word(getattr(module, block)(config)), f"own-word-{name}", depth=1)


@pytest.mark.parametrize("name", BLOCKS)
def test_faults_are_seen(name: str) -> None:
    """A word passed on to whoever comes next; and, of two jobs, one word."""
    module, block, config = BLOCKS[name]
    passing = changed(rtl.common.rewrite, "(address == held) & writes", "writes")
    sharing = changed(module, "connect(stages, i.p.job,", "connect(stages, i.p.job & 2,")
    for fault, broken in (
        ("passing", own_word(getattr(module, block)(config), passing.Rewrite)),
        ("sharing", own_word(getattr(sharing, block)(config))),
    ):
        disprove(broken, f"own-word {name} {fault}", depth=9)
