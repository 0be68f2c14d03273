"""The parts of pages that are made from the cost records.

What stands in a page between `<!-- NAME -->` and `<!-- /NAME -->` is made by the function of that
name. `python -m synth.tables` writes all of them; a test fails when one is not in step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from models.csig import config as csig
from models.ofan import config as ofan
from models.symphony import config as symphony
from rtl.export import hop_latencies, latencies, marker_latencies
from rtl.verilog import write_whole
from synth import symphony_study
from synth.claim import claims_page
from synth.claims_csig import csig_claims
from synth.claims_ofan import ofan_claims
from synth.claims_symphony import symphony_claims
from synth.fabric_pages import figure_details, figure_summary, figure_verdicts
from synth.ge import CLOCK_GATE_GE, FLOP_GE, GATES
from synth.measured import Numbers, committed
from synth.parts import TOTAL, cost_table, fits
from synth.pointer_pages import (
    pointer_engines,
    pointer_exactness,
    pointer_kinds,
    pointer_matched_parts,
    pointer_pareto,
    pointer_queued_parts,
    pointer_sizes,
    pointer_sorted_parts,
    pointer_split,
    pointer_targets_table,
    pointer_traffic,
    pointer_verdict,
    pointer_whole,
)
from synth.power import power_table
from synth.records import COMMITTED, Record, read_records
from synth.table import Table, shown

ROOT = Path(__file__).resolve().parents[1]

SHOWN = {"ofan": "edge-k64", "symphony": "log-16k", "csig": "port"}
"""The presets of README's table of blocks, by mechanism."""

_BLOCKS = {
    # mechanism: {block: (what it does, the parts of the cost table that belong to it)}
    "ofan": {
        "switch": ("answers a batch with an uplink a packet", (TOTAL,)),
        "sort": ("packets with one key become neighbours", ("sort",)),
        "combine": ("counts each group, marks its master", ("combine",)),
        "masks": ("which uplinks reach a packet's destination", ("failure masks",)),
        "update": (
            "one fetch-and-advance a group",
            ("update", "pointer file", "initial pointers (ROM)"),
        ),
        "decombine": ("pointer to uplink, for every packet", ("decombine", "π")),
        "unsort": ("answers back to their lanes", ("unsort",)),
    },
    "symphony": {
        "marker": ("marks the packets of steps that run ahead", (TOTAL,)),
        "window": ("time to the number of its window", ("window",)),
        "measure": ("how far a packet is in its step", ("measure",)),
        "touch": ("a job's first packet in its window", ("touch",)),
        "progress": ("state of every job, Algorithm 1", ("progress",)),
        "coin": ("α·k·psn/psn_rec against a random number", ("coin",)),
        "red": ("marks by queue depth", ("red",)),
        "tally": ("counters of every job, ECN field", ("tally",)),
    },
    "csig": {
        "hop": ("writes the bottleneck into a tag", (TOTAL,)),
        "clock": ("window edges between two packets", ("clock",)),
        "lookup": ("what a port wants of a tag", ("lookup",)),
        "meter": ("what a link has left of its window", ("meter",)),
        "quantize": ("a measure to the code of a tag", ("quantize",)),
        "replace": ("the hop's value against the tag's", ("replace",)),
        "tag": ("fields of a tag, and back into it", ("read tag", "write tag")),
        "tally": ("counters of every port", ("tally",)),
    },
}
_THROUGHPUT = {
    "ofan": "1 batch a cycle",
    "symphony": "1 packet a cycle",
    "csig": "1 packet a cycle",
}


def of_preset(mechanism: str, name: str) -> list[Record]:
    """Return the committed records of one preset."""
    return read_records(COMMITTED / f"{mechanism}-{name}.json")


def blocks() -> str:
    """README's table: what each block does, how fast it is, what it costs without its storage."""
    latency = {
        "ofan": latencies(ofan.preset(SHOWN["ofan"])),
        "symphony": marker_latencies(symphony.preset(SHOWN["symphony"])),
        "csig": {**hop_latencies(csig.preset(SHOWN["csig"])), "tag": 0},
    }
    rows: list[tuple[str, ...]] = []
    for mechanism, found in _BLOCKS.items():
        records = of_preset(mechanism, SHOWN[mechanism])
        for name, (does, parts) in found.items():
            link = f"[{mechanism}/{name}](docs/{mechanism}/{name}.md)"
            fast = ("built", _THROUGHPUT[mechanism], str(latency[mechanism][name]))
            rows.append((link, does, *fast, _kilo_gates(records, parts)))
    headers = ("block", "does", "status", "throughput", "latency, cycles", "kGE")
    return Table(title="", headers=headers, rows=rows).markdown()


def _kilo_gates(records: list[Record], parts: tuple[str, ...]) -> str:
    """kGE of parts, their storage left out."""
    numbers = [r for r in records if r.metric in ("total, paper", "storage")]
    mine = [r for r in numbers if r.block.partition(":")[0] in parts]
    gates = sum(r.value * (1 if r.unit == "GE" else -FLOP_GE["paper"]) for r in mine)
    fitted = any(r.fitted for r in mine)
    return f"{'≈' * fitted}{gates / 1000:,.1f}"


