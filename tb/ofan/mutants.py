"""Deliberate faults of Ofan's banked engines; see `tb.mutants`."""

from __future__ import annotations

_SERVED = "tb/formal/test_queued.py::test_served_in_order_and_always"
_FOUR = _SERVED + "[four-lanes]"
_SWITCH = "tb/formal/test_banked_switch.py::test_answers_as_if_one_by_one"
_RULES = "tb/formal/test_banked_switch.py::test_switch_keeps_the_stream_rules[2-queued]"
_T = "tb/ofan/test_queued.py::"
_PREFIX = "tb/formal/test_matched.py::test_the_longest_prefix_is_served"
_MATCHED = "tb/ofan/test_matched.py::"
_PIPES = "tb/ofan/test_switch_cocotb.py::test_switch[sorted-banked-pipes]"
_NAMED = _T + "test_named_batches"
_W = _NAMED + "[0-w-no-power-of-two]"
_ALL = _NAMED + "[0-lanes-a-multiple-of-w]"
_OFTEN = _T + "test_links_fail_often"
_CHANGES = _T + "test_masks_change_often"
_DOWN = _NAMED + "[2-w-no-power-of-two]"
_MANY = _NAMED + "[0-more-than-twice-w]"
_STEP = "step: Value = self.turn + 1"
_CUT = "step: Value = (self.turn + 1)[: len(self.turn)]"
_POWER = _NAMED + "[0-as-many-as-two-bits-hold]"

