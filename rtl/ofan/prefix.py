"""Which packets of a batch their banks serve at once (models/ofan/prefix.py)."""

from __future__ import annotations

from typing import Any

from amaranth.hdl import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from rtl.common.carrysave import ones
from rtl.ofan.match import place_fields, row_bits


def places_layout(c: OfanConfig) -> data.ArrayLayout:
    """A batch in lane order: where each packet's pointer lives, and whether it is `there`."""
    lane = data.StructLayout({**place_fields(c), "there": 1})  # type: ignore[arg-type]
    return data.ArrayLayout(lane, c.lanes_per_pipe)


def either(words: list[Value]) -> Value:
    """Return the OR of some words, a balanced tree a bit."""
    return Cat(Cat(word[bit] for word in words).any() for bit in range(len(words[0])))


def group_of(c: OfanConfig) -> int:
    """Lanes that are compared with each other."""
    return min(c.engine.group, c.lanes_per_pipe)


class Prefix(wiring.Component):
    """Finds the longest prefix of a batch's packets that asks no bank for two keys. Combinational.

    ```
    lanes of a group ─► pairs: same bank, same row? ─► blocked in the group ───────────────┐
                  └───► first of its bank ─► OR: the group's row at each bank              ▼
                                                    └─► another one than groups below? ─► served
    ```

    Only lanes of one group are compared with each other. Of a bank each group has one row, that of
    the first lane there, and a group is compared with the groups below it bank by bank. What an
    earlier conflict makes of a later group does not matter, for that is not served anyway.

    Args:
        config: an `OfanConfig` with engine `matched-banked`.

    Ports:
        lanes (in, `there`, `bank` and `row` a lane).
        served (out, one bit a lane); whole (out): that is all of them.
        ranks (out, a number a lane): packets of its group that its bank serves before it.
        rows (out, a row a bank): what the bank serves; 0 if nothing.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        lanes = c.lanes_per_pipe
        super().__init__(
            {
                "lanes": In(places_layout(c)),
                "served": Out(lanes),
                "whole": Out(1),
                "ranks": Out(data.ArrayLayout(bits_for(group_of(c)), lanes)),
                "rows": Out(data.ArrayLayout(row_bits(c), c.engine.banks)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        size, banks = group_of(c), range(c.engine.banks)
        all_served: Value = Const(1, 1)
        asked: Value = Const(0, len(banks))
        below: list[Value] = [Const(0, len(banks)) for _ in range(row_bits(c))]
        rows = below
        for start in range(0, c.lanes_per_pipe, size):
            lanes = [self.lanes[lane] for lane in range(start, start + size)]
            blocked, first = self._within(m, start, lanes)
            asks = []
            for number, lane in enumerate(lanes):
                asks.append(Signal(len(banks), name=f"asks_{start + number}"))
                m.d.comb += asks[-1].eq(Cat(lane.there & (lane.bank == bank) for bank in banks))
            asked_here = Signal(len(banks), name=f"asked_{start}")
            m.d.comb += asked_here.eq(either(asks))
            rows_here = []
            for bit in range(row_bits(c)):
                rows_here.append(Signal(len(banks), name=f"row_{start}_{bit}"))
                shown = [
                    ask & (lane.row[bit] & first[number]).replicate(len(banks))
                    for number, (ask, lane) in enumerate(zip(asks, lanes, strict=True))
                ]
                m.d.comb += rows_here[-1].eq(either(shown))
            clash = Signal(len(banks), name=f"clash_{start}")
            if start:
                differ = [a ^ b for a, b in zip(rows_here, below, strict=True)]
                m.d.comb += clash.eq(asked & asked_here & (either(differ) if differ else 0))
            stops = Signal(size, name=f"stops_{start}")
            for number, lane in enumerate(lanes):
                clashes = (either(asks[: number + 1]) & clash).any()
                m.d.comb += [
                    stops[number].eq(blocked[: number + 1].any() | clashes),
                    self.served[start + number].eq(lane.there & all_served & ~stops[number]),
                ]
            unstopped = Signal(name=f"unstopped_{start}")
            m.d.comb += unstopped.eq(all_served & ~stops[-1])
            all_served = unstopped
            rows = [a | b & ~asked for a, b in zip(rows, rows_here, strict=True)]
            below = [a | b for a, b in zip(below, rows_here, strict=True)]
            asked = asked | asked_here
        m.d.comb += self.whole.eq(all_served)
        for bank in banks:
            m.d.comb += self.rows[bank].eq(Cat(word[bank] for word in rows))
        return m

    def _within(self, m: Module, start: int, lanes: list[Any]) -> tuple[Signal, Signal]:
        """Compare the lanes of a group: return which have an earlier lane of their bank with
        another row, and which have none of their bank."""
        blocked = Signal(len(lanes), name=f"blocked_{start}")
        first = Signal(len(lanes), name=f"first_{start}")
        for high, upper in enumerate(lanes):
            near, other = [], []
            for low, lower in enumerate(lanes[:high]):
                where = f"{start + low}_{start + high}"
                near.append(Signal(name=f"near_{where}"))
                other.append(Signal(name=f"other_{where}"))
                m.d.comb += [
                    near[-1].eq(lower.there & (lower.bank == upper.bank)),
                    other[-1].eq(near[-1] & (lower.row != upper.row)),
                ]
            m.d.comb += [
                blocked[high].eq(upper.there & Cat(other).any()),
                first[high].eq(~Cat(near).any()),
                self.ranks[start + high].eq(ones(m, near, f"rank_{start + high}")),
            ]
        return blocked, first
