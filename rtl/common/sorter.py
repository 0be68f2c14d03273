"""A sorting network as pipelined hardware."""

from __future__ import annotations

from amaranth.hdl import Cat, Module, Mux, Signal, Value, unsigned
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import integer
from models.common.sorter import Network
from rtl.common.stage import Stages


def stages_of(ranks: int, ranks_per_stage: int) -> int:
    """Register stages of a network with a register after every `ranks_per_stage` ranks."""
    return -(-ranks // ranks_per_stage)


class Sorter(wiring.Component):
    """Sorts the items of a beat by key, smallest key on lane 0. Latency ⌈ranks / ranks_per_stage⌉
    cycles; throughput one beat a cycle.

    ```
    lane 0 ──┬───────┬──[reg]──┬── …       every pair of a rank is one compare-and-swap:
    lane 1 ──┴──┬────┼──[reg]──┼── …       a key comparator and two item multiplexers
    lane 2 ──┬──┴────┴──[reg]──┴── …
    ```

    The network is not stable; where ties matter the caller makes keys distinct.

    Args:
        network: ranks of lane pairs (`models.common.sorter`).
        lanes: items of a beat, 1 to 64.
        key_bits: width of an unsigned key, bits.
        payload_bits: width of what travels with the key, bits, 0 and up.
        tag_bits: width of what travels with the whole beat, bits, 0 and up.
        ranks_per_stage: ranks between two registers, 1 and up.

    Raises `ValueError` or `TypeError` naming the parameter.

    Ports:
        i, o (stream): `tag`, and `items[lanes]` of `payload` below `key`.
    """

    def __init__(
        self,
        network: Network,
        *,
        lanes: int,
        key_bits: int,
        payload_bits: int = 0,
        tag_bits: int = 0,
        ranks_per_stage: int = 1,
    ) -> None:
        self.network = network
        self.key_bits = integer("key_bits", key_bits, 0, 256)
        self.payload_bits = integer("payload_bits", payload_bits, 0, 4096)
        self.ranks_per_stage = integer("ranks_per_stage", ranks_per_stage, 1, 64)
        item = data.StructLayout({"payload": unsigned(payload_bits), "key": unsigned(key_bits)})
        layout = data.StructLayout(
            {"tag": unsigned(tag_bits), "items": data.ArrayLayout(item, lanes)}
        )
        super().__init__({"i": In(stream.Signature(layout)), "o": Out(stream.Signature(layout))})
        self.latency = stages_of(len(network), ranks_per_stage)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        stages = Stages(m, self.i, self.o, depth=self.latency)
        tag = self.i.p.tag
        items = [item.as_value() for item in self.i.p.items]
        for number, rank in enumerate(self.network, start=1):
            for low, high in rank:
                items[low], items[high] = self._compare_and_swap(
                    m, items[low], items[high], f"rank{number}_{low}_{high}"
                )
            if number % self.ranks_per_stage == 0 or number == len(self.network):
                tag = stages.register(tag, f"tag_{number}")
                items = stages.register(items, f"item{number}")
        m.d.comb += [self.o.p.tag.eq(tag), Cat(*self.o.p.items).eq(Cat(*items))]
        return m

    def _compare_and_swap(self, m: Module, low: Value, high: Value, name: str):
        least, most = Signal(len(low), name=f"{name}_low"), Signal(len(low), name=f"{name}_high")
        key = self.payload_bits
        # The same comparison twice: a simulator sees a minimum and a maximum, synthesis one.
        m.d.comb += [
            least.eq(Mux(high[key:] < low[key:], high, low)),
            most.eq(Mux(low[key:] > high[key:], low, high)),
        ]
        return least, most
