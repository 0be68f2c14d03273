"""Which uplinks reach a packet's destination, in the order of its pointer (seed section 4.1,
Failures)."""

from __future__ import annotations

from amaranth.hdl import Module, Mux, Signal, unsigned
from amaranth.lib import data, memory, stream, wiring
from amaranth.lib.wiring import In, Out

from models.common.check import bits_for
from models.ofan.config import OfanConfig
from rtl.common.modulo import modulo
from rtl.common.select import counts
from rtl.common.stage import Stages
from rtl.ofan.combine import combined_fields
from rtl.ofan.order import Positions
from rtl.ofan.sort import beat_layout


def turn_bits(c: OfanConfig) -> int:
    """Width of a packet's turn among the valid positions, bits."""
    return min(c.lane_bits, c.uplink_bits)


def masked_fields(c: OfanConfig) -> dict[str, object]:
    """Fields of a packet that knows its uplinks: `turn` replaces the position in the group (it is
    that position modulo the number of valid uplinks), `ways` counts those, and `mask` has bit i set
    if the uplink at position i of the pointer's order is one (no meaning where all are). Without
    failure logic (`masks=0`) there is no `mask` and no `ways`."""
    fields = combined_fields(c)
    del fields["position"]
    fields["turn"] = unsigned(turn_bits(c))
    if c.masks:
        fields |= {"mask": unsigned(c.uplinks), "ways": unsigned(bits_for(c.uplinks + 1))}
    return fields


def write_layout(c: OfanConfig) -> data.StructLayout:
    """A change of the mask tables, from bit 0 up: `value`, `address`, `select`.

    select 0: destination `address` uses the shared mask number `value`. select 1: the shared mask
    `address` becomes the uplink set `value`, bit u for uplink u.
    """
    return data.StructLayout(
        {
            "value": unsigned(max(c.uplinks, c.mask_bits)),
            "address": unsigned(max(c.destination_bits, c.mask_bits, 1)),
            "select": 1,
        }
    )


