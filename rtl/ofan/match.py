"""Which of the waiting packets their banks serve in this cycle (models/ofan/queued.py)."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Signal, Value, unsigned
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from models.ofan.place import rows
from rtl.common.carrysave import ones


def row_bits(c: OfanConfig) -> int:
    """Width of a row number, bits."""
    return bits_for(rows(c.keys, c.engine.banks))


def place_fields(c: OfanConfig) -> dict[str, object]:
    """Where a packet's pointer lives: `bank` and `row` (models/ofan/place.py)."""
    return {"bank": unsigned(c.engine.bank_bits), "row": unsigned(row_bits(c))}


def queues(c: OfanConfig) -> int:
    """Queues of a pipe."""
    return c.engine.queues_of(c.lanes_per_pipe)


def head_layout(c: OfanConfig) -> data.StructLayout:
    """The packet at the head of a queue: `bank`, `row`; `there` if it may be served in this cycle,
    `old` if it is of the oldest wave, else of the one behind it."""
    return data.StructLayout({"there": 1, "old": 1, **place_fields(c)})  # type: ignore[arg-type]


def rank_bits(c: OfanConfig) -> int:
    """Width of a packet's rank, bits: how many of its key go before it in this cycle."""
    return bits_for(queues(c))


class Match(wiring.Component):
    """Compares the packets at the heads of all queues with each other. Combinational.

    A bank serves one wave, the older one first; of it, the packet of the lowest queue and those
    that follow with the same key, up to the first with another. Every pair of queues has one
    comparison of banks and one of rows; all that follows is an OR over the pairs of a queue.

    Args:
        config: an `OfanConfig` with engine `queued-banked`.

    Ports:
        heads (in, `head_layout` a queue).
        allowed (in, one bit a queue): see `rtl.ofan.slots.Slots`.
        served (out, one bit a queue).
        ranks (out, a number a queue): how many of its key go before it, if it is served.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        count = queues(c)
        super().__init__(
            {
                "heads": In(data.ArrayLayout(head_layout(c), count)),
                "allowed": In(count),
                "served": Out(count),
                "ranks": Out(data.ArrayLayout(rank_bits(c), count)),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        heads = list(self.heads)
        blocked: list[list[Value]] = [[] for _ in heads]
        ahead: list[list[Value]] = [[] for _ in heads]
        for high, upper in enumerate(heads):
            for low, lower in enumerate(heads[:high]):
                bank, row = Signal(name=f"bank_{low}_{high}"), Signal(name=f"row_{low}_{high}")
                m.d.comb += [
                    bank.eq((lower.bank == upper.bank) if len(lower.bank) else 1),
                    row.eq(lower.row == upper.row),
                ]
                near = bank & lower.there
                blocked[high].append(
                    near & ((lower.old & ~upper.old) | ~row & (lower.old | ~upper.old))
                )
                blocked[low].append(bank & upper.there & upper.old & ~lower.old)
                ahead[high].append(near & ~(lower.old ^ upper.old))
        for number, head in enumerate(heads):
            m.d.comb += self.served[number].eq(
                head.there & (head.old | self.allowed[number]) & ~Cat(blocked[number]).any()
            )
            m.d.comb += self.ranks[number].eq(ones(m, ahead[number], f"rank_{number}"))
        return m
