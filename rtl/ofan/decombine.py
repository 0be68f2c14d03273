"""Stage 4a of Ofan's pipeline: hand the fetched pointer back to every packet of its group, and
turn it into an uplink (seed appendix I)."""

from __future__ import annotations

from amaranth.hdl import Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.common.prefix import prefix_network
from models.ofan.config import OfanConfig
from rtl.common.modulo import modulo
from rtl.common.select import counts, select
from rtl.common.stage import Stages
from rtl.ofan.masks import turn_bits
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


class Pick(wiring.Component):
    """The position that one packet of a group takes: number (base + turn) mod ways of the valid
    ones. Combinational.

    Args:
        config: an `OfanConfig`.

    Ports:
        base (in, its group's), turn (in), mask and ways (in, with failure logic),
        position (out, 0 to w - 1; without meaning where ways is 0).
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        ports = {
            "base": In(unsigned(base_bits(c))),
            "turn": In(unsigned(turn_bits(c))),
            "position": Out(unsigned(c.uplink_bits)),
        }
        if c.masks:
            ports |= {"mask": In(c.uplinks), "ways": In(unsigned(bits_for(c.uplinks + 1)))}
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        w, masked = self.config.uplinks, bool(self.config.masks)
        modulus, least = (self.ways, 1) if masked else (w, w)
        total = self.base + self.turn
        index = modulo(m, total, modulus, bound=2 * w, least=least, once=True)
        if masked:
            some_down = Signal()
            m.d.comb += some_down.eq(self.ways != w)
            levels = counts(m, self.mask, some_down)
            index = Mux(some_down, select(m, levels, index[: bits_for(w)]), index)
        m.d.comb += self.position.eq(index)
        return m


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
        stages = Stages(m, self.i, self.o, depth=3)
        bases = stages.register(self._copied(m), "base")
        shared = stages.register(self.i.p, "beat_shared")
        selected = stages.register(shared, "beat_selected")
        answered = stages.register(selected, "beat_answered")
        m.d.comb += self.o.p.fence.eq(answered.fence)
        for lane in range(c.lanes_per_pipe):
            item, out = shared.items[lane], self.o.p.items[lane]
            m.submodules[f"pick_{lane}"] = pick = Pick(c)
            unroutable: Value = Const(0)
            m.d.comb += [pick.base.eq(bases[lane]), pick.turn.eq(item.turn)]
            if c.masks:
                m.d.comb += [pick.mask.eq(item.mask), pick.ways.eq(item.ways)]
                unroutable = item.valid & (item.ways == 0)
            m.submodules[f"uplink_{lane}"] = uplink = Uplink(c)
            stuck = stages.register(
                stages.register(unroutable, f"stuck_selected_{lane}"), f"stuck_answered_{lane}"
            )
            m.d.comb += [
                uplink.key.eq(selected.items[lane].key),
                uplink.position.eq(stages.register(pick.position, f"position_{lane}")),
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