class Masks(wiring.Component):
    """Gives each packet the set of positions its pointer may stop at. Latency 4 cycles (1 without
    failure logic, 0 if then no group is longer than w); throughput one batch a cycle.

    ```
    key ─►destination─►[index table]─►[shared masks]─►Positions (π backwards)─►[reg]─►[reg]─► mask
          N_d × ⌈log2 masks⌉ bits      masks × w bits  and a count of ones      turn = position
                                                                                 mod ways
    ```

    A few shared masks and an index a destination stand in for a mask a destination: failures make
    few different sets, and a table of N_d × w bits that all lanes read at once would cost w /
    ⌈log2 masks⌉ times as much. One change is written while the beat with `fence` that announces it
    goes by, so batches before the fence see the old sets and batches behind it the new ones; the
    beat behind a fence waits one cycle.
    After a reset all uplinks are valid; the tables are swept, max(N_d, masks) cycles without ready.

    Args:
        config: an `OfanConfig`.

    Ports:
        i (stream of `combined_fields`), o (stream of `masked_fields`).
        write (stream of `write_layout`, with `masks` > 0): taken when its fence arrives; it must be
        valid from then on. Exactly one fence on `i` belongs to each write.
    """

    def __init__(self, config: OfanConfig) -> None:
        c = self.config = config
        self.latency = 4 if c.masks else int(c.lanes_per_pipe > c.uplinks)
        ports = {
            "i": In(stream.Signature(beat_layout(c, combined_fields(c)))),
            "o": Out(stream.Signature(beat_layout(c, masked_fields(c)))),
        }
        if c.masks:
            ports["write"] = In(stream.Signature(write_layout(c)))
        super().__init__(ports)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        if self.config.masks:
            self._with_masks(m)
        else:
            self._without_masks(m)
        return m

    def _without_masks(self, m: Module) -> None:
        c = self.config
        stages = Stages(m, self.i, self.o, depth=self.latency)
        beat = self.i.p
        if self.latency:
            beat = stages.register(beat, "beat")
        self._pass_on(m, beat)
        for item, counted in zip(self.o.p.items, beat.items, strict=True):
            bound = c.lanes_per_pipe
            turn = modulo(m, counted.position, c.uplinks, bound=bound, least=c.uplinks)
            m.d.comb += item.turn.eq(turn)

    def _with_masks(self, m: Module) -> None:
        c = self.config
        lanes = c.lanes_per_pipe
        swept = max(c.destinations, c.masks)
        sweep = Signal(range(swept + 1))
        running = Signal()
        m.d.comb += running.eq(sweep == swept)
        with m.If(~running):
            m.d.sync += sweep.eq(sweep + 1)
        fence = Signal()
        stages = Stages(m, self.i, self.o, depth=4, enabled=running & ~fence)

        m.submodules.index = index = memory.Memory(
            shape=unsigned(max(1, c.mask_bits)), depth=max(2, c.destinations), init=[]
        )
        m.submodules.sets = sets = memory.Memory(
            shape=unsigned(c.uplinks), depth=max(2, c.masks), init=[]
        )
        beat = stages.register(self.i.p, "beat_index")
        change = self.write.p
        changing = Signal()
        m.d.comb += [
            # The batch behind a fence waits one cycle, so that it reads the index as written.
            fence.eq(stages.valid[0] & beat.fence),
            changing.eq(fence & stages.advance),
            self.write.ready.eq(changing),
        ]
        index_write, set_write = index.write_port(), sets.write_port()
        with m.If(running):
            m.d.comb += [
                index_write.addr.eq(change.address),
                index_write.data.eq(change.value),
                index_write.en.eq(changing & ~change.select),
                set_write.addr.eq(change.address),
                set_write.data.eq(change.value),
                set_write.en.eq(changing & change.select),
            ]
        with m.Else():
            m.d.comb += [
                index_write.addr.eq(sweep),
                index_write.en.eq(sweep < c.destinations),
                set_write.addr.eq(sweep),
                set_write.data.eq(-1),
                set_write.en.eq(sweep < c.masks),
            ]

        beat_set = stages.register(beat, "beat_set")
        beat_positions = stages.register(beat_set, "beat_positions")
        beat_turn = stages.register(beat_positions, "beat_turn")
        self._pass_on(m, beat_turn)
        for lane in range(lanes):
            index_read, set_read = index.read_port(), sets.read_port()
            key = self.i.p.items[lane].key
            destination = modulo(
                m,
                key,
                c.destinations,
                bound=c.keys,
                least=c.destinations,
                name=f"destination{lane}",
            )
            m.submodules[f"positions{lane}"] = positions = Positions(c)
            m.d.comb += [
                index_read.en.eq(stages.advance),
                index_read.addr.eq(destination),
                set_read.en.eq(stages.advance),
                set_read.addr.eq(index_read.data),
                positions.key.eq(beat_set.items[lane].key),
                positions.uplinks.eq(set_read.data),
            ]
            some_down = Signal(name=f"some_down{lane}")
            m.d.comb += some_down.eq(~set_read.data.all())
            levels = counts(m, set_read.data, some_down, f"counts{lane}")
            ways = Signal(range(c.uplinks + 1), name=f"ways{lane}")
            m.d.comb += ways.eq(Mux(some_down, levels[-1], c.uplinks))
            ways_positions = stages.register(ways, f"ways_positions{lane}")
            mask_positions = stages.register(
                positions.positions, f"mask_positions{lane}", enable=some_down
            )
            position = beat_positions.items[lane].position
            turn = modulo(m, position, ways_positions, bound=lanes, least=1, name=f"turn{lane}")
            if lanes <= c.uplinks:  # then no position is as large as the number of uplinks
                fewer = Signal(name=f"some_down_turn{lane}")
                m.d.comb += fewer.eq(ways_positions != c.uplinks)
                turn = Mux(fewer, turn, position)
            item = self.o.p.items[lane]
            m.d.comb += [
                item.mask.eq(stages.register(mask_positions, f"mask_turn{lane}")),
                item.ways.eq(stages.register(ways_positions, f"ways_turn{lane}")),
                item.turn.eq(stages.register(turn, f"turn_{lane}")),
            ]

    def _pass_on(self, m: Module, beat) -> None:
        m.d.comb += self.o.p.fence.eq(beat.fence)
        for item, counted in zip(self.o.p.items, beat.items, strict=True):
            m.d.comb += [
                item.valid.eq(counted.valid),
                item.key.eq(counted.key),
                item.lane.eq(counted.lane),
                item.master.eq(counted.master),
            ]
