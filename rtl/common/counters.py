"""Rows of counters, one row a job or a port, read and written at one beat a cycle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from amaranth.hdl import Cat, Module, Signal, Value, ValueLike
from amaranth.lib import data

from models.common.check import integer
from rtl.common.rewrite import Rewrite
from rtl.common.stage import Stages


def counter_layout(bits: int) -> data.StructLayout:
    """A counter: its lower half, its upper half, and what the lower has yet to carry into it."""
    half = bits // 2
    return data.StructLayout({"low": half, "carry": 1, "high": bits - half})


class Counters:
    """Counters in a `Rewrite` memory: a beat adds 1 to some of its row's, or clears them.

    No addition is longer than half a counter: the lower half's carry is kept, and goes into the
    upper half when the row's next beat comes, or into what is read.

    Args:
        m: the module that gets the statements.
        names: of the counters of a row.
        bits: of each counter, 8 to 32.
        depth: rows.
    """

    def __init__(self, m: Module, names: Sequence[str], bits: int, depth: int) -> None:
        self._m = m
        self._bits = integer("bits", bits, 8, 32)
        layout = data.StructLayout(dict.fromkeys(names, counter_layout(bits)))
        self._file = Rewrite(m, layout, depth, 0, "counters")
        self.running = self._file.running
        """0 while the memory is swept after a reset."""

    def connect(
        self,
        stages: Stages,
        row: Value,
        steps: Mapping[str, Value],
        clear: ValueLike,
        write: ValueLike = 1,
    ) -> dict[str, Value]:
        """Attach the counters to a block; return those of the beat in stage 0 as it found them.

        Args:
            stages: of the block, enabled by `running`.
            row: the row that the beat at the block's input counts in.
            steps: for the beat in stage 0, which counters it adds 1 to.
            clear: it sets all of the row to 0. write: it may do either.
        """
        m = self._m
        found, after = self._file.connect(stages, row, write)
        values: dict[str, Value] = {}
        for name, step in steps.items():
            count, following = found[name], after[name]
            low = Signal(len(count.low) + 1, name=f"{name}_low")
            high = Signal(len(count.high), name=f"{name}_high")
            m.d.comb += [low.eq(count.low + step), high.eq(count.high + count.carry)]
            with m.If(~Value.cast(clear)):
                m.d.comb += [
                    following.low.eq(low),
                    following.carry.eq(low[-1]),
                    following.high.eq(high),
                ]
            values[name] = Cat(count.low, high)
        return values
