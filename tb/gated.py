"""Verilog that runs faster and means the same: what matters only under a condition is evaluated
only under it.

A simulator of cycles evaluates every assignment in every cycle. Where the answers of a block are
taken only while a condition holds (`base = some_down ? rank : pointer`), `gated` moves all that
serves them alone behind an `if`:

```
assign lower = mask & 32'd85;                     always @* if (some_down) begin
assign rank = lower + high;               ──►       lower = mask & 32'd85;
assign base = some_down ? rank : pointer;           rank = lower + high;
                                                  end
                                                  assign base = some_down ? rank : pointer;
```

Nobody looks at `lower` and `rank` while the condition is 0, so they may keep what they had.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from graphlib import TopologicalSorter
from itertools import pairwise

_MODULE = re.compile(r"^module .*?^endmodule\n", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"\\\S+|(?<![\w'\\])[A-Za-z_]\w*")
_ONE = r"(\\\S+ |\w+)"
_ASSIGN = re.compile(r"  assign (.*?) = (.*);")
_CHOICE = re.compile(_ONE + r" \? ([^?]*) : ([^?]*)")
_AND = re.compile(_ONE + " & " + _ONE)
_ENABLED = re.compile(rf"    if \({_ONE}\) .*? <= (.*);")
_UNLESS = re.compile(rf" +if \(!{_ONE}\) ")
_ELSE = re.compile(r" +else .*? <= (.*);")
_DECLARED = re.compile(rf"  wire (?:\[.*?\] )?{_ONE};")


def gated(verilog: str, conditions: str) -> str:
    """Return the same design with what matters only under a condition behind it.

    Args:
        verilog: as `rtl.verilog.to_verilog` writes it, an assignment a line.
        conditions: a regular expression; the wires of one bit that it matches are conditions.
    """
    return _MODULE.sub(lambda module: _gated_module(module[0], re.compile(conditions)), verilog)


@dataclass(frozen=True)
class _Assign:
    """An assignment: the names it sets, the names it reads, and its text less `assign`."""

    sets: frozenset[str]
    reads: frozenset[str]
    text: str


def _names(text: str) -> frozenset[str]:
    return frozenset(_NAME.findall(text))


def _gated_module(module: str, conditions: re.Pattern[str]) -> str:
    lines = module.split("\n")
    assigns = {
        number: _Assign(_names(found[1]), _names(found[2]), f"{found[1]} = {found[2]};")
        for number, line in enumerate(lines)
        if (found := _ASSIGN.fullmatch(line))
    }
    uses = _uses(lines, assigns, conditions)
    assigns = {n: a for n, a in assigns.items() if any(uses[name] for name in a.sets)}
    drivers = Counter(name for a in assigns.values() for name in a.sets)
    driver = {name: n for n, a in assigns.items() for name in a.sets if drivers[name] == 1}
    needs = {n: {driver[name] for name in a.reads & driver.keys()} for n, a in assigns.items()}

    # Readers first: an assignment matters under what all its readers matter under.
    under: dict[int | None, frozenset[str]] = {None: frozenset()}
    for n in reversed(list(TopologicalSorter(needs).static_order())):
        under[n] = frozenset()
        if all(name in driver and not conditions.fullmatch(name) for name in assigns[n].sets):
            readers = [use for name in assigns[n].sets for use in uses[name]]
            held = [w | under[r] for r, w in readers if r is None or r in assigns]
            under[n] = frozenset.intersection(*held) if held else frozenset()
    gate = {n: min(under[n]) for n in assigns if under[n]}
    for n, condition in gate.items():
        needs[n] |= {driver[condition]} if condition in driver else set()
    return _written(lines, assigns, gate, needs)


def _uses(
    lines: list[str], assigns: dict[int, _Assign], conditions: re.Pattern[str]
) -> dict[str, list[tuple[int | None, frozenset[str]]]]:
    """Return who reads each name: the assignment's line (`None`: anything else) and the conditions
    without which it does not look."""
    ands = {
        name: {found[1].strip(), found[2].strip()}
        for a in assigns.values()
        for name in a.sets
        if (found := _AND.fullmatch(a.text.partition(" = ")[2][:-1]))
    }
    uses: dict[str, list[tuple[int | None, frozenset[str]]]] = defaultdict(list)

    def read(text: str, reader: int | None, when: str = "") -> None:
        true = {when.strip(), *ands.get(when.strip(), ())}
        held = frozenset(name for name in true if conditions.fullmatch(name))
        for name in _names(text):
            uses[name].append((reader, held))

    for (_, before), (number, line) in pairwise([(-1, ""), *enumerate(lines)]):
        if number in assigns:
            text = assigns[number].text.partition(" = ")[2][:-1]
            if choice := _CHOICE.fullmatch(text):
                read(choice[1], number)
                read(choice[2], number, choice[1])
                read(choice[3], number)
            else:
                read(text, number)
        elif enabled := _ENABLED.fullmatch(line):
            read(enabled[1], None)
            read(enabled[2], None, enabled[1])
        elif (other := _ELSE.fullmatch(line)) and (unless := _UNLESS.match(before)):
            read(other[1], None, unless[1])
        elif not line.startswith(("  wire ", "  reg ", "  input ", "module ")):
            read(line, None)
    return uses


def _written(
    lines: list[str], assigns: dict[int, _Assign], gate: dict[int, str], needs: dict[int, set[int]]
) -> str:
    """Return the module's text with the gated assignments in blocks, one a condition and stage."""
    stage: dict[int, int] = {}
    blocks: dict[tuple[int, str], list[int]] = defaultdict(list)
    for n in TopologicalSorter(needs).static_order():
        # A path from block to block rises; so no block waits for itself.
        stage[n] = max((stage[d] + (gate.get(d) != gate.get(n)) for d in needs[n]), default=0)
        if n in gate:
            blocks[stage[n], gate[n]].append(n)
    variables = {name for n in gate for name in assigns[n].sets}
    text = []
    for number, line in enumerate(lines):
        if (wire := _DECLARED.fullmatch(line)) and wire[1].strip() in variables:
            line = line.replace("wire", "reg", 1)
        if line == "endmodule":
            for (_, condition), members in blocks.items():
                text.append(f"  always @* if ({condition} ) begin")
                text += [f"    {assigns[n].text}" for n in members]
                text.append("  end")
        if number in gate or (_ASSIGN.fullmatch(line) and number not in assigns):
            continue
        text.append(line)
    return "\n".join(text)
