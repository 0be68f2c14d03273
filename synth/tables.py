"""The parts of pages that are made from the cost records.

What stands in a page between `<!-- NAME -->` and `<!-- /NAME -->` is made by the function of that
name. `python -m synth.tables` writes all of them; a test fails when one is not in step.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from models.ofan.config import PRESETS, preset
from rtl.export import latencies
from rtl.verilog import write_whole
from synth.claim import claims_page
from synth.claims import claims
from synth.ge import CLOCK_GATE_GE, FLOP_GE, GATES
from synth.measured import Numbers, committed
from synth.ofan import TOTAL, cost_table, fits
from synth.records import COMMITTED, Record, read_records
from synth.table import Table, shown

ROOT = Path(__file__).resolve().parents[1]

SHOWN = "edge-k64"
"""The preset of README's table of blocks."""

_BLOCKS = {
    # block: (what it does, the parts of the cost table that belong to it)
    "sort": ("packets with one key become neighbours", ("sort",)),
    "combine": ("counts each group, marks its master", ("combine",)),
    "masks": ("which uplinks reach a packet's destination", ("failure masks",)),
    "update": (
        "one fetch-and-advance a group",
        ("update", "pointer file", "initial pointers (ROM)"),
    ),
    "decombine": ("pointer to uplink, for every packet", ("decombine", "π")),
    "unsort": ("answers back to their lanes", ("unsort",)),
}


def of_preset(name: str) -> list[Record]:
    """Return the committed records of one preset of Ofan."""
    return read_records(COMMITTED / f"ofan-{name}.json")


def blocks() -> str:
    """README's table: what each block does, how fast it is, what it costs without its storage."""
    numbers = [r for r in of_preset(SHOWN) if r.metric in ("total, paper", "storage")]

    def kilo_gates(parts: tuple[str, ...]) -> str:
        mine = [r for r in numbers if r.block.partition(":")[0] in parts]
        gates = sum(r.value * (1 if r.unit == "GE" else -FLOP_GE["paper"]) for r in mine)
        fitted = any(r.fitted for r in mine)
        return f"{'≈' * fitted}{gates / 1000:,.1f}"

    latency = latencies(preset(SHOWN))
    built = ("built", "1 batch a cycle")
    rows: list[tuple[str, ...]] = [
        (
            "[ofan/switch](docs/ofan/switch.md)",
            "answers a batch with an uplink a packet",
            *built,
            str(latency["switch"]),
            kilo_gates((TOTAL,)),
        )
    ]
    for name, (does, parts) in _BLOCKS.items():
        link = f"[ofan/{name}](docs/ofan/{name}.md)"
        rows.append((link, does, *built, str(latency[name]), kilo_gates(parts)))
    rows.append(("symphony", "marks the packets of steps that run ahead", "planned", "", "", ""))
    rows.append(("csig", "writes the bottleneck into a tag", "planned", "", "", ""))
    headers = ("block", "does", "status", "throughput", "latency, cycles", "kGE")
    return Table(title="", headers=headers, rows=rows).markdown()


def weights() -> str:
    """The weight of each cell."""
    names = {"NOT": "inverter", "MUX": "2-way multiplexer"}
    rows = [(names.get(gate, gate), f"{weight:g}") for gate, weight in GATES.items()]
    rows += [(f"flip-flop, {name}", f"{weight:g}") for name, weight in FLOP_GE.items()]
    rows.append(("clock gate", f"{CLOCK_GATE_GE:g}"))
    return Table(title="", headers=("cell", "GE"), rows=rows, numbers=frozenset(["GE"])).markdown()


def presets() -> str:
    """What each preset costs in all."""
    rows = []
    for name in PRESETS:
        total = {r.metric: r for r in of_preset(name) if r.block == TOTAL}
        mark = "≈" * bool(total["logic"].fitted)
        cells = [total[metric] for metric in ("logic", "gating", "flops", "storage")]
        cells += [total[f"total, {convention}"] for convention in FLOP_GE]
        rows.append((name, *(f"{mark * bool(r.fitted)}{shown(r.value)}" for r in cells)))
    headers = ("preset", "logic, GE", "clock gates, GE", "flip-flops", "storage bits")
    headers += tuple(f"total, GE ({convention})" for convention in FLOP_GE)
    return Table(title="", headers=headers, rows=rows, numbers=frozenset(headers[1:])).markdown()


def parts() -> str:
    """What each part of the shown preset costs, and how good the fits are."""
    records = of_preset(SHOWN)
    lines = [f"- {line}\n" for line in fits(records)]
    return f"{cost_table(records).markdown()}\n{''.join(lines)}"


def report() -> str:
    """The claims report."""
    return claims_page(claims(Numbers(committed())))


def tools() -> str:
    """The versions behind the numbers."""
    found = {f"{name} {version}" for r in committed() for name, version in r.versions.items()}
    return f"Made with {', '.join(sorted(found))}.\n"


PAGES: dict[str, tuple[Callable[[], str], ...]] = {
    "README.md": (blocks,),
    "docs/costs.md": (weights, presets, parts, tools),
    "docs/claims.md": (report, tools),
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
