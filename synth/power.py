"""The paper's power claim with measured activity (seed appendix I).

The paper has 127,000 gates, 1 GHz, an assumed activity of 10 % and 6 mW, so 0.47 fJ a gate and
toggle. Here the same energy meets the toggles of the mapped engine, its pointers in flip-flops
included. Not modelled: wires, the clock tree and clock gates, glitches, leakage.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import connect, flipped

from models.ofan.config import OfanConfig, preset
from models.ofan.study_traffic import PERIOD, TRAFFIC, Size
from rtl.ofan.combine import Combine
from rtl.ofan.engine import pointer_engine
from rtl.ofan.sort import Sort
from synth.activity import STREAMS, Activity, Simulation
from synth.netlist import whole_netlist
from synth.parts import Progress
from synth.records import COMMITTED, Record, counted, read_records, write_records
from synth.table import Table, shown

PAPER_GATES, PAPER_ACTIVITY, PAPER_WATT, CLOCK = 127_000, 0.1, 6e-3, 1e9
ENERGY = PAPER_WATT / (PAPER_GATES * PAPER_ACTIVITY * CLOCK)
"""The paper's energy a gate and toggle, J."""

PRESETS = ("edge-k64-queued", "edge-k12-queued", "edge-k64")
"""Presets that are measured."""
RECORDS = COMMITTED / "power.json"
SHOWN = {
    "packets a cycle": "packets a cycle",
    "gates": "GE",
    "activity": "activity, %",
    "activity of logic": "of logic, %",
    "activity of flip-flops": "of flip-flops, %",
    "power": "mW at 1 GHz",
}
"""Metrics that the table shows, and its headers."""
KINDS = {
    "permutation": "permutation at line rate",
    "random-100": "random keys, all lanes, all cycles",
    "storm": "smallest packets, all lanes, all cycles",
}
"""Kinds of traffic (`models.ofan.study_traffic`) under which activity is measured."""

CYCLES = 656
"""Cycles that are counted in each of the 64 streams: 16 periods of line rate."""

APART = r"[\w$]+|file\.bank_\d+"
"""Submodules that are mapped by themselves."""


def measure_power(
    name: str, config: OfanConfig, progress: Progress = lambda what: None
) -> list[Record]:
    """Measure the activity of a preset's engine under all `KINDS` of traffic; return the records.

    The engine is taken without failure logic, as the paper counts it, with its pointers in
    flip-flops; of `sorted`, whose file is too large to map, the stages sort and combine.
    """
    c = replace(config, masks=0)
    progress(f"{name}: mapping")
    part = not c.engine.banked
    netlist = whole_netlist(SortAndCombine(c) if part else pointer_engine(c, 0), APART)
    ties = {"rst": 0, "o__ready": 1, "stall": 0}
    fixed = {port: value for port, value in ties.items() if port in netlist["ports"]}
    simulation = Simulation(netlist, fixed)
    found = []
    for kind, says in KINDS.items():
        progress(f"{name}: {says}")
        offers = offers_of(c, kind, CYCLES, keyed=part)
        idle = 0 if part else sweep_cycles(c)
        activity, seen = simulation.run(offers, ready="i__ready", idle=idle)
        if part:  # one batch a cycle
            packets = offers["i__payload"][:, :, 1 :: 1 + c.key_bits].sum()
        else:
            packets = served(simulation, seen, c)
        title = f"{name}: sort and combine" if part else name
        found += _records(title, says, activity, packets / (STREAMS * CYCLES))
    return found


def sweep_cycles(c: OfanConfig) -> int:
    """Cycles after which the pointers of an engine hold their initial values."""
    return c.keys // c.engine.banks + 8