def weights() -> str:
    """The weight of each cell."""
    names = {"NOT": "inverter", "MUX": "2-way multiplexer"}
    rows = [(names.get(gate, gate), f"{weight:g}") for gate, weight in GATES.items()]
    rows += [(f"flip-flop, {name}", f"{weight:g}") for name, weight in FLOP_GE.items()]
    rows.append(("clock gate", f"{CLOCK_GATE_GE:g}"))
    return Table(title="", headers=("cell", "GE"), rows=rows, numbers=frozenset(["GE"])).markdown()


def presets() -> str:
    """What each preset of Ofan costs in all."""
    return _presets("ofan", list(ofan.PRESETS))


def symphony_presets() -> str:
    """What each preset of Symphony costs in all."""
    return _presets("symphony", list(symphony.PRESETS))


def csig_presets() -> str:
    """What each preset of CSIG costs in all."""
    return _presets("csig", list(csig.PRESETS))


def _presets(mechanism: str, names: list[str]) -> str:
    metric, header = ("storage", "storage bits") if mechanism == "ofan" else ("sram", "SRAM bits")
    rows = []
    for name in names:
        total = {r.metric: r for r in of_preset(mechanism, name) if r.block == TOTAL}
        mark = "≈" * bool(total["logic"].fitted)
        cells = [total[part] for part in ("logic", "gating", "flops", metric)]
        cells += [total[f"total, {convention}"] for convention in FLOP_GE]
        rows.append((name, *(f"{mark * bool(r.fitted)}{shown(r.value)}" for r in cells)))
    headers = ("preset", "logic, GE", "clock gates, GE", "flip-flops", header)
    headers += tuple(f"total, GE ({convention})" for convention in FLOP_GE)
    return Table(title="", headers=headers, rows=rows, numbers=frozenset(headers[1:])).markdown()


def parts() -> str:
    """What each part of the shown preset of Ofan costs, and how good the fits are."""
    return _parts("ofan")


def symphony_parts() -> str:
    """What each part of the shown preset of Symphony costs."""
    return _parts("symphony")


def csig_parts() -> str:
    """What each part of the shown preset of CSIG costs."""
    return _parts("csig")


def _parts(mechanism: str) -> str:
    records = of_preset(mechanism, SHOWN[mechanism])
    lines = [f"- {line}\n" for line in fits(records)]
    return f"{cost_table('', records).markdown()}" + (f"\n{''.join(lines)}" if lines else "")


def report() -> str:
    """The claims report of Ofan."""
    return claims_page(ofan_claims(Numbers(committed())))


def symphony_report() -> str:
    """The claims report of Symphony."""
    return claims_page(symphony_claims(Numbers(committed())))


def csig_report() -> str:
    """The claims report of CSIG."""
    return claims_page(csig_claims(Numbers(committed())))


def accuracy() -> str:
    """The study of Symphony's logarithms: its table, and what it says."""
    records = read_records(COMMITTED / f"{symphony_study.NAME}.json")
    lines = [f"- {line}\n" for line in symphony_study.verdict(records)]
    return f"{symphony_study.study_table(records).markdown()}\n{''.join(lines)}"


def tools() -> str:
    """The versions behind the numbers."""
    found = {f"{name} {version}" for r in committed() for name, version in r.versions.items()}
    return f"Made with {', '.join(sorted(found))}.\n"


PAGES: dict[str, tuple[Callable[[], str], ...]] = {
    "README.md": (blocks,),
    "docs/costs.md": (
        weights,
        presets,
        symphony_presets,
        csig_presets,
        parts,
        symphony_parts,
        csig_parts,
        tools,
    ),
    "docs/claims.md": (report, symphony_report, csig_report, tools),
    "docs/symphony/accuracy.md": (accuracy, tools),
    "docs/ofan/pointers.md": (
        pointer_kinds,
        pointer_targets_table,
        pointer_verdict,
        pointer_whole,
        pointer_engines,
        pointer_pareto,
        pointer_queued_parts,
        pointer_matched_parts,
        pointer_sorted_parts,
        pointer_exactness,
        pointer_traffic,
        pointer_split,
        pointer_sizes,
    ),
    "docs/ofan/power.md": (power_table,),
    "docs/fabric/figures.md": (figure_summary, figure_verdicts, figure_details),
}


def filled(text: str, makers: tuple[Callable[[], str], ...]) -> str:
    """Return a page's text with its made parts put in; raises `ValueError` if a mark is missing."""
    for maker in makers:
        name = maker.__name__
        pattern = re.compile(rf"(?<=<!-- {name} -->\n).*?(?=<!-- /{name} -->)", re.DOTALL)
        made = maker()
        text, count = pattern.subn(lambda _, made=made: made, text)
        if count != 1:
            raise ValueError(f"<!-- {name} --> must be marked once, not {count} times")
    return text


def fill_pages() -> None:
    """Write the made parts of all pages."""
    for page, makers in PAGES.items():
        path = ROOT / page
        write_whole(path, filled(path.read_text(), makers))


if __name__ == "__main__":
    fill_pages()
