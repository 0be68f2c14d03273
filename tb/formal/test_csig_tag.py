"""Proofs of CSIG's tag, read, compared and written over a path of hops, for all tags and codes."""

from __future__ import annotations

from types import ModuleType
from typing import NamedTuple

import pytest
from amaranth.hdl import Cat, Const, Mux, Value

import rtl.csig.replace
import rtl.csig.tag
from models.csig.beat import tag_bits
from models.csig.config import CsigConfig
from models.csig.signals import SIGNALS
from models.csig.tag import FIELDS
from tb.formal.bench import Bench
from tb.formal.changed import changed, disprove
from tb.formal.prove import prove

pytestmark = pytest.mark.formal

HOPS = 3


class Wish(NamedTuple):
    """What a hop would write, if it wants to."""

    wanted: Value
    code: Value
    locator: Value


class PathBench(Bench):
    """Any tag on a path of hops, each with any code."""

    def __init__(
        self,
        config: CsigConfig,
        tag: ModuleType = rtl.csig.tag,
        replace: ModuleType = rtl.csig.replace,
    ) -> None:
        super().__init__()
        c = self.config = config
        self.modules = tag, replace
        sent = self.free(tag_bits(c), "tag")
        tpid = sent[-16:]
        is_wide = tpid == c.tpid("wide") if "wide" in c.formats else Const(0)
        is_compact = tpid == c.tpid("compact") if "compact" in c.formats else Const(0)
        self.wide, self.tagged = self.see("wide", is_wide), self.see("tagged", is_wide | is_compact)
        self.t = self.named(self.field(sent, "t"), 4, "t")
        self.known = self.see("known", self.tagged & (self.t < 4))
        wishes = [
            Wish(
                self.free(1, f"wanted_{n}"),
                self.free(c.value_bits, f"code_{n}"),
                self.free(c.locator_bits, f"locator_{n}"),
            )
            for n in range(HOPS)
        ]
        for wish in wishes:  # a code and a locator fit into the format, as `Quantize` makes them
            self.assume(self.wide | (wish.code < 32))
        out = self.path(sent, wishes, "out")
        self._extremum(sent, wishes, out)
        back = self.path(sent, wishes[::-1], "back")
        self.check("order_value", self.field(back, "s") == self.field(out, "s"))
        codes = [self.field(sent, "s"), *(wish.code for wish in wishes)]
        ties = Cat(codes[i] == codes[j] for i in range(HOPS + 1) for j in range(i)).any()
        self.check("order", ties | (back == out))
        again = wishes[0]._replace(locator=self.free(c.locator_bits, "other_locator"))
        once = self.path(sent, wishes[:1], "once")
        self.check("idempotent", self.path(once, [again], "twice") == once)

    def field(self, tag: Value, name: str) -> Value:
        """A field of a tag by its format; 0 where it has none."""
        found: list[Value] = []
        for format in self.config.formats:
            at, value = tag_bits(self.config), Const(0)
            for field, bits in FIELDS[format, self.config.layout]:
                at -= bits
                if field == name:
                    value = tag[at : at + bits]
            found.append(value)
        return found[0] if len(found) == 1 else Mux(self.wide, found[1], found[0])

    def mask(self, *names: str) -> Value:
        """Ones where a tag has the fields `names`."""
        masks: list[int] = []
        for format in self.config.formats:
            at, ones = tag_bits(self.config), 0
            for field, bits in FIELDS[format, self.config.layout]:
                at -= bits
                ones |= (((1 << bits) - 1) << at) * (field in names)
            masks.append(ones)
        return Mux(self.wide, masks[-1], masks[0])

    def severe(self, ours: Value, theirs: Value) -> Value:
        """Whether one code is strictly more severe, as `models.csig.signals.more_severe` says."""
        least = Cat(signal.keep == "min" for signal in SIGNALS).bit_select(self.t[:2], 1)
        return Mux(least, ours < theirs, ours > theirs)

    def path(self, sent: Value, wishes: list[Wish], name: str) -> Value:
        """Send a tag through hops; check what each reads; return what leaves."""
        m, c = self.m, self.config
        tag_module, replace_module = self.modules
        tag = sent
        for n, wish in enumerate(wishes):
            read, write = tag_module.ReadTag(c), tag_module.WriteTag(c)
            compare = replace_module.Compare(c)
            m.submodules += [read, write, compare]
            m.d.comb += [
                read.tag.eq(tag),
                compare.signal.eq(read.signal),
                compare.ours.eq(wish.code),
                compare.theirs.eq(read.value),
                write.tag.eq(tag),
                write.wide.eq(read.wide),
                write.value.eq(wish.code),
                write.locator.eq(wish.locator),
                write.replace.eq(wish.wanted & read.tagged & read.known & compare.severe),
            ]
            right = (read.tagged == self.tagged) & (read.known & read.tagged == self.known)
            fields = (read.wide == self.wide) & (read.value == self.field(tag, "s"))
            fields &= read.discarded == self.field(tag, "d")
            fields &= ~self.known | (read.signal == self.t)
            self.check(f"{name}_read_{n}", right & (~self.tagged | fields))
            cut = wish.locator & Mux(self.wide, -1, self.field(Const(-1, tag_bits(c)), "lm"))
            back = (self.field(write.out, "s") == wish.code) & (
                self.field(write.out, "lm") == cut[: c.locator_bits]
            )
            self.check(f"{name}_written_{n}", ~write.replace | back)
            tag = write.out
        return self.see(name, tag)

    def _extremum(self, sent: Value, wishes: list[Wish], out: Value) -> None:
        """What leaves has the most severe value of all, and who first had it."""
        self.check("others_pass", self.known | (out == sent))
        self.check("no_other_bit", ((out ^ sent) & ~self.mask("s", "lm"))[: len(sent)] == 0)
        value, locator = self.field(out, "s"), self.field(out, "lm")
        original = self.field(sent, "s")
        part = self.field(Const(-1, len(sent)), "lm")
        first = self.see("sender_has_it", original == value)
        all_bounded = ~self.severe(original, value)
        has_it: Value = first
        of_first = ~first | (locator == self.field(sent, "lm"))
        for wish in wishes:
            all_bounded &= ~(wish.wanted & self.severe(wish.code, value))
            here = wish.wanted & (wish.code == value)
            of_first &= ~(here & ~has_it) | (locator == (wish.locator & part))
            has_it |= here
        self.check("most_severe", ~self.known | all_bounded)
        self.check("somebodys", ~self.known | has_it)
        self.check("earliest", ~self.known | of_first)


