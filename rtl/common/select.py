"""Rank and select in a bit mask, by one tree of bit counts.

```
mask    b0 b1 b2 b3 b4 b5 b6 b7
counts   └┬─┘  └┬─┘  └┬─┘  └┬─┘      how many bits are set below each node
          └──┬──┘     └──┬──┘
             └─────┬─────┘           rank and select both walk from the root to a leaf
```

A level of the tree is one word: the count of node n, which covers 2^k bits of the mask, stands in
bits n·2^k and up. One wide addition makes a level from the one below; its carries never leave a
field, so synthesis is left with small adders, and a simulator with one instruction.
"""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for, integer


def _field_mask(size: int, stride: int, used: int) -> int:
    """Return a mask of `size` bits with the low `used` bits of every `stride` bits set."""
    return sum(((1 << used) - 1) << start for start in range(0, size, stride))


def counts(m: Module, mask: Value, enable: Value, name: str = "counts") -> list[Value]:
    """Return the levels of the mask's tree from the leaves (the mask itself) to the root.

    All counts are 0 while `enable` is 0, which keeps what follows from them quiet.
    """
    bits = bits_for(len(mask))
    size = 1 << bits
    levels: list[Value] = [Cat(mask, Const(0, size - len(mask)))]
    for level in range(1, bits + 1):
        below, half = levels[-1], 1 << (level - 1)
        low_fields = Mux(enable, Const(_field_mask(size, 2 * half, level), size), 0)
        total = Signal(size, name=f"{name}_{level}")
        m.d.comb += total.eq((below & low_fields) + ((below >> half) & low_fields))
        levels.append(total)
    return levels


def rank(m: Module, levels: list[Value], position: Value, name: str = "rank") -> Value:
    """Return how many bits are set below `position` of the mask whose tree is given."""
    count: Value = Const(0)
    for level in reversed(range(1, len(levels))):
        lower = levels[level - 1].word_select(position[level:], 1 << level)[:level]
        total = Signal(len(levels), name=f"{name}_{level}")
        m.d.comb += total.eq(count + Mux(position[level - 1], lower, 0))
        count = total
    return count


def select(m: Module, levels: list[Value], index: Value, name: str = "select") -> Value:
    """Return the position of set bit number `index` of the mask whose tree is given."""
    rest: Value = index
    path: Value = Const(0, 0)
    for level in reversed(range(1, len(levels))):
        lower = Signal(level, name=f"{name}_lower_{level}")
        turn = Signal(name=f"{name}_turn_{level}")
        left = Signal(len(index), name=f"{name}_rest_{level}")
        m.d.comb += [
            lower.eq(levels[level - 1].word_select(path, 1 << level)),
            turn.eq(rest >= lower),
            left.eq(Mux(turn, rest - lower, rest)),
        ]
        rest, path = left, Cat(turn, path)
    return path


class Rank(wiring.Component):
    """Counts the set bits below a position. Combinational.

    Args:
        width: bits of the mask, 1 to 64.

    Ports:
        mask (in, width bits), position (in, 0 to width - 1), count (out, 0 to width).
    """

    def __init__(self, width: int) -> None:
        self.width = integer("width", width, 1, 64)
        super().__init__(
            {
                "mask": In(width),
                "position": In(unsigned(bits_for(width))),
                "count": Out(range(width + 1)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.count.eq(rank(m, counts(m, self.mask, Const(1)), self.position))
        return m


class Select(wiring.Component):
    """Finds the set bit number `index` of a mask. Combinational.

    Args:
        width: bits of the mask, 1 to 64.

    Ports:
        mask (in, width bits), index (in, below the number of set bits),
        position (out, 0 to width - 1; without meaning where there is no such bit).
    """

    def __init__(self, width: int) -> None:
        self.width = integer("width", width, 1, 64)
        super().__init__(
            {
                "mask": In(width),
                "index": In(unsigned(bits_for(width))),
                "position": Out(unsigned(bits_for(width))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.d.comb += self.position.eq(select(m, counts(m, self.mask, Const(1)), self.index))
        return m
