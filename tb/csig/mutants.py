"""Deliberate faults of CSIG's hardware; see `tb.mutants`."""

from __future__ import annotations

_T = "tb/csig/"
_CLOCK = _T + "test_clock.py::test_edges_between_packets"
_WRAP = _T + "test_clock.py::test_time_wraps_around_and_begins_anywhere[4294966596]"
_LOOKUP = _T + "test_lookup.py::test_hardware"
_USE = (
    _T + "test_lookup.py::"
    "test_a_use_is_shown_in_the_cycle_in_which_the_packet_comes_to_the_output[both]"
)
_METER = _T + "test_meter.py::test_hardware"
_QUANTIZE = _T + "test_quantize.py::test_tables_are_swapped_as_a_whole"
_REPLACE = _T + "test_replace.py::test_hardware"
_READ = _T + "test_tag.py::test_hardware_reads_tags"
_WRITE = _T + "test_tag.py::test_hardware_changes_value_and_locator_and_no_other_bit"
_TALLY = _T + "test_tally.py::test_hardware"
_HOP = _T + "test_hop.py::"
_SET_UP = _HOP + "test_set_up_by_words_and_one_packet_a_cycle"
_PORT = _T + "test_hop_cocotb.py::test_hop[port]"
_THREE = _T + "test_hop_cocotb.py::test_hop[three-ports]"
_COMPACT = _T + "test_hop_cocotb.py::test_hop[port-compact]"