CASES = {
    "draft": CsigConfig(),
    "uec": CsigConfig(layout="uec"),
    "compact": CsigConfig(formats=("compact",), layout="uec"),
    "wide": CsigConfig(formats=("wide",), tpid_wide=0x8888),
}


@pytest.mark.parametrize("name", CASES)
def test_path(name: str) -> None:
    """The extremum, by the earliest hop; in any order; once and for all; and nothing else."""
    prove(PathBench(CASES[name]), f"csig-path-{name}", depth=2, induction=False)


FAULTS = {
    "ties replace": ("replace", "first > second", "first >= second"),
    "the other extremum": ("replace", '== "min"', '== "max"'),
    "swapped fields": (
        "tag",
        '{"s": self.value, "lm": self.locator}',
        '{"lm": self.value, "s": self.locator}',
    ),
    "reserved bits cleared": ("tag", "if name in new else old", "if name in new else old & 0"),
    "any TPID": ("tag", "self.tagged.eq(Cat(announced.values()).any())", "self.tagged.eq(1)"),
    "every type known": ("tag", "Cat(types == signal.number for signal in SIGNALS).any()", "1"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults_are_seen(fault: str) -> None:
    where, old, new = FAULTS[fault]
    modules = {"tag": rtl.csig.tag, "replace": rtl.csig.replace}
    broken = PathBench(CASES["draft"], **{where: changed(modules[where], old, new)})
    disprove(broken, f"csig-path {fault}", depth=2)
