"""Equivalence of two components with the same ports."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from tb.formal.bench import Bench
from tb.formal.prove import prove


def prove_equal(first: Any, second: wiring.Component, name: str, *, depth: int) -> None:
    """Prove that two components with the same signature give the same answers for `depth` cycles.

    Both get the same inputs, any in each cycle. A payload counts only while its valid is 1.
    Raises `tb.formal.prove.Disproved`.
    """
    bench = Bench()
    bench.m.submodules.first = first
    bench.m.submodules.second = second
    values = {
        "_".join(map(str, path)): (member, Value.cast(mine), Value.cast(other))
        for (path, member, mine), (_, _, other) in zip(
            first.signature.flatten(first), second.signature.flatten(second), strict=True
        )
    }
    for port, (member, mine, other) in values.items():
        if member.flow is In:
            shared = bench.free(mine.shape(), port)
            bench.m.d.comb += [mine.eq(shared), other.eq(shared)]
            continue
        bench.see(f"first_{port}", mine)
        bench.see(f"second_{port}", other)
        same = mine == other
        if port.endswith("payload"):
            same |= ~values[port.removesuffix("payload") + "valid"][1]
        bench.check(f"{port}_equal", same)
    prove(bench, name, depth=depth, induction=False)
