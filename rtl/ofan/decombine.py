"""Stage 4a of Ofan's pipeline: hand the fetched pointer back to every packet of its group, and
turn it into an uplink (seed appendix I)."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.prefix import prefix_network
from models.ofan.config import OfanConfig
from rtl.common.modulo import modulo
from rtl.common.select import Select
from rtl.common.stage import Stages
from rtl.ofan.order import Uplink
from rtl.ofan.sort import beat_layout
from rtl.ofan.update import base_bits, updated_fields


def answer_fields(c: OfanConfig) -> dict[str, object]:
    """Fields of an answered packet: its `lane`, its `uplink`, and whether no uplink reaches its
    destination (`unroutable`)."""
    return {
        "valid": 1,
        "lane": unsigned(c.lane_bits),
        "uplink": unsigned(c.uplink_bits),
        "unroutable": 1,
    }


class Decombine(wiring.Component):
    """Gives each packet of a group its own uplink. Latency 3 cycles; throughput one batch a cycle.

    ```
    base of the master ─► reverse Sklansky copy ─►[reg]─► (base + turn) mod ways,
                          towards lower lanes             that valid position ─►[reg]─► π ─►[reg]
    ```

    The copy is the combining tree run backwards: ⌈log2 lanes⌉ multiplexers in a row, all in one
    stage. Implements the first half of step (4) of the seed's appendix I.

    Args:
        config: an `OfanConfig`.

    Ports:
        i (stream of `updated_fields`), o (stream of `answer_fields`).
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        self.latency = 3
        super().__init__(
            {
                "i": In(stream.Signature(beat_layout(c, updated_fields(c)))),
                "o": Out(stream.Signature(beat_layout(c, answer_fields(c)))),
            }
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        c = self.config
        w = c.uplinks
        stages = Stages(m, self.i, self.o, depth=3)
        bases = [
            stages.register(base, f"base_{lane}") for lane, base in enumerate(self._copied(m))
        ]
        shared = stages.register(self.i.p, "beat_shared")
        selected = stages.register(shared, "beat_selected")
        answered = stages.register(selected, "beat_answered")
        m.d.comb += self.o.p.fence.eq(answered.fence)
        for lane in range(c.lanes_per_pipe):
            item, out = shared.items[lane], self.o.p.items[lane]
            if c.masks:
                m.submodules[f"select_{lane}"] = select = Select(w)
                total = bases[lane] + item.turn
                m.d.comb += [
                    select.mask.eq(item.mask),
                    select.index.eq(
                        modulo(m, total, item.ways, bound=2 * w, least=1, once=True, name=f"x{lane}")
                    ),
                ]
                position: Value = select.position
                unroutable = item.valid & (item.ways == 0)
            else:
                total = bases[lane] + item.turn
                position = modulo(m, total, w, bound=2 * w, least=w, name=f"x{lane}")
                unroutable = Signal(name=f"routable_{lane}")
            m.submodules[f"uplink_{lane}"] = uplink = Uplink(c)
            stuck = stages.register(
                stages.register(unroutable, f"stuck_selected_{lane}"), f"stuck_answered_{lane}"
            )
            m.d.comb += [
                uplink.key.eq(selected.items[lane].key),
                uplink.position.eq(stages.register(position, f"position_{lane}")),
                out.valid.eq(answered.items[lane].valid),
                out.lane.eq(answered.items[lane].lane),
                out.uplink.eq(stages.register(uplink.uplink, f"uplink_{lane}")),
                out.unroutable.eq(stuck),
            ]
        return m

    def _copied(self, m: Module) -> list[Value]:
        """Return every lane's base: that of the nearest master at or above the lane."""
        lanes = self.config.lanes_per_pipe
        bases: list[Value] = [item.base for item in self.i.p.items]
        found: list[Value] = [item.master for item in self.i.p.items]
        for number, rank in enumerate(prefix_network(lanes), start=1):
            for left, right in rank:
                source, lane = lanes - 1 - left, lanes - 1 - right
                copy = Signal(base_bits(self.config), name=f"copy{number}_{lane}")
                m.d.comb += copy.eq(Mux(found[lane], bases[lane], bases[source]))
                bases[lane] = copy
                found[lane] = found[lane] | found[source]
        return bases