# Columns: name, file below rtl/, old text, new text, test. Blank lines part the files.
TABLE = (
    ("banks-forwarding-dropped", "ofan/banks.py", "Mux(same, written, store.read_data)",
     "store.read_data", _W),
    ("banks-forwards-another-row", "ofan/banks.py", "same.eq((self.row == row) &",
     "same.eq(1 &", _W),
    ("banks-all-write", "ofan/banks.py", "self.sweeping | self.advance & self.visit.writes",
     "self.sweeping | self.advance", _W),
    ("banks-read-in-stall", "ofan/banks.py", "store.read.eq(self.advance)", "store.read.eq(1)",
     _W),
    ("banks-route-to-another", "ofan/banks.py", "packet.there & (packet.bank == number)",
     "packet.there & (packet.bank != number)", _W),
    ("banks-sweep-address-off", "ofan/banks.py", "bank.sweep.eq(sweep - 1)",
     "bank.sweep.eq(sweep)", _W),
    ("banks-initial-of-another-key", "ofan/banks.py", "key_of(bank, row, c.engine.banks)",
     "row * c.engine.banks + bank", _W),
    ("banks-pipes-start-alike", "ofan/banks.py", "initial_pointer(c, self.pipe, ",
     "initial_pointer(c, 0, ", _T + "test_second_pipe_has_pointers_of_its_own"),

    ("bank-masks-set-hits-index", "ofan/bank_masks.py", "changing & ~change.select & mine",
     "changing & mine", _CHANGES),
    ("bank-masks-every-bank", "ofan/bank_masks.py", "changing & ~change.select & mine",
     "changing & ~change.select", _DOWN),
    ("bank-masks-one-class-alone", "ofan/bank_masks.py",
     "change.select | (size_class == c.size_classes - 1)", "1", _CHANGES),
    ("bank-masks-do-not-wait", "ofan/bank_masks.py",
     "self.write.valid & self.idle & self.running", "self.write.valid & self.running", _DOWN),
    ("bank-masks-of-another-row", "ofan/bank_masks.py", "c.engine.bank_bits), row[1])",
     "c.engine.bank_bits), row[0])", _DOWN),
    ("bank-masks-down-after-reset", "ofan/bank_masks.py", "Mux(self.running, change.value, -1)",
     "change.value", _DOWN),

    ("match-younger-wave-first", "ofan/match.py", "(lower.old & ~upper.old) | ~row", "~row",
     _FOUR),
    ("match-packets-pass-another-key", "ofan/match.py",
     "near & ((lower.old & ~upper.old) | ~row & (lower.old | ~upper.old))",
     "near & (lower.old & ~upper.old)", _FOUR),
    ("match-waves-not-told-apart", "ofan/match.py", "bank & upper.there & upper.old & ~lower.old",
     "bank & 0", _FOUR),
    ("match-rank-of-both-waves", "ofan/match.py", "near & ~(lower.old ^ upper.old)", "near",
     _FOUR),
    ("match-rank-counts-a-served-packet", "ofan/match.py", "near & ~(lower.old ^ upper.old)",
     "bank & ~(lower.old ^ upper.old)", _SERVED + "[own-queues]"),
    ("match-hidden-rule-dropped", "ofan/match.py", "head.there & (head.old | self.allowed[number])",
     "head.there", _FOUR),
    ("match-starves-the-oldest", "ofan/match.py", "(head.old | self.allowed[number])",
     "(self.allowed[number])", _FOUR),

    ("place-bank-is-the-low-digit", "ofan/place.py", "self.bank.eq(digits(c, key))",
     "self.bank.eq(key[:size])", _W),
    ("place-key-of-another-bank", "ofan/place.py", "Cat(bank ^ digits(c, row)", "Cat(bank", _W),

    ("slots-overwritten", "ofan/slots.py", "self.ready.eq(~full)", "self.ready.eq(1)", _FOUR),
    ("slots-served-packets-stay", "ofan/slots.py", "kept & ~(first[place] & self.served) |",
     "kept |", _FOUR),
    ("slots-reset-forgotten", "ofan/slots.py", "kept = masks[place] & (~reset).replicate(count)",
     "kept = masks[place]", _FOUR),
    ("slots-served-at-once-and-again", "ofan/slots.py",
     "comes = self._lanes((sets, number)) & ~(first[sets, number] & self.served)",
     "comes = self._lanes((sets, number))", _FOUR),
    ("slots-wave-order-dropped", "ofan/slots.py",
     "return ~between if other[0] == low else between",
     "return Const(1) if other[0] == low else Const(0)", _FOUR),
    ("slots-younger-than-the-batch-that-comes", "ofan/slots.py",
     "return Const(1) if other[0] < place[0] else None",
     "return None if other[0] < place[0] else Const(1)", _FOUR),
    ("slots-hidden-rule-dropped", "ofan/slots.py", "held.eq(hidden[: queue + GROUP].any())",
     "held.eq(0)", _FOUR),
    ("slots-hide-in-their-group-alone", "ofan/slots.py", "hidden[: queue + GROUP].any()",
     "hidden[queue : queue + GROUP].any()", _SERVED + "[own-queues]"),
    ("slots-ignore-a-stall", "ofan/slots.py", "with m.If(self.advance | reset):", "with m.If(1):",
     _FOUR),
    ("slots-turn-stands-still", "ofan/slots.py", "turn.eq(turn.rotate_left(1))", "turn.eq(turn)",
     _FOUR),
    ("slots-all-later-waves-at-once", "ofan/slots.py",
     "young[place].eq(later[place] & ~Cat(between).any())", "young[place].eq(later[place])",
     _FOUR),

    ("queued-counts-one-more", "ofan/queued.py",
     "follows = Cat(number.any() for number in rank)",
     "follows = Cat(number.any() | 1 for number in rank)", _W),
    ("queued-count-as-many-as-possible-is-zero", "ofan/queued.py",
     'ones(m, list(asks & follows), f"last_{n}")',
     'ones(m, list(asks & follows), f"last_{n}") * ~(asks & follows)[1:].all()', _ALL),
    ("queued-all-lanes-move-a-pointer-by-none", "ofan/update.py", _STEP, _CUT,
     _NAMED + "[0-fewer-lanes-than-w]"),
    ("queued-last-turn-not-reduced", "ofan/queued.py",
     "turn = modulo(m, last[number], ways[number], bound=queues(c), **limits)",
     "turn = last[number]", _MANY),
    ("queued-wrong-modulus", "ofan/queued.py", "[Const(c.uplinks)] * len(rows)",
     "[Const(c.uplinks + 1)] * len(rows)", _MANY),
    ("queued-unroutable-write", "ofan/queued.py", "later(some[number] & ways[number].any(), ",
     "later(some[number], ", _OFTEN),
    ("queued-writes-after-a-reset", "ofan/queued.py", "& stages.valid[at_banks]", "",
     _T + "test_a_reset_under_traffic[0]"),
    ("queued-lanes-mixed", "ofan/queued.py", "divmod(lane, queues(c))",
     "divmod(lane, queues(c))[::-1]", _NAMED + "[0-square]"),
    ("queued-taken-in-the-sweep", "ofan/queued.py", "stages.advance & running)",
     "stages.advance)", _W),
    ("queued-write-under-traffic", "ofan/bank_masks.py",
     "masks.running & (~waits | in_lookup)", "masks.running", _DOWN),
    ("queued-batches-starve-behind-writes", "ofan/bank_masks.py",
     "engine.write.valid & ~masks.write.ready", "engine.write.valid",
     "tb/ofan/test_writes.py::test_both_get_on[queued-banked-one-pipe]"),

    ("replies-rank-ignored", "ofan/replies.py", "pick.turn.eq(turn)", "pick.turn.eq(0)", _W),
    ("replies-turn-not-reduced", "ofan/replies.py",
     'turn = modulo(m, packet.rank, w, bound=self.count, least=w, name=f"turn_{number}")',
     "turn = packet.rank", _MANY),
    ("replies-base-of-another-bank", "ofan/replies.py", "packet.bank == bank for bank",
     "packet.bank != bank for bank", _W),
    ("replies-unroutable-dropped", "ofan/replies.py", "self._later(ways == 0)", "Const(0)",
     _OFTEN),

    ("switch-a-pipe-takes-alone", "ofan/switch.py", "offered = offered & takes",
     "offered = offered & 1",
     "tb/ofan/test_switch_cocotb.py::test_switch[queued-pipes]"),
    ("switch-pipes-stall-alone", "ofan/switch.py", "pipeline.stall.eq(stalled)",
     "pipeline.stall.eq(0)", _RULES),
    ("switch-waits-for-the-first-pipe", "ofan/switch.py",
     "answers = Cat(pipeline.o.valid for pipeline in self.pipelines).any()",
     "answers = self.pipelines[0].o.valid", _SWITCH + "[pofan]"),

    ("switch-a-pipe-misses-a-write", "ofan/switch.py", "taken = takes.all()",
     "taken = takes.any()", _SWITCH + "[pofan-masks]"),

    ("prefix-lanes-behind-go-on", "ofan/prefix.py", "blocked[: number + 1].any() | clashes",
     "blocked[number] | clashes", _PREFIX + "[one-group]"),
    ("prefix-groups-go-on", "ofan/prefix.py", "all_served = unstopped", "all_served = Const(1)",
     _PREFIX + "[three-groups]"),
    ("prefix-first-row-forgotten", "ofan/prefix.py", "rows = [a | b & ~asked", "rows = [a | b",
     _PREFIX + "[two-groups]"),
    ("prefix-idle-lanes-ask", "ofan/prefix.py", "lower.there & (lower.bank == upper.bank)",
     "lower.bank == upper.bank", _PREFIX + "[two-groups]"),

    ("waiting-overwritten", "ofan/waiting.py", "self.i.ready.eq(~used.all())",
     "self.i.ready.eq(1)", "tb/formal/test_matched.py::test_batches_leave_in_order[2]"),

    ("matched-rank-counts-a-served-packet", "ofan/matched.py", "head.there & ~done[lane]",
     "head.there", _MATCHED + "test_a_batch_of_one_bank_takes_a_cycle_a_key"),
    ("matched-count-as-many-as-possible-is-zero", "ofan/matched.py",
     "Signal(bits_for(start + size + 1), name", "Signal(bits_for(start + size), name",
     _MATCHED + "test_named_batches[8-5-4-0]"),
    ("matched-next-batch-too-early", "ofan/matched.py", "advance & prefix.whole", "advance",
     "tb/formal/test_matched_order.py::test_served_in_order_and_always[two-groups]"),
    ("matched-writes-after-a-reset", "ofan/matched.py", '"writes") & there)', '"writes"))',
     _MATCHED + "test_engine_is_its_model"),

    ("rounds-next-batch-too-early", "ofan/rounds.py", "file.running & (~here | last)",
     "file.running", _T.replace("queued", "rounds") + "test_rounds_are_their_model"),

    ("rounds-bases-of-the-last-round", "ofan/rounds.py", "enable=served[lane]", "enable=1",
     _SWITCH + "[sorted-banked]"),
    ("rounds-a-key-passes-another", "ofan/rounds.py", "left & ~(same & earlier)", "left & ~same",
     "tb/formal/test_rounds.py::test_rounds_in_order_and_always[two-banks]"),

    ("sorted-banked-count-as-many-as-possible-is-zero", "ofan/update.py", _STEP, _CUT,
     "tb/ofan/test_sorted_banked.py::test_named_batches[4-6-0]"),
    ("sorted-banked-idle-pipe-answers", "ofan/sorted_banked.py", "reply.valid & leaving.valid",
     "reply.valid", _PIPES),

    ("store-reads-always", "common/store.py", "read.en.eq(self.read)", "read.en.eq(1)", _W),

    ("engine-pipes-start-alike", "ofan/engine.py", "[config.engine.kind](config, pipe)",
     "[config.engine.kind](config, 0)",
     _T + "test_second_pipe_has_pointers_of_its_own"),
)  # fmt: skip
