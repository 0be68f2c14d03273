"""Stage 2 of Ofan's pipeline: count the packets that share a key (seed appendix I)."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.prefix import prefix_network
from models.ofan.config import OfanConfig
from rtl.common.sorter import stages_of
from rtl.common.stage import Stages
from rtl.ofan.sort import beat_layout, item_fields


def combined_fields(c: OfanConfig) -> dict[str, object]:
    """Fields of a packet once it is counted: also its `position` in its group, from 0, and
    whether it is the group's `master`. The master's position is the group's count less one."""
    return {**item_fields(c), "position": unsigned(c.lane_bits), "master": 1}


class Combine(wiring.Component):
    """Tells each packet of a sorted batch its position among those with the same key, and makes
    the last one of each group its master. Latency 1 + ⌈⌈log2 lanes⌉ / ranks_per_stage⌉ cycles;
    throughput one batch a cycle.

    ```
    key j = key j-1 ?──[reg]──► segmented count: Sklansky's ranks, [reg] every ranks_per_stage
    ```

    A node of the scan holds how many lanes at the end of its window belong together (`count`) and
    whether all of the window does, with the lane on its left too (`open`); it adds its left
    neighbour's count if it is open. Implements step (2) of the seed's appendix I; 80 nodes for 32
    lanes.

    Args:
        config: an `OfanConfig`.

    Ports:
        i (stream of `item_fields`): a batch sorted by key, idle lanes last.
        o (stream of `combined_fields`): the same, counted.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        self.network = prefix_network(c.lanes_per_pipe)
        self.latency = 1 + stages_of(len(self.network), c.ranks_per_stage)
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(c, item_fields(c)))),
                "o": Out(stream.Signature(beat_layout(c, combined_fields(c)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        lanes = self.config.lanes_per_pipe
        stages = Stages(m, self.i, self.o, depth=self.latency)
        items = self.i.p.items
        joined = Signal(lanes)
        for lane in range(1, lanes):
            here, left = items[lane], items[lane - 1]
            m.d.comb += joined[lane].eq(here.valid & left.valid & (here.key == left.key))

        beat = stages.register(self.i.p, "beat_0")
        master = stages.register(~(joined >> 1), "master_0")
        opened: list[Value] = list(stages.register(joined, "open_0"))
        counts: list[Value] = [Value.cast(0)] * lanes
        for number, rank in enumerate(self.network, start=1):
            before, was_open = list(counts), list(opened)
            for left, right in rank:
                # Counts leave out the lane itself, so a left neighbour adds its own and one.
                total = Signal(range(min(2**number, lanes)), name=f"count{number}_{right}")
                more = Mux(was_open[right], before[left] + 1, 0)
                m.d.comb += total.eq(before[right] + more)
                counts[right] = total
                opened[right] = was_open[left] & was_open[right]
            if number % self.config.ranks_per_stage == 0 or number == len(self.network):
                beat = stages.register(beat, f"beat_{number}")
                master = stages.register(master, f"master_{number}")
                opened = stages.register(opened, f"open{number}")
                counts = stages.register(counts, f"position{number}")
        m.d.comb += self.o.p.fence.eq(beat.fence)
        for lane in range(lanes):
            item = self.o.p.items[lane]
            m.d.comb += [
                item.valid.eq(beat.items[lane].valid),
                item.key.eq(beat.items[lane].key),
                item.lane.eq(beat.items[lane].lane),
                item.position.eq(counts[lane]),
                item.master.eq(master[lane] & beat.items[lane].valid),
            ]
        return m