# Columns: name, file below rtl/, old text, new text, test. Blank lines part the files.
TABLE = (
    ("counters-upper-half-stays", "common/counters.py", "high.eq(count.high + count.carry)",
     "high.eq(count.high)", "tb/common/test_counters.py::test_hardware"),

    ("clock-edge-in-the-window-before", "csig/clock.py", "self.time[:-1] >= edge",
     "self.time[:-1] > edge", _CLOCK),
    ("clock-time-does-not-wrap", "csig/clock.py", "below ^ self.time[-1] ^ edge[self.bits - 1]",
     "self.time >= edge[: self.bits]",
     _WRAP),
    ("clock-edges-forgotten", "csig/clock.py", "kept.eq(Mux(self.accept, 0, self.passed))",
     "kept.eq(0)", _CLOCK),
    ("clock-edges-kept", "csig/clock.py", "kept.eq(Mux(self.accept, 0, self.passed))",
     "kept.eq(self.passed)", _CLOCK),
    ("clock-carry-lost", "csig/clock.py", "carry.eq(total[-1])", "carry.eq(0)", _WRAP),
    ("clock-taken-before-edges-are-counted", "csig/clock.py", "self.settled.eq(~crossed)",
     "self.settled.eq(1)", _CLOCK),
    ("clock-holds-at-every-edge", "csig/clock.py", "self.settled.eq(~beyond)",
     "self.settled.eq(~crossed)",
     _T + "test_clock.py::test_full_rate_while_edges_are_three_cycles_apart"),
    ("clock-load-is-no-edge", "csig/clock.py", "edge.eq(self.load_edge), kept.eq(2)",
     "edge.eq(self.load_edge), kept.eq(0)", _WRAP),
    ("clock-taken-with-a-load", "csig/clock.py", "m.d.comb += self.settled.eq(0)",
     "m.d.comb += self.settled.eq(1)", _COMPACT),

    ("lookup-discarded-updated", "csig/lookup.py", "here.known & ~discarded",
     "here.known", _LOOKUP),
    ("lookup-strips-untagged", "csig/lookup.py", "mine & (record.action == STRIP)",
     "known & (record.action == STRIP)", _LOOKUP),
    ("lookup-unknown-counted-on-pass", "csig/lookup.py",
     "mine & ~here.known & (record.action == UPDATE)", "mine & ~here.known", _LOOKUP),
    ("lookup-value-too-old-a-ns-early", "csig/lookup.py", "here.time <= entry.until",
     "here.time < entry.until", _HOP + "test_a_value_of_software_that_is_too_old"),
    ("lookup-value-from-before-the-reset", "csig/lookup.py",
     'stages.register(of_port.bit_select(i.p.signal, 1), "written")',
     "Cat(ports.bit_select(here.port, 1) for ports in heard).bit_select(here.signal, 1)", _PORT),
    ("lookup-all-ports-are-set-up", "csig/lookup.py", "set_up | (Const(1) << self.record_port)",
     "-1", _THREE),
    ("lookup-agents-write-for-all-ports", "csig/lookup.py",
     "ports | (Const(1) << self.agent.port)", "-1", _THREE),
    ("lookup-use-shown-until-it-leaves", "csig/lookup.py", "came & asks", "o.valid & asks", _USE),
    ("lookup-use-of-what-is-measured", "csig/lookup.py", "came & asks & by_agent", "came & asks",
     _USE),
    ("lookup-stale-where-nobody-asks", "csig/lookup.py", "asks & by_agent & ~fresh",
     "by_agent & ~fresh", _LOOKUP),
    ("lookup-read-in-stall", "csig/lookup.py",
     "read.addr.eq(i.p.port),\n            read.en.eq(stages.advance)",
     "read.addr.eq(i.p.port),\n            read.en.eq(1)", _LOOKUP),

    ("meter-less-than-nothing-left", "csig/meter.py", "Mux(below, 0, Cat(",
     "Mux(below & 0, 0, Cat(", _METER),
    ("meter-borrow-lost", "csig/meter.py", "Mux(low[-1], borrowed, high)", "high", _METER),
    ("meter-short-window-loses-the-borrow", "csig/meter.py", "self.config.bytes_bits - len(whole)",
     "0", _T + "test_meter.py::test_a_packet_of_more_bits_than_the_window_has"),
    ("meter-sees-its-own-window", "csig/meter.py", "after.closed, here.other",
     "spend.left, here.other", _METER),
    ("meter-idle-window-skipped", "csig/meter.py", "Mux(age == CLOSED, word.left, capacity)",
     "word.left", _METER),
    ("meter-window-goes-on", "csig/meter.py", "Mux(age == CURRENT, word.left, capacity)",
     "Mux(age != OLD, word.left, capacity)", _METER),
    ("meter-closed-stays-closed", "csig/meter.py", "old | more | (closed & one)",
     "old | more", _METER),
    ("meter-everybody-is-current", "csig/meter.py", "~(Const(1) << port)", "Const(0)", _METER),
    ("meter-clock-of-another", "csig/meter.py", "low & ~clock | high & clock", "low", _METER),

    ("quantize-bound-in-the-range-below", "csig/quantize.py", "[measure >= word for word",
     "[measure > word for word", _QUANTIZE),
    ("quantize-writes-the-valid-table", "csig/quantize.py", "Cat(~self.bank.bit_select",
     "Cat(self.bank.bit_select", _QUANTIZE),
    ("quantize-swaps-for-all-ports", "csig/quantize.py",
     "self.bank ^ (Const(1) << written.port)", "~self.bank", _QUANTIZE),
    ("quantize-no-wait-behind-a-swap", "csig/quantize.py", "self.write.ready.eq(waiting == 0)",
     "self.write.ready.eq(1)", _COMPACT),
    ("quantize-digits-carry-lost", "csig/quantize.py", "left[:bits] + right[:bits] + carry",
     "left[:bits] + right[:bits]", _QUANTIZE),
    ("quantize-start-ignored", "csig/quantize.py", "rows = [scale.start, *", "rows = [*",
     _QUANTIZE),
    ("quantize-low-digits-kept", "csig/quantize.py", "LEAST_SHIFT - start)",
     "LEAST_SHIFT - 1 - start)", _QUANTIZE),
    ("quantize-wide-code-wraps", "csig/quantize.py", "Mux(moved[WIDE_BITS:].any(), Const(-1,",
     "Mux(moved[WIDE_BITS:].any() & 0, Const(-1,", _QUANTIZE),
    ("quantize-below-the-base", "csig/quantize.py", "Mux(total[-1], 0, code)", "code", _QUANTIZE),
    ("quantize-format-of-the-packet-behind", "csig/quantize.py", "Mux(later.wide, more[0]",
     "Mux(i.p.wide, more[0]", _QUANTIZE),
    ("quantize-agent-ignored", "csig/quantize.py", "later.written, code)", "code, code)", _SET_UP),

    ("replace-ties-take-the-later-hop", "csig/replace.py", "first > second", "first >= second",
     _REPLACE),
    ("replace-keeps-the-largest-of-all", "csig/replace.py", '== "min"', '== "least"', _REPLACE),
    ("replace-though-not-asked", "csig/replace.py", "i.p.update & compare.severe",
     "compare.severe", _REPLACE),

    ("tag-tpid-of-the-other-format", "csig/tag.py", "== c.tpid(format)",
     "== c.tpid(c.formats[0])", _READ),
    ("tag-type-of-two-bits", "csig/tag.py", "types == signal.number",
     "types[:2] == signal.number", _READ),
    ("tag-written-though-not-asked", "csig/tag.py", "Mux(self.replace, choose(", "Mux(1, choose(",
     _WRITE),
    ("tag-locator-in-the-value", "csig/tag.py", '"lm": self.locator', '"lm": self.value', _WRITE),

    ("tally-reading-counts-as-a-packet", "csig/tally.py", '"packets": ~here.reading',
     '"packets": 1', _TALLY),
    ("tally-packet-lost-to-a-reading", "csig/tally.py", "into.ready & ~reading", "into.ready",
     _COMPACT),
    ("tally-reading-leaves-as-a-packet", "csig/tally.py", "out.valid & ~out.p.reading",
     "out.valid", _TALLY),
    ("tally-readings-do-not-wait", "csig/tally.py", "into.ready & ~busy", "into.ready", _TALLY),

    ("hop-delay-for-queue", "csig/hop.py", 'signal.measure == "delay"', 'signal.measure != "delay"',
     _SET_UP),
    ("hop-tags-out-of-step", "csig/hop.py", "answer.valid & answer.ready", "answer.valid",
     _COMPACT),
    ("hop-edges-of-one-clock", "csig/hop.py", "clock.load.bit_select(given.index, 1)",
     "clock.load.bit_select(0, 1)", _THREE),
    ("hop-table-words-at-once", "csig/hop.py", "Mux(table, quantize.write.ready, 1)", "1",
     _COMPACT),
)  # fmt: skip
