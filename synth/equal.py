"""A mapped netlist against the RTL it was made from, proved equal by Yosys, a block at a time.

Registers keep their names through mapping, so both circuits are cut there: what a register holds is
an input of both, what it will hold next an output. The combinational circuits that remain stand
side by side, ABC merges what is alike inside them, and Yosys's `sat` shows that no input tells
their outputs apart. Since the registers also start alike, that is a proof by induction for runs of
any length. Memories and submodules that a price leaves out are cut in the same way: what they
answer is an input, what they are asked is an output.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from amaranth.hdl import Elaboratable

from rtl.toolchain import ToolError, run_yosys
from synth import cut
from synth.cut import Circuit, Pair
from synth.ge import ABC_GATES, Priced, as_rtlil, watchers
from synth.parts import Progress
from synth.yosys import digest, keep, map_to_gates, recall

# The RTL as it is read: none of these passes moves logic over a register. `memory` gives memories
# the shape that they have in the netlist.
_READ = """
read_rtlil block.il
hierarchy -top top
{boxes}
proc -norom
flatten
opt_clean
memory {memories}
chtype -set memory t:$mem_v2
simplemap t:$*dff*
dfflegalize -cell $_DFF_P_ 01
opt_clean
delete t:$scopeinfo
write_json gold.json
"""

_PROVE = """
read_json pair.json
miter -equiv -flatten -make_outputs gold gate miter
hierarchy -top miter
techmap
opt_clean
abc -script +strash;fraig
opt_clean
tee -q -o proof.txt sat -prove trigger 0 -show-outputs
"""

_VALUE = re.compile(r"^ +\\(gold|gate)_(\S+) .* ([01]+) *$", re.MULTILINE)
"""A line of `sat`'s counterexample: side, port, bits."""


@dataclass(frozen=True, kw_only=True)
class Proof:
    """What came of a comparison."""

    registers: int
    """Flip-flops of the netlist that were found in the RTL, bits."""
    compared: int
    """Pairs of nets that were compared: outputs, next values, what boxes are asked, bits."""
    differs: tuple[str, ...] = ()
    """Names of outputs that one input at least tells apart, and of registers; none if equal."""

    @property
    def equal(self) -> bool:
        """Whether the netlist is proved equal to its RTL."""
        return not self.differs


def prove_equal(
    component: Elaboratable,
    *,
    ports: Any = None,
    boxes: Collection[str] = (),
    memories: bool = True,
) -> Proof:
    """Map a component as `synth.ge.price` does and compare the netlist with its RTL; the answer is
    kept for the next run.

    Args:
        component, ports, memories: as `synth.ge.price` takes them.
        boxes: submodules to leave out, by name of the instance.

    Raises `ValueError` as `price` and `compare` do, `rtl.toolchain.ToolError` if Yosys fails.
    """
    text, left_out = as_rtlil(component, ports, boxes)
    return prove_text(text, tuple(left_out), memories)


def prove_text(text: str, left_out: tuple[str, ...], memories: bool) -> Proof:
    """Do what `prove_equal` does, for RTLIL text and modules left out."""
    name = digest("equal", *_how(), text, repr((sorted(left_out), memories, ABC_GATES)))
    kept = recall(name)
    if kept is None:
        netlist = map_to_gates(text, ABC_GATES, boxes=left_out, memories=memories)
        proof = compare(text, netlist, boxes=left_out, memories=memories)
        keep(name, asdict(proof))
        return proof
    return Proof(**{**kept, "differs": tuple(kept["differs"])})


@cache
def _how() -> tuple[str, ...]:
    """What a proof follows from beside circuit and tools: the text of this module and of `cut`."""
    return tuple(Path(str(file)).read_text() for file in (__file__, cut.__file__))


def prove_priced(
    price: Callable[[Progress], Iterable[object]], progress: Progress = lambda what: None
) -> Iterator[tuple[str, Proof]]:
    """Prove every netlist that a price is made of; yield which part it is of and the proof, of
    netlists that are alike once.

    `price` makes the rows of a price and says what comes next, as `synth.ofan.price_switch` does of
    a config; `progress` hears it too. Memories that are mapped by themselves are left out: what is
    read behind the last row is anything in the RTL, and something in the netlist.
    """
    part = ""
    waiting: list[tuple[str, Priced]] = []
    met: set[Priced] = set()

    def hear(what: str) -> None:
        nonlocal part
        part = what
        progress(what)

    def note(block: Priced) -> None:
        memory = block.memories and re.search(r"^\s*memory ", block.text, re.MULTILINE)
        if block not in met and not memory:
            met.add(block)
            waiting.append((part, block))

    watchers.append(note)
    try:
        for _ in price(hear):
            while waiting:
                name, block = waiting.pop(0)
                yield name, prove_text(block.text, block.boxes, block.memories)
    finally:
        watchers.remove(note)


def compare(
    rtlil: str, netlist: Mapping[str, Any], *, boxes: Collection[str] = (), memories: bool = True
) -> Proof:
    """Compare RTLIL text with a netlist that `synth.yosys.map_to_gates` may have made of it.

    `boxes` are the modules that the netlist leaves out. Raises `ValueError` naming a register or a
    box that one side has and the other has not, `rtl.toolchain.ToolError` if Yosys fails.
    """
    script = _READ.format(
        boxes="\n".join(f"blackbox {box}" for box in boxes), memories="" if memories else "-nomap"
    )
    read = json.loads(run_yosys(script, {"block.il": rtlil}, ["gold.json"])["gold.json"])
    pair = Pair(Circuit(read["modules"]["top"]), Circuit(netlist), {*boxes, "memory"})
    return Proof(
        registers=len(pair.held),
        compared=pair.compared,
        differs=tuple(pair.starts_differ) or _told_apart(pair),
    )


def _told_apart(pair: Pair) -> tuple[str, ...]:
    inputs = {"pair.json": json.dumps({"modules": pair.modules()})}
    said = run_yosys(_PROVE, inputs, ["proof.txt"])["proof.txt"]
    if "SAT proof finished - no model found: SUCCESS!" in said:
        return ()
    values = {(side, port): value for side, port, value in _VALUE.findall(said)}
    found = tuple(
        pair.label(port, len(value) - 1 - place)
        for (side, port), value in values.items()
        if side == "gold"
        for place, bit in enumerate(value)
        if bit != values["gate", port][place]
    )
    if not found:
        raise ToolError(f"no proof and no counterexample: {said.strip().splitlines()[-1]}")
    return found
