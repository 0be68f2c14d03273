"""Deliberate faults of the hardware: one-line changes, each with the test that must catch it."""

from __future__ import annotations

from dataclasses import dataclass

from tb.csig import mutants as csig
from tb.ofan import mutants as banked
from tb.symphony import mutants as symphony


@dataclass(frozen=True)
class Mutant:
    """A fault: in `file`, the text `old`, which stands there once, becomes `new`; then `test`, a
    node id of pytest, must fail."""

    name: str
    file: str
    old: str
    new: str
    test: str


_ARITHMETIC = "tb/formal/test_arithmetic.py::"
_SORTER = "tb/formal/test_sorter.py::test_output_is_the_input_in_order"
_STAGES = "tb/formal/test_stage.py::test_no_beat_is_lost_doubled_or_reordered[2]"
_RULES = "tb/formal/test_stage.py::test_blocks_keep_the_stream_rules"
_UPDATE = "tb/formal/test_update.py::test_update_is_a_register_file"
_COMBINE = "tb/formal/test_combine.py::test_combine_counts[4-1]"
_SWITCH = "tb/formal/test_switch.py::test_answers_as_if_one_by_one"
_PI = _ARITHMETIC + "test_pi_is_a_permutation_and_positions_its_inverse"
_O = "tb/ofan/"