def offers_of(
    c: OfanConfig, kind: str, cycles: int, *, keyed: bool = False
) -> dict[str, np.ndarray]:
    """Return the bits [stream, cycle, bit] of an engine's input stream under a kind of traffic, or
    if `keyed` of its sort stage's.

    An idle lane keeps what it had, without its valid bit; a cycle without packets has no beat.
    """
    size = Size(cases=3 * STREAMS, periods=-(-cycles // PERIOD), drifts=0, cycles=STREAMS * cycles)
    parts = (
        keys[start : start + cycles]
        for keys in TRAFFIC[kind].cases(c, size)
        for start in range(0, len(keys) - cycles + 1, cycles)
    )
    streams = [_bits(c, keys, keyed) for keys in islice(parts, STREAMS)]
    return {
        "i__payload": np.array([payload for payload, _ in streams], dtype=np.uint8),
        "i__valid": np.array([valid for _, valid in streams], dtype=np.uint8),
    }


def _bits(c: OfanConfig, keys: np.ndarray, keyed: bool) -> tuple[np.ndarray, np.ndarray]:
    there = keys >= 0
    last = np.maximum.accumulate(np.where(there, np.arange(len(keys))[:, None], 0), axis=0)
    held = np.maximum(np.take_along_axis(keys, last, axis=0), 0)
    words = held % c.destinations | held // c.destinations << c.destination_bits
    width = c.destination_bits + c.class_bits
    if keyed:
        words, width = held << 1 | there, 1 + c.key_bits
    else:
        words, width = words | there << width, 1 + width
    payload = (words[..., None] >> np.arange(width) & 1).reshape(len(keys), -1)
    if keyed:
        payload = np.pad(payload, ((0, 0), (1, 0)))  # no fence
    return payload, np.any(there, axis=1)[:, None]


class SortAndCombine(wiring.Component):
    """The first two stages of the paper's pipeline (rtl/ofan/sort.py, rtl/ofan/combine.py)."""

    def __init__(self, config: OfanConfig) -> None:
        self.sort, self.combine = Sort(config), Combine(config)
        ports = {"i": self.sort.signature.members["i"], "o": self.combine.signature.members["o"]}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        """Return the two stages, one behind the other."""
        m = Module()
        m.submodules.sort, m.submodules.combine = self.sort, self.combine
        connect(m, flipped(self.i), self.sort.i)
        connect(m, self.sort.o, self.combine.i)
        connect(m, self.combine.o, flipped(self.o))
        return m


def power_table() -> str:
    """Return the committed records as Markdown: a kind of traffic a row."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for record in read_records(RECORDS):
        found.setdefault((record.preset, record.block), {})[record.metric] = record.value
    headers = ("preset", "traffic", *SHOWN.values())
    rows = [
        (*names, *(shown(values[metric]) for metric in SHOWN)) for names, values in found.items()
    ]
    return Table(title="", headers=headers, rows=rows, numbers=frozenset(SHOWN.values())).markdown()


def served(simulation: Simulation, seen: np.ndarray, c: OfanConfig) -> int:
    """Return how many packets an engine answered, in all streams and cycles."""
    words = simulation.words(seen, "o__payload")
    valid = words[:, c.answer_bits :: c.answer_bits + 1] & simulation.words(seen, "o__valid")
    return int(np.bitwise_count(valid).sum())


def _records(name: str, says: str, activity: Activity, packets: float) -> list[Record]:
    watt = ENERGY * CLOCK * activity.weighted
    flops, rate = activity.kinds["flip-flop"]
    logic = (activity.weighted - 4 * flops * rate) / (activity.gates - 4 * flops)
    numbers = [
        ("gates", activity.gates, "GE"),
        ("packets a cycle", packets, "packets"),
        ("activity", 100 * activity.by_gates, "%"),
        ("activity of logic", 100 * logic, "%"),
        ("activity of flip-flops", 100 * rate, "%"),
        ("activity, a net", 100 * activity.by_nets, "%"),
        ("power", 1e3 * watt, "mW"),
    ]
    return counted(says, name, numbers, digits=3)


def main() -> None:
    """Measure `PRESETS` and write the records of the release: `python -m synth.power`."""
    found = []
    for name in PRESETS:
        found += measure_power(name, preset(name))
    write_records(RECORDS, found)


if __name__ == "__main__":
    main()