# Columns: name, file below rtl/, old text, new text, test. Blank lines part the files.
_TABLE = (
    ("modulo-strict", "common/modulo.py", "rest >= multiple", "rest > multiple",
     _ARITHMETIC + "test_modulo"),
    ("modulo-a-step-short", "common/modulo.py", "while shift:", "while shift > 1:",
     _ARITHMETIC + "test_modulo"),

    ("rank-one-too-many", "common/select.py",
     "total.eq(count + Mux(position[level - 1], lower, 0))",
     "total.eq(count + Mux(position[level - 1], lower, 0) + (level == 1))",
     _ARITHMETIC + "test_rank_and_select"),
    ("select-one-too-few", "common/select.py", "turn.eq(rest >= lower)", "turn.eq(rest > lower)",
     _ARITHMETIC + "test_rank_and_select"),
    ("select-keeps-index", "common/select.py", "left.eq(Mux(turn, rest - lower, rest))",
     "left.eq(rest)", _ARITHMETIC + "test_rank_and_select"),

    ("sorter-falling", "common/sorter.py", "return least, most", "return most, least",
     _SORTER + "[bitonic-4-3-2]"),
    ("sorter-rank-dropped", "common/sorter.py", "enumerate(self.network, start=1)",
     "enumerate((*self.network[:-1], ()), start=1)", _SORTER + "[odd-even-merge-4-3-2]"),
    ("sorter-item-doubled", "common/sorter.py", "low[key:] > high[key:], low, high",
     "low[key:] > high[key:], high, high", _SORTER + "[bitonic-4-3-2]"),
    ("sorter-ignores-lowest-key-bit", "common/sorter.py", "key = self.payload_bits",
     "key = self.payload_bits + 1", _SORTER + "[bitonic-4-3-2]"),

    ("stage-valid-not-reset", "common/stage.py", 'Signal(name=f"valid_{stage}")',
     'Signal(name=f"valid_{stage}", reset_less=True)', _STAGES),
    ("stage-payload-moves-in-stall", "common/stage.py", "self._m.If(self.advance & Value",
     "self._m.If(Value", _RULES),
    ("stage-valid-moves-in-stall", "common/stage.py", "with m.If(self.advance):",
     "with m.If(self.advance | 1):", _STAGES),
    ("stage-ready-ignores-sweep", "common/stage.py", "self.advance & Value.cast(enabled)",
     "self.advance", _UPDATE + "[w3]"),
    ("stage-keeps-its-bubbles", "common/stage.py", "moves = o.ready | ~o.valid",
     "moves = o.ready", _STAGES),

    ("sort-not-stable", "ofan/sort.py", "Const(number, c.lane_bits)", "Const(0, c.lane_bits)",
     _O + "test_sort.py::test_named_batches[bitonic]"),
    ("sort-idle-lanes-first", "ofan/sort.py", "lane.key, ~lane.valid", "lane.key, lane.valid",
     _O + "test_sort.py::test_named_batches[bitonic]"),
    ("sort-drops-fence", "ofan/sort.py", "tag.eq(self.i.p.fence)", "tag.eq(0)",
     _O + "test_pipeline.py::test_a_write_takes_one_slot"),

    ("combine-joins-idle-lanes", "ofan/combine.py", "here.valid & left.valid", "left.valid",
     _COMBINE),
    ("combine-counts-one-less", "ofan/combine.py", "before[left] + 1, 0", "before[left], 0",
     _COMBINE),
    ("combine-first-is-master", "ofan/combine.py", "~(joined >> 1)", "~joined", _COMBINE),
    ("combine-idle-master", "ofan/combine.py", "master[lane] & beat.items[lane].valid",
     "master[lane]", _COMBINE),

    ("masks-fence-does-not-wait", "ofan/masks.py", "running & ~fence", "running",
     _O + "test_masks.py::test_the_beat_behind_a_fence_waits_one_cycle"),
    ("masks-set-write-hits-index", "ofan/masks.py", "index_write.en.eq(changing & ~change.select)",
     "index_write.en.eq(changing)", _O + "test_masks.py::test_masks_is_its_model"),
    ("masks-index-write-hits-set", "ofan/masks.py", "set_write.en.eq(changing & change.select)",
     "set_write.en.eq(changing)", _O + "test_masks.py::test_masks_is_its_model"),
    ("masks-index-by-key", "ofan/masks.py", "index_read.addr.eq(destination)",
     "index_read.addr.eq(key)", _O + "test_pipeline.py::test_pipeline_is_its_model"),
    ("masks-down-after-reset", "ofan/masks.py", "set_write.data.eq(-1)", "set_write.data.eq(0)",
     _O + "test_masks.py::test_named_batches[8-3-1]"),
    ("masks-sweep-an-entry-short", "ofan/masks.py", "set_write.en.eq(sweep < c.masks)",
     "set_write.en.eq(sweep < c.masks - 1)", _SWITCH + "[w2-masks]"),
    ("masks-turn-not-reduced", "ofan/masks.py",
     "turn = modulo(m, counted.position, c.uplinks, bound=bound, least=c.uplinks)",
     "turn = counted.position", _O + "test_masks.py::test_named_batches[8-3-0]"),
    ("masks-of-another-key", "ofan/masks.py", "positions.key.eq(beat_set.items[lane].key)",
     "positions.key.eq(beat_set.items[0].key)", _O + "test_masks.py::test_masks_is_its_model"),

    ("pi-without-addition", "ofan/order.py", "kept + id2, w", "kept, w", _PI + "[6]"),
    ("pi-without-xor", "ofan/order.py", "mixed.eq(looked_up ^ id1)", "mixed.eq(looked_up)",
     _PI + "[4]"),
    ("pi-xor-leaves-the-ports", "ofan/order.py", "Mux(mixed < w, mixed", "Mux(mixed <= w, mixed",
     _PI + "[6]"),
    ("positions-turned-the-other-way", "ofan/order.py", "rotate_right(", "rotate_left(",
     _PI + "[6]"),

    ("update-forwarding-dropped", "ofan/update.py", "Mux(self.match.any(), forwarded",
     "Mux(self.match.any() & 0, forwarded", _UPDATE + "[w3]"),
    ("update-forwards-a-lane-off", "ofan/update.py", "(self.match & written).any()",
     "(self.match.rotate_left(1) & written).any()", _UPDATE + "[w3]"),
    ("update-forwards-what-was-not-written", "ofan/update.py", "stages.valid[0] & item.master &",
     "item.master &", _UPDATE + "[w3]"),
    ("update-write-ignores-masks", "ofan/update.py",
     "routable = item.ways != 0 if c.masks else Const(1)", "routable = Const(1)",
     _O + "test_update.py::test_unroutable_groups_write_nothing"),
    ("update-all-of-a-group-write", "ofan/update.py", "item.master & routable",
     "item.valid & routable", _O + "test_update.py::test_named_batches[8-5-0]"),
    ("update-reads-in-stall", "ofan/update.py", "read.en.eq(stages.advance)", "read.en.eq(1)",
     _UPDATE + "[w3]"),
    ("update-advances-one-less", "ofan/update.py", "step: Value = self.turn + 1",
     "step: Value = self.turn", _UPDATE + "[w3]"),
    ("update-wrong-modulus", "ofan/update.py", "modulo(m, last + step, w, bound=2 * w, least=w",
     "modulo(m, last + step, w + 1, bound=2 * w, least=w", _UPDATE + "[w3]"),
    ("update-sweep-address-off", "ofan/update.py", "write.addr.eq(sweep - 1)",
     "write.addr.eq(sweep)", _UPDATE + "[w3]"),
    ("update-ack-starts-as-data", "ofan/update.py", "initial_pointer(c, self.pipe, d, t)",
     "initial_pointer(c, self.pipe, d, 0)", _SWITCH + "[w3]"),
    ("update-pipes-start-alike", "ofan/update.py", "initial_pointer(c, self.pipe, d, t)",
     "initial_pointer(c, 0, d, t)",
     _O + "test_update.py::test_second_pipe_has_pointers_of_its_own"),

    ("decombine-unroutable-dropped", "ofan/decombine.py", "item.valid & (item.ways == 0)",
     "item.valid & (item.ways == 0) & 0", _O + "test_decombine.py::test_named_batches[6-8-2]"),
    ("decombine-copies-past-a-master", "ofan/decombine.py", "Mux(found[lane], bases[lane]",
     "Mux(found[source], bases[lane]", _O + "test_decombine.py::test_named_batches[8-5-0]"),
    ("decombine-turn-ignored", "ofan/decombine.py", "total = self.base + self.turn",
     "total = self.base + 0", _O + "test_decombine.py::test_named_batches[8-5-0]"),

    ("unsort-does-nothing", "ofan/unsort.py", "key.eq(item.lane)", "key.eq(number)",
     _O + "test_unsort.py::test_every_permutation_of_five_lanes[bitonic]"),
    ("unsort-valid-dropped", "ofan/unsort.py", "item.unroutable, item.valid",
     "item.unroutable, item.unroutable", _O + "test_unsort.py::test_unsort_is_its_model"),

    ("pipeline-wrong-key", "ofan/pipeline.py", "request.size_class * c.destinations",
     "request.size_class * c.size_classes", _O + "test_pipeline.py::test_named_batches[5-7-2]"),
    ("pipeline-fence-leaves", "ofan/pipeline.py", "last.valid & ~last.p.fence", "last.valid",
     _SWITCH + "[w2-masks]"),
    ("pipeline-batch-lost-to-a-fence", "ofan/pipeline.py", "keyed.ready & ~announce),",
     "keyed.ready),", _SWITCH + "[w2-masks]"),
    ("pipeline-write-announced-again", "ofan/pipeline.py", "engine.write.valid & ~announced",
     "engine.write.valid", _O + "test_pipeline.py::test_a_write_takes_one_slot"),
    ("pipeline-fence-has-packets", "ofan/pipeline.py", "request.valid & ~announce",
     "request.valid", _SWITCH + "[w2-masks]"),

    ("lookup-own-prefix-goes-north", "ofan/lookup.py", "(prefix != self.own_prefix) & ", "",
     _O + "test_lookup.py::test_aligned_form_is_its_model"),
    ("lookup-numbers-keep-own", "ofan/lookup.py", "numbered.eq(prefix - below)",
     "numbered.eq(prefix)", _O + "test_lookup.py::test_aligned_form_is_its_model"),
    ("lookup-local-goes-north", "ofan/lookup.py", "passed[number].valid & read.data.northbound",
     "passed[number].valid", _O + "test_lookup.py::test_table_form_is_its_model"),

    ("switch-lanes-mixed", "ofan/switch.py", "lane = first + number",
     "lane = first + c.lanes_per_pipe - 1 - number", _SWITCH + "[w3]"),
    ("switch-pipes-overlap", "ofan/switch.py", "first = pipe * c.lanes_per_pipe",
     "first = pipe * 0", _SWITCH + "[pofan]"),
    ("switch-flag-dropped", "ofan/switch.py", "Cat(o.p[number].uplink, o.p[number].unroutable)",
     "o.p[number].uplink", _SWITCH + "[w2-masks]"),
)  # fmt: skip

MUTANTS = tuple(
    Mutant(name, f"rtl/{file}", old, new, test)
    for name, file, old, new, test in (*_TABLE, *banked.TABLE, *symphony.TABLE, *csig.TABLE)
)
